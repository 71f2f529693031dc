-- What a scene took before foresees what it takes now: the newest completed job of a
-- workspace over the same file.

-- +goose Up
CREATE INDEX job_similar ON job (workspace_id, input_sha256, job_id) WHERE status = 'completed';

-- +goose Down
DROP INDEX job_similar;
