-- Which agent says or calls it. Bodies know it of what is there already.
ALTER TABLE breadcrumbs ADD COLUMN agent TEXT NOT NULL DEFAULT '';
UPDATE breadcrumbs SET agent = substr(json_extract(body, '$.creator.agent_id'), 1, 200)
WHERE erased = '' AND CASE WHEN json_valid(body) THEN json_type(body, '$.creator.agent_id') END = 'text';
