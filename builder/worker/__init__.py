"""What runs: the loop over deliveries, and what works beside it."""
