"""What a template may do: its environment, its filters, and the limits that are counted while it runs."""
