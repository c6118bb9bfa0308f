"""Chat messages of any vendor as bodies of breadcrumbs, for clients and files."""
