-- Tags of jobs, and a search over names and tags. Each list of a workspace reads one index
-- from its newest job on. A search compares words in that index alone, so that looking through
-- 100,000 jobs reads no row of them. The index takes the place of job_by_workspace.

-- +goose Up
ALTER TABLE job ADD COLUMN tags text NOT NULL DEFAULT '';   -- separated by commas, in order; '' for none
ALTER TABLE job ADD COLUMN search text NOT NULL DEFAULT ''; -- the file's name and the tags in lower case
UPDATE job SET search = lower(filename);
CREATE INDEX job_search ON job (workspace_id, job_id, status, created_at, tags, search);
DROP INDEX job_by_workspace;

-- +goose Down
CREATE INDEX job_by_workspace ON job (workspace_id, job_id);
DROP INDEX job_search;
ALTER TABLE job DROP COLUMN search;
ALTER TABLE job DROP COLUMN tags;
