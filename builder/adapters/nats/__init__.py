"""The bus: an embedded server, streams and durables, the FastStream subscription, publishing, and the watchdog."""
