"""What a service can do without: each folder knows the house, the house knows none of them."""
