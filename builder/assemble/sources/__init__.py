"""What may be on the page, one file a source."""
