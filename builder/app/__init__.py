"""The only wiring: the rest of the tree is passed what it needs; only this package knows who provides it."""
