-- How its sender wants it shown, and who that is. Rows of before have neither, until `reindex` reads them again from the stream.
ALTER TABLE breadcrumbs ADD COLUMN hints TEXT NOT NULL DEFAULT '';
ALTER TABLE breadcrumbs ADD COLUMN creator TEXT NOT NULL DEFAULT '';
