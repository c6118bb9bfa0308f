"""The fourth verb: context → event."""
