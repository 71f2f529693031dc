-- Where the time of a frame went, as its worker tells: JSON, '' for frames of workers that
-- do not. The rows' checksums leave an empty one out, so those of before stay as they are.

-- +goose Up
ALTER TABLE frame ADD COLUMN times text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE frame DROP COLUMN times;
