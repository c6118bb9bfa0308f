"""Imports stand at the time at which they were said; those of before keep the order in which they came."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column."""
    op.execute("ALTER TABLE breadcrumbs ADD COLUMN replay smallint NOT NULL DEFAULT 0")
