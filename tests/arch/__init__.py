"""Rules of the house that a tool can check."""
