"""The bodies of known schemas, one file a family of events."""
