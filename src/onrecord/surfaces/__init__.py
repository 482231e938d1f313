"""Thin outer faces: parse the request, call the application, print the reply."""
