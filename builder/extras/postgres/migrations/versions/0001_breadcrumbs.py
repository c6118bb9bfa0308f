"""All tables. Breadcrumbs and passages are partitioned by session; a transaction sees rows of its workspace alone."""

from alembic import op

revision = "0001"
down_revision = None

PARTITIONS = 16
KEY = """
    workspace   text COLLATE "C" NOT NULL,
    session     text COLLATE "C" NOT NULL,
    incarnation bigint NOT NULL,
    sequence    bigint NOT NULL
"""
TABLES = f"""
CREATE TABLE models (
    number integer PRIMARY KEY,
    name   text NOT NULL UNIQUE
);

CREATE TABLE breadcrumbs ({KEY},
    id             text COLLATE "C" NOT NULL,
    version        bigint NOT NULL,
    schema         text COLLATE "C" NOT NULL,
    speaker        text NOT NULL,
    role           text NOT NULL,
    created_us     bigint NOT NULL,
    received_us    bigint NOT NULL,
    tags           text NOT NULL,
    body           text NOT NULL,
    text           text NOT NULL,
    calls          text NOT NULL,
    removes        text COLLATE "C" NOT NULL,
    fingerprint    bytea NOT NULL,
    answers        text COLLATE "C" NOT NULL,
    pointers       text NOT NULL,
    expires_us     bigint,
    task           text NOT NULL,
    tool           text NOT NULL,
    failed         smallint NOT NULL,
    asked          text NOT NULL,
    covers         text NOT NULL,
    utc_offset     integer,
    user_id        text COLLATE "C" NOT NULL,
    private        smallint NOT NULL,
    hints          text NOT NULL,
    creator        text NOT NULL,
    agent          text NOT NULL,
    recipients     text NOT NULL,
    facts_revision smallint NOT NULL,
    erased         text NOT NULL,
    PRIMARY KEY (workspace, session, incarnation, sequence)
) PARTITION BY HASH (session);

CREATE INDEX breadcrumbs_identity ON breadcrumbs (workspace, id, version);
CREATE INDEX breadcrumbs_latest ON breadcrumbs (workspace, schema, session, incarnation, sequence);
CREATE INDEX breadcrumbs_places ON breadcrumbs (workspace, incarnation, sequence);
CREATE INDEX breadcrumbs_tombstones ON breadcrumbs (workspace, removes, incarnation, sequence) WHERE removes <> '';
CREATE INDEX breadcrumbs_removals ON breadcrumbs (workspace, session, incarnation, sequence) WHERE removes <> '';
CREATE INDEX breadcrumbs_expiry ON breadcrumbs (expires_us) WHERE expires_us IS NOT NULL;
CREATE INDEX breadcrumbs_erased ON breadcrumbs (workspace, erased) WHERE erased <> '';
CREATE INDEX breadcrumbs_people ON breadcrumbs (workspace, user_id, session, incarnation, sequence) WHERE user_id <> '';
CREATE INDEX breadcrumbs_outdated ON breadcrumbs (workspace) WHERE facts_revision < 2;

-- A unique index of a partitioned table has its partition's column, and versions of an id may be of different sessions.
CREATE TABLE identities (
    workspace text COLLATE "C" NOT NULL,
    id        text COLLATE "C" NOT NULL,
    version   bigint NOT NULL,
    PRIMARY KEY (workspace, id, version)
) PARTITION BY HASH (id);

CREATE FUNCTION add_identity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO identities VALUES (NEW.workspace, NEW.id, NEW.version);
    RETURN NULL;
END $$;
CREATE TRIGGER identity AFTER INSERT ON breadcrumbs FOR EACH ROW EXECUTE FUNCTION add_identity();

CREATE TABLE passages ({KEY},
    ordinal integer NOT NULL,
    start   integer NOT NULL,
    stop    integer NOT NULL,
    terms   text NOT NULL,
    tokens  bigint NOT NULL,
    traits  bigint NOT NULL,
    vector  halfvec,
    model   integer NOT NULL REFERENCES models (number),
    PRIMARY KEY (workspace, session, incarnation, sequence, ordinal)
) PARTITION BY HASH (session);

CREATE TABLE tags ({KEY}, tag text COLLATE "C" NOT NULL, PRIMARY KEY (workspace, tag, session, incarnation, sequence));
CREATE TABLE lacking ({KEY}, PRIMARY KEY (incarnation, sequence, workspace, session));
CREATE TABLE watermarks ({KEY}, PRIMARY KEY (workspace, session));
CREATE TABLE revisions (
    workspace text COLLATE "C" NOT NULL,
    session   text COLLATE "C" NOT NULL,
    number    bigint NOT NULL,
    PRIMARY KEY (workspace, session)
);
CREATE TABLE attempts (
    incarnation bigint NOT NULL,
    sequence    bigint NOT NULL,
    count       integer NOT NULL,
    PRIMARY KEY (incarnation, sequence)
);

-- Where a session first asked under a request id, and what tools answered in no session, with the session that each joins by it.
CREATE TABLE calls (
    workspace   text COLLATE "C" NOT NULL,
    call        text COLLATE "C" NOT NULL,
    session     text COLLATE "C" NOT NULL,
    incarnation bigint NOT NULL,
    sequence    bigint NOT NULL,
    PRIMARY KEY (workspace, call, session)
);
CREATE TABLE answers (
    workspace   text COLLATE "C" NOT NULL,
    incarnation bigint NOT NULL,
    sequence    bigint NOT NULL,
    id          text COLLATE "C" NOT NULL,
    call        text COLLATE "C" NOT NULL,
    joins       text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, incarnation, sequence)
);
CREATE INDEX answers_identity ON answers (workspace, id, incarnation, sequence);
CREATE INDEX answers_call ON answers (workspace, call, incarnation, sequence);
CREATE INDEX answers_joins ON answers (workspace, joins, incarnation, sequence) WHERE joins <> '';

CREATE TABLE stubs (subject text COLLATE "C" PRIMARY KEY);
CREATE TABLE edition_texts (hash text PRIMARY KEY, text text NOT NULL);
CREATE TABLE editions (
    id        text PRIMARY KEY,
    number    bigint NOT NULL,
    templates text NOT NULL,
    profiles  text NOT NULL,
    layers    text NOT NULL
);

-- What the statements that SQLite runs, too, know by these names. STRICT: else the planner takes a list for a hundred rows.
CREATE FUNCTION json_each(list text) RETURNS TABLE (value jsonb) LANGUAGE sql IMMUTABLE STRICT ROWS 8
    AS 'SELECT jsonb_array_elements($1::jsonb)';
CREATE FUNCTION octet_length(vector halfvec) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 2 * vector_dims($1)';
"""
OF_WORKSPACES = ("breadcrumbs", "identities", "passages", "tags", "lacking", "watermarks", "revisions", "calls", "answers")


def upgrade() -> None:
    """Make the tables in the first schema of the search path."""
    op.get_bind().exec_driver_sql(TABLES)
    for table in ("breadcrumbs", "identities", "passages"):
        for number in range(PARTITIONS):
            bounds = f"MODULUS {PARTITIONS}, REMAINDER {number}"
            op.execute(f"CREATE TABLE {table}_{number} PARTITION OF {table} FOR VALUES WITH ({bounds})")
    for table in OF_WORKSPACES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY workspace ON {table} USING (workspace = current_setting('context_builder.workspace', true) "
            "OR current_setting('context_builder.workspace', true) = '*')"
        )
