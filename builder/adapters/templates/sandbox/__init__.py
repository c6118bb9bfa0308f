"""What a template may do: environment, filters, and limits counted while it runs."""
