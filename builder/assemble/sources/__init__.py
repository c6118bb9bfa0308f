"""The sources of a page, one file each."""
