-- The agents that it is addressed to; nothing was before.
ALTER TABLE breadcrumbs ADD COLUMN recipients TEXT NOT NULL DEFAULT '[]';
