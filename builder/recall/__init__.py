"""The second verb: everything in scope as of a place."""
