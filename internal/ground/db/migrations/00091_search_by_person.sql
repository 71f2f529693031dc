-- A search also compares who started a job and which frames it has. job_found takes the place
-- of job_search, which the version before still reads; a later release drops that one.

-- +goose Up
CREATE INDEX job_found ON job (workspace_id, job_id, status, created_at, started_by, frame_start, frame_end, frame_step, frame_count, tags, search);

-- +goose Down
DROP INDEX job_found;
