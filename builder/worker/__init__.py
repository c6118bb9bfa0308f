"""The running service: the loop over deliveries, and the jobs beside it."""
