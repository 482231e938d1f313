"""The vault on disk: journal, ledger, versions and the user's files."""
