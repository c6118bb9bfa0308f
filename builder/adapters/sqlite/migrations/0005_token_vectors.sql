-- Late interaction: a passage's token vectors, int8 of shape (pieces, width). With a rowid, because a row is larger than a page.

CREATE TABLE token_vectors (
    workspace   TEXT    NOT NULL,
    session     TEXT    NOT NULL,
    incarnation INTEGER NOT NULL,
    sequence    INTEGER NOT NULL,
    ordinal     INTEGER NOT NULL,
    model       INTEGER NOT NULL REFERENCES models (number),
    vectors     BLOB    NOT NULL,
    PRIMARY KEY (workspace, session, incarnation, sequence, ordinal)
) STRICT;
