"""NATS as client and service share it: a connection, and a pull consumer without pauses."""
