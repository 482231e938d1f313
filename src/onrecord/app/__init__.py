"""One module for each thing a user does, and the catalog that names every operation once."""
