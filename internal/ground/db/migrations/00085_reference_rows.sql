-- What a worker's machine rendered of two rows of the built-in scene, as svc worker doctor --equal
-- found: machines of one kind are compared by it.

-- +goose Up
ALTER TABLE worker ADD COLUMN rows_sha256 text NOT NULL DEFAULT '';
CREATE INDEX worker_reference ON worker (build_hash, device_name, registered_at) WHERE rows_sha256 <> '';

-- +goose Down
DROP INDEX worker_reference;
ALTER TABLE worker DROP COLUMN rows_sha256;
