"""Statements of the stores that are databases: written once, for SQLite and PostgreSQL."""
