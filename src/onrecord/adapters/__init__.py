"""Other outside worlds behind ports: clock, randomness, keys."""
