"""What is in memory of a scope: the history, and the view of it as of a place."""
