"""The HTTP door: it translates requests to the verbs that NATS has, too, and contexts to server-sent events."""
