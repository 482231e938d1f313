"""The derived index in one SQLite file. The only room that speaks SQL."""
