-- The profiles and templates that contexts were made with, to build them again.
CREATE TABLE edition_texts (hash TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE editions (
    id TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    templates TEXT NOT NULL,
    profiles TEXT NOT NULL,
    layers TEXT NOT NULL
) WITHOUT ROWID;
