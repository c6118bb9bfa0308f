"""Make text, values and results shorter."""
