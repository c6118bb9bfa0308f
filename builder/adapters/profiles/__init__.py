"""Profiles as files: read, merged, checked, shown."""
