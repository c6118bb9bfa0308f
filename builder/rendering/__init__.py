"""Jinja2, and only here: the sandbox, the loader, the filters, and the cache of rendered fragments."""
