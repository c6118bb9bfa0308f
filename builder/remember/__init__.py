"""The first verb: what a breadcrumb tells by itself."""
