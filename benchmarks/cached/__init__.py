"""Cached reads under load, compared with peers."""
