-- What a breadcrumb answers, and the pointers that the word search matches.

ALTER TABLE breadcrumbs ADD COLUMN answers TEXT NOT NULL DEFAULT '';
ALTER TABLE breadcrumbs ADD COLUMN pointers TEXT NOT NULL DEFAULT '[]';
