-- An edited file keeps its name: what its scene took before foresees what it takes now.

-- +goose Up
CREATE INDEX job_of_name ON job (workspace_id, filename, job_id) WHERE status = 'completed';

-- +goose Down
DROP INDEX job_of_name;
