"""Which version of an id came first; and what leaves the store gives its identity free."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the index and the trigger."""
    op.execute("CREATE INDEX breadcrumbs_firsts ON breadcrumbs (workspace, id, incarnation, sequence)")
    op.execute(
        """
        CREATE FUNCTION remove_identity() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            EXECUTE format('DELETE FROM %I.identities WHERE (workspace, id, version) = ($1, $2, $3)', TG_TABLE_SCHEMA)
                USING OLD.workspace, OLD.id, OLD.version;
            RETURN NULL;
        END $$
        """
    )
    op.execute("CREATE TRIGGER no_identity AFTER DELETE ON breadcrumbs FOR EACH ROW EXECUTE FUNCTION remove_identity()")
