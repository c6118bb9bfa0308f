-- Which release computed the facts of a row: below 2 its words lack the forms and function words that are known since, below 1 its body has
-- sorted keys too. `reindex` computes them again from the stream.
DROP INDEX breadcrumbs_sorted;
ALTER TABLE breadcrumbs RENAME COLUMN ordered TO facts_revision;
CREATE INDEX breadcrumbs_outdated ON breadcrumbs (workspace) WHERE facts_revision < 2;
