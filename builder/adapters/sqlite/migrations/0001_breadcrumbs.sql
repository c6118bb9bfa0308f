-- Places are (incarnation, sequence): the only order. Rows of a session lie together, so one range scan reads them.

CREATE TABLE models (
    number INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE breadcrumbs (
    workspace   TEXT    NOT NULL,
    session     TEXT    NOT NULL,
    incarnation INTEGER NOT NULL,
    sequence    INTEGER NOT NULL,
    id          TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    schema      TEXT    NOT NULL,
    speaker     TEXT    NOT NULL,
    role        TEXT    NOT NULL,
    created_us  INTEGER NOT NULL,
    received_us INTEGER NOT NULL,
    tags        TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    text        TEXT    NOT NULL,
    calls       TEXT    NOT NULL,
    removes     TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    PRIMARY KEY (workspace, session, incarnation, sequence)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX breadcrumbs_identity ON breadcrumbs (workspace, id, version);
CREATE INDEX breadcrumbs_latest ON breadcrumbs (workspace, schema, session, incarnation, sequence);
CREATE INDEX breadcrumbs_tombstones ON breadcrumbs (workspace, removes, incarnation, sequence) WHERE removes <> '';

CREATE TABLE passages (
    workspace   TEXT    NOT NULL,
    session     TEXT    NOT NULL,
    incarnation INTEGER NOT NULL,
    sequence    INTEGER NOT NULL,
    ordinal     INTEGER NOT NULL,
    start       INTEGER NOT NULL,
    stop        INTEGER NOT NULL,
    terms       TEXT    NOT NULL,
    tokens      INTEGER NOT NULL,
    traits      INTEGER NOT NULL,
    vector      BLOB    NOT NULL,
    model       INTEGER NOT NULL REFERENCES models (number),
    PRIMARY KEY (workspace, session, incarnation, sequence, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE watermarks (
    workspace   TEXT    NOT NULL,
    session     TEXT    NOT NULL,
    incarnation INTEGER NOT NULL,
    sequence    INTEGER NOT NULL,
    PRIMARY KEY (workspace, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
    incarnation INTEGER NOT NULL,
    sequence    INTEGER NOT NULL,
    count       INTEGER NOT NULL,
    PRIMARY KEY (incarnation, sequence)
) STRICT, WITHOUT ROWID;
