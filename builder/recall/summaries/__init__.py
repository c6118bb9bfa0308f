"""What a summary stands for, and what it may copy."""
