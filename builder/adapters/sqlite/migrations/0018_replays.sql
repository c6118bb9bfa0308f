-- Imports stand at the time at which they were said; those of before keep the order in which they came.
ALTER TABLE breadcrumbs ADD COLUMN replay INTEGER NOT NULL DEFAULT 0;
