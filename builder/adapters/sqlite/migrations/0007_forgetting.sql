-- What is left of a forgotten breadcrumb names by whose end it went; tombstones of no session reach every session; and the
-- subjects on which a stub is still owed for a context that was taken away.

ALTER TABLE breadcrumbs ADD COLUMN erased TEXT NOT NULL DEFAULT '';

CREATE INDEX breadcrumbs_erased ON breadcrumbs (workspace, erased) WHERE erased <> '';
CREATE INDEX breadcrumbs_removals ON breadcrumbs (workspace, session, incarnation, sequence) WHERE removes <> '';

CREATE TABLE stubs (
    subject TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
