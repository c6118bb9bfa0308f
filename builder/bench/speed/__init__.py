"""How fast it is made."""
