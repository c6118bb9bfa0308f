"""A scope in memory: its history, and the view of it as of a place."""
