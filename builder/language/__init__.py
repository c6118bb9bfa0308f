"""What words alone tell. The words themselves are data, a file for each language: `data/*.toml`."""
