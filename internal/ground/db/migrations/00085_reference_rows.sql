-- What a worker's machine rendered of two rows of the built-in scene, as svc worker doctor --equal
-- found: machines of one kind are compared by it.

-- +goose Up
ALTER TABLE worker ADD COLUMN rows_sha256 text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE worker DROP COLUMN rows_sha256;
