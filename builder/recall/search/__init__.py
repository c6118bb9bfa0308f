"""The query, and the passages that answer it."""
