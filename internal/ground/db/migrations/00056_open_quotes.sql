-- The console lists the open quotes of a workspace: reading them takes no longer where
-- thousands have expired.

-- +goose Up
CREATE INDEX quote_open ON quote (workspace_id, expires_at) WHERE job_id = '';

-- +goose Down
DROP INDEX quote_open;
