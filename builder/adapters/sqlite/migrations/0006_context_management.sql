-- When a breadcrumb ends, whose task it is, what a tool was asked, what a summary covers; and its tags, to find standing ones by.

ALTER TABLE breadcrumbs ADD COLUMN expires_us INTEGER;
ALTER TABLE breadcrumbs ADD COLUMN task TEXT NOT NULL DEFAULT '';
ALTER TABLE breadcrumbs ADD COLUMN tool TEXT NOT NULL DEFAULT '';
ALTER TABLE breadcrumbs ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE breadcrumbs ADD COLUMN asked TEXT NOT NULL DEFAULT '[]';
ALTER TABLE breadcrumbs ADD COLUMN covers TEXT NOT NULL DEFAULT '[]';

CREATE INDEX breadcrumbs_expiry ON breadcrumbs (expires_us) WHERE expires_us IS NOT NULL;

CREATE TABLE tags (
    workspace   TEXT    NOT NULL,
    tag         TEXT    NOT NULL,
    session     TEXT    NOT NULL,
    incarnation INTEGER NOT NULL,
    sequence    INTEGER NOT NULL,
    PRIMARY KEY (workspace, tag, session, incarnation, sequence)
) STRICT, WITHOUT ROWID;

INSERT INTO tags
SELECT DISTINCT workspace, tag.value, session, incarnation, sequence FROM breadcrumbs, json_each(breadcrumbs.tags) AS tag;
