-- How long the artifacts of a workspace's jobs are kept.

-- +goose Up
ALTER TABLE workspace ADD COLUMN artifact_days bigint NOT NULL DEFAULT 0; -- 1 to 365; 0 = as the service's setting

-- +goose Down
ALTER TABLE workspace DROP COLUMN artifact_days;
