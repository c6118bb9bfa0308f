"""What people asked for once and for all."""
