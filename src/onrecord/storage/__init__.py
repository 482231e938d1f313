"""Drivers: the only rooms where a file or a database is touched."""
