"""What may stand on a page: fragments in items, their labels, their forms."""
