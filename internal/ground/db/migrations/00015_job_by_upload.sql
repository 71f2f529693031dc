-- +goose Up

-- Which jobs use an upload: asked when an upload is stored, removed or expires.
CREATE INDEX job_by_upload ON job (upload_id);

-- +goose Down
DROP INDEX job_by_upload;
