-- Bodies have the keys of their sender's order. Those of rows of before are sorted, until `reindex` reads them again from the stream.
ALTER TABLE breadcrumbs ADD COLUMN ordered INTEGER NOT NULL DEFAULT 0;

CREATE INDEX breadcrumbs_sorted ON breadcrumbs (workspace) WHERE ordered = 0;
