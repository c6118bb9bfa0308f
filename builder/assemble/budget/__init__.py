"""Who gets how many tokens."""
