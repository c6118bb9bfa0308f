"""Jinja2, and only here: the folder of templates, the loader, and the cache of rendered fragments."""
