-- Breadcrumbs that no engine has seen yet, oldest place first.
CREATE TABLE lacking (
    incarnation INTEGER NOT NULL,
    sequence    INTEGER NOT NULL,
    workspace   TEXT    NOT NULL,
    session     TEXT    NOT NULL,
    PRIMARY KEY (incarnation, sequence, workspace, session)
) STRICT, WITHOUT ROWID;

-- How often vectors of a session were filled in later: what somebody read before is no longer what stands here.
CREATE TABLE revisions (
    workspace TEXT    NOT NULL,
    session   TEXT    NOT NULL,
    number    INTEGER NOT NULL,
    PRIMARY KEY (workspace, session)
) STRICT, WITHOUT ROWID;
