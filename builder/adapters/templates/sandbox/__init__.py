"""The sandbox of templates: environment, filters, and limits counted while it runs."""
