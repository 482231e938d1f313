"""The command line, generated from the catalog of operations."""
