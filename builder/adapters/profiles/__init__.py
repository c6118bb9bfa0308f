"""Profiles as files: what they extend, what they may say, and how they are shown."""
