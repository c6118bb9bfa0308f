"""How good a page is."""
