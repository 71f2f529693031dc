-- name: UploadCreate :execrows
INSERT INTO upload (upload_id, workspace_id, filename, sha256, size_bytes, scene, created_at)
VALUES (@upload_id, @workspace_id, @filename, @sha256, @size_bytes, @scene, @created_at)
ON CONFLICT (upload_id) DO NOTHING;

-- name: UploadLock :one
-- Locked, so that an upload is not removed while a job is made of it.
SELECT * FROM upload WHERE upload_id = @upload_id FOR UPDATE;

-- name: UploadByID :one
SELECT * FROM upload WHERE upload_id = @upload_id;

-- name: UploadRemove :execrows
UPDATE upload SET removed_at = @now WHERE upload_id = @upload_id AND removed_at = 0;

-- name: UploadLiveJobs :one
SELECT count(*) FROM job WHERE upload_id = @upload_id AND status NOT IN ('completed', 'failed', 'cancelled');

-- name: AwaitedCreate :exec
INSERT INTO awaited_upload (upload_id, workspace_id, source, created_at, expires_at)
VALUES (@upload_id, @workspace_id, @source, @created_at, @expires_at);

-- name: AwaitedGet :one
SELECT * FROM awaited_upload WHERE upload_id = @upload_id;

-- name: AwaitedRefused :exec
UPDATE awaited_upload SET fault_code = @code, fault_text = @text, fault_action = @action, fault_detail = @detail WHERE upload_id = @upload_id;

-- name: AwaitedFetching :one
-- How many files are being fetched for a workspace, or wait for it.
SELECT count(*) FROM awaited_upload a JOIN lease l ON l.subject = a.upload_id AND l.queue = 'fetch'
WHERE a.workspace_id = @workspace_id;

-- name: AwaitedForget :execrows
DELETE FROM awaited_upload WHERE expires_at < CAST(@before AS bigint)
  AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.queue = 'fetch' AND l.subject = awaited_upload.upload_id);
