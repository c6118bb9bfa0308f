"""Alembic's entry: runs the versions on the connection that it is given, in one transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], version_table="migrations")
with context.begin_transaction():
    context.run_migrations()
