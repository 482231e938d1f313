"""Tests: each name is the rule it keeps."""
