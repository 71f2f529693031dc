-- What the frames that a job has taken over take in its ZIP, with their outputs. Nobody paid for
-- these bytes, so a workspace keeps a bounded number of them.

-- +goose Up
ALTER TABLE job ADD COLUMN bytes_reused bigint NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE job DROP COLUMN bytes_reused;
