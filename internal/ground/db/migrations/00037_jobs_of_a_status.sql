-- A list of the failed jobs of a workspace that has a million finished ones reads no more
-- than a page.

-- +goose Up
CREATE INDEX job_of_status ON job (workspace_id, status, job_id);

-- +goose Down
DROP INDEX job_of_status;
