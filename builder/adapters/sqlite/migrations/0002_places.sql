-- A whole workspace in place order (features D20), whatever the sessions.

CREATE INDEX breadcrumbs_places ON breadcrumbs (workspace, incarnation, sequence);
