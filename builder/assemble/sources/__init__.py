"""What may stand on the page, one file a source."""
