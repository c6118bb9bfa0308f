"""NATS as client and service share it: a connection, a pull consumer without pauses, names on the broker, errors as answers."""
