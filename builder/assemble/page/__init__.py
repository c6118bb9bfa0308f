"""How a page is laid out."""
