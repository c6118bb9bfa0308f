"""Memories of other frameworks on the client without `await`: each module translates, every rule is the service's."""
