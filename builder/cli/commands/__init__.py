"""The commands and their options; what they do is imported when they run."""
