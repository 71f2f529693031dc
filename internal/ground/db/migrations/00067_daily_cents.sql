-- What a workspace may spend in a day.

-- +goose Up
ALTER TABLE workspace ADD COLUMN daily_cents bigint NOT NULL DEFAULT 0; -- 0 = no limit
CREATE INDEX job_of_day ON job (workspace_id, created_at);

-- +goose Down
DROP INDEX job_of_day;
ALTER TABLE workspace DROP COLUMN daily_cents;
