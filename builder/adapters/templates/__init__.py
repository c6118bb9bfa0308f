"""The only package that uses Jinja2: templates, and caches of rendered fragments."""
