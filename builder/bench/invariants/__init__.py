"""Random sessions whose pages are read by brute force."""
