"""Protocols between the application and its drivers, and the values they exchange; nothing here runs."""
