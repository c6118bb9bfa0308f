"""The page `frameworks.md`: what a model reads without us and with us, recorded from the frameworks' own requests."""
