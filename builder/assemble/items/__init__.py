"""Parts of a page: fragments in items, their labels, their forms."""
