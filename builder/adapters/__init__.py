"""The outside world, one folder or file a part. Adapters speak ports and domain; they do not know each other."""
