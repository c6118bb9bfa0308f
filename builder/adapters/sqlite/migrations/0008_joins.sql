-- Where a session first asked under a request id, and what tools answered in no session, with the session that each joins by it:
-- the only one that had asked by then. Neither list forgets: else what somebody else asked could be answered by it later.
CREATE TABLE calls (
    workspace   TEXT    NOT NULL,
    call        TEXT    NOT NULL,
    session     TEXT    NOT NULL,
    incarnation INTEGER NOT NULL,
    sequence    INTEGER NOT NULL,
    PRIMARY KEY (workspace, call, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE answers (
    workspace   TEXT    NOT NULL,
    incarnation INTEGER NOT NULL,
    sequence    INTEGER NOT NULL,
    id          TEXT    NOT NULL,
    call        TEXT    NOT NULL,
    joins       TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, incarnation, sequence)
) STRICT, WITHOUT ROWID;

CREATE INDEX answers_identity ON answers (workspace, id, incarnation, sequence);
CREATE INDEX answers_call ON answers (workspace, call, incarnation, sequence);
CREATE INDEX answers_joins ON answers (workspace, joins, incarnation, sequence) WHERE joins <> '';

INSERT INTO calls
SELECT workspace, call.value, session, incarnation, sequence FROM breadcrumbs, json_each(breadcrumbs.calls) AS call
WHERE asked <> '[]' AND session <> '_'
ORDER BY incarnation, sequence
ON CONFLICT DO NOTHING;

INSERT INTO answers (workspace, incarnation, sequence, id, call)
SELECT workspace, incarnation, sequence, id, CASE WHEN asked = '[]' THEN coalesce(calls ->> 0, '') ELSE '' END FROM breadcrumbs
WHERE session = '_' AND (version > 1 OR (asked = '[]' AND calls <> '[]'));

WITH askers AS (
    SELECT *, row_number() OVER (PARTITION BY workspace, call ORDER BY incarnation, sequence) AS number FROM calls
),
firsts AS (
    SELECT *, row_number() OVER (PARTITION BY workspace, id ORDER BY incarnation, sequence) AS number FROM answers WHERE call <> ''
),
sole AS (
    SELECT firsts.workspace, firsts.id, firsts.incarnation, firsts.sequence, one.session
    FROM firsts JOIN askers AS one ON one.workspace = firsts.workspace AND one.call = firsts.call AND one.number = 1
      AND (one.incarnation, one.sequence) < (firsts.incarnation, firsts.sequence)
    LEFT JOIN askers AS two ON two.workspace = firsts.workspace AND two.call = firsts.call AND two.number = 2
    WHERE firsts.number = 1
      AND (two.call IS NULL OR (two.incarnation, two.sequence) > (firsts.incarnation, firsts.sequence))
)
UPDATE answers SET joins = sole.session FROM sole
WHERE sole.workspace = answers.workspace AND sole.id = answers.id
  AND (sole.incarnation, sole.sequence) <= (answers.incarnation, answers.sequence);
