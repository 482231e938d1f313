"""Measurements of OnRecord beside its peers and beside the bare parts it is made of: `python -m bench.NAME`."""
