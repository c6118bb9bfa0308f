"""Alembic's folder: env.py runs versions/."""
