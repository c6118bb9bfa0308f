"""The nouns: frozen values and the error tree. Standard library only."""
