"""What an operator does with a store and a stream, beside the running service."""
