-- Which version of an id came first: a later one has its session, its schema and its speaker.
CREATE INDEX IF NOT EXISTS breadcrumbs_firsts ON breadcrumbs (workspace, id, incarnation, sequence);
