"""The first verb: bytes → stored breadcrumb."""
