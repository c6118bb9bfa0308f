-- Who asked under a request id, and which session a tool's answer of no session joins by it: that of whoever asked last before.
CREATE TABLE calls (
    workspace   TEXT    NOT NULL,
    call        TEXT    NOT NULL,
    incarnation INTEGER NOT NULL,
    sequence    INTEGER NOT NULL,
    session     TEXT    NOT NULL,
    asks        INTEGER NOT NULL,
    joins       TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, call, incarnation, sequence, session)
) STRICT, WITHOUT ROWID;

INSERT INTO calls (workspace, call, incarnation, sequence, session, asks)
SELECT DISTINCT workspace, call.value, incarnation, sequence, session, asked <> '[]'
FROM breadcrumbs, json_each(breadcrumbs.calls) AS call
WHERE (asked <> '[]') = (session <> '_') AND (session <> '_' OR call.key = 0);

UPDATE calls SET joins = coalesce((
    SELECT caller.session FROM calls AS caller
    WHERE caller.workspace = calls.workspace AND caller.call = calls.call AND caller.asks
      AND (caller.incarnation, caller.sequence) < (calls.incarnation, calls.sequence)
    ORDER BY caller.incarnation DESC, caller.sequence DESC LIMIT 1
), '')
WHERE NOT asks;

CREATE INDEX calls_joins ON calls (workspace, joins, incarnation, sequence) WHERE joins <> '';
