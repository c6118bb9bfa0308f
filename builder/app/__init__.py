"""The only package that knows which adapter serves which port."""
