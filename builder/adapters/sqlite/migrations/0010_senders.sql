-- By which clock it was said, in minutes east of UTC, and who the person is. NULL and '' say that the sender did not say; so does all
-- that was stored before, until `reindex` reads it again from the stream.
ALTER TABLE breadcrumbs ADD COLUMN utc_offset INTEGER;
ALTER TABLE breadcrumbs ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
