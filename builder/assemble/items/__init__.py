"""What may be on a page: fragments in items, their labels, their forms."""
