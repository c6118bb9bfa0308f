"""Records that make consumers: what they say, as settings of a profile."""
