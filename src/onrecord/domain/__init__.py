"""What is true of memories whatever stores or shows them: no I/O, no clock, no randomness."""
