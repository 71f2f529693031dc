-- +goose Up

-- Jobs that have not ended are counted every few seconds, among all that have.
CREATE INDEX job_live ON job (status, created_at) WHERE status IN ('awaiting_submit', 'queued', 'rendering', 'packaging');

-- +goose Down
DROP INDEX job_live;
