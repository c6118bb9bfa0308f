"""PostgreSQL samples columns that it analyzes: of those with words it takes none, for they would outlive what is erased."""

from alembic import op

revision = "0004"
down_revision = "0003"

WORDS = (
    "speaker",
    "tags",
    "body",
    "text",
    "calls",
    "pointers",
    "task",
    "tool",
    "asked",
    "covers",
    "hints",
    "creator",
    "agent",
    "recipients",
)


def upgrade() -> None:
    """Take no samples, and drop those that are there: a new type does that, also where it is the old one."""
    for name in WORDS:
        op.execute(f"ALTER TABLE breadcrumbs ALTER COLUMN {name} SET STATISTICS 0, ALTER COLUMN {name} TYPE text")
    op.execute("ALTER TABLE passages ALTER COLUMN terms SET STATISTICS 0, ALTER COLUMN terms TYPE text")
    op.execute("ALTER TABLE passages ALTER COLUMN vector SET STATISTICS 0, ALTER COLUMN vector TYPE halfvec")
    op.execute('ALTER TABLE breadcrumbs ALTER COLUMN user_id SET STATISTICS 0, ALTER COLUMN user_id TYPE text COLLATE "C"')
    op.execute('ALTER TABLE tags ALTER COLUMN tag SET STATISTICS 0, ALTER COLUMN tag TYPE text COLLATE "C"')
