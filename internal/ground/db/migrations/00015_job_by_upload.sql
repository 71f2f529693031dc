-- +goose Up

-- Which jobs use an upload: asked when an upload is stored, removed or expires.
CREATE INDEX job_by_upload ON job (upload_id);

-- The removal of a single blob is no longer queued. What is left of it would fail until it
-- is a dead letter; the sweep removes the blobs, which no row names.
DELETE FROM lease WHERE queue = 'expire' AND subject LIKE 'blob/%';
DELETE FROM dead_letter WHERE queue = 'expire' AND subject LIKE 'blob/%';

-- +goose Down
DROP INDEX job_by_upload;
