-- name: UploadCreate :execrows
INSERT INTO upload (upload_id, workspace_id, filename, sha256, size_bytes, scene, created_at, row_sum)
VALUES (@upload_id, @workspace_id, @filename, @sha256, @size_bytes, @scene, @created_at, @row_sum)
ON CONFLICT (upload_id) DO NOTHING;

-- name: UploadLock :one
-- Locked, so that an upload is not removed while a job is made of it.
SELECT * FROM upload WHERE upload_id = @upload_id FOR UPDATE;

-- name: UploadByID :one
SELECT * FROM upload WHERE upload_id = @upload_id;

-- name: UploadRemove :one
UPDATE upload SET removed_at = @now WHERE upload_id = @upload_id AND removed_at = 0 RETURNING *;

-- name: UploadLiveJobs :one
SELECT count(*) FROM job WHERE upload_id = @upload_id AND status NOT IN ('completed', 'failed', 'cancelled');

-- name: UploadLastUse :one
-- When the last job of an upload completed or failed; 0 for none.
SELECT CAST(coalesce(max(CASE WHEN completed_at > failed_at THEN completed_at ELSE failed_at END), 0) AS bigint) FROM job WHERE upload_id = @upload_id;

-- name: UnstartedRows :one
-- The bytes of rows that a workspace keeps and that no job pays for: what inspections found,
-- manifests, quotes that no job has taken, and answers kept for idempotency keys. A manifest
-- counts twice, for itself and for the rows that name its content. octet_length reads no text.
-- paid is 1 after the workspace's first credit or payment.
SELECT CAST(coalesce((SELECT sum(CASE WHEN EXISTS (
      SELECT 1 FROM job j WHERE j.upload_id = u.upload_id AND j.status NOT IN ('failed', 'cancelled') LIMIT 1 OFFSET 0) THEN 0
    ELSE 256 + octet_length(u.scene) + 2 * coalesce((SELECT octet_length(p.manifest) FROM project p WHERE p.upload_id = u.upload_id), 0) END
    + coalesce((SELECT sum(256 + octet_length(q.warnings) + octet_length(q.frames) + octet_length(q.scene)) FROM quote q WHERE q.upload_id = u.upload_id AND q.job_id = ''), 0))
  FROM upload u WHERE u.workspace_id = @workspace_id AND u.removed_at = 0), 0)
  + coalesce((SELECT sum(256 + octet_length(i.body)) FROM idempotency i WHERE i.workspace_id = @workspace_id), 0) AS bigint) AS bytes,
  CAST(CASE WHEN EXISTS (SELECT 1 FROM ledger_transaction t WHERE t.workspace_id = @workspace_id AND t.kind IN ('credit', 'top_up')) THEN 1 ELSE 0 END AS bigint) AS paid;

-- name: UnpaidStorage :one
-- What all workspaces store together that never had a credit or a payment: content as
-- ContentUnstarted counts it, and rows as UnstartedRows does. None of their jobs is paid for.
SELECT CAST(coalesce(sum(
  coalesce((SELECT sum(c.size_bytes + 4096) FROM content c WHERE c.workspace_id = w.workspace_id), 0)
  + coalesce((SELECT sum(256 + octet_length(u.scene) + 2 * coalesce((SELECT octet_length(p.manifest) FROM project p WHERE p.upload_id = u.upload_id), 0)
      + coalesce((SELECT sum(256 + octet_length(q.warnings) + octet_length(q.frames) + octet_length(q.scene)) FROM quote q WHERE q.upload_id = u.upload_id), 0))
    FROM upload u WHERE u.workspace_id = w.workspace_id AND u.removed_at = 0), 0)
  + coalesce((SELECT sum(256 + octet_length(i.body)) FROM idempotency i WHERE i.workspace_id = w.workspace_id), 0)), 0) AS bigint)
FROM workspace w
WHERE NOT EXISTS (SELECT 1 FROM ledger_transaction t WHERE t.workspace_id = w.workspace_id AND t.kind IN ('credit', 'top_up'));

-- name: UploadPaidJobs :one
-- Jobs of an upload that ended unpaid, by failure or cancellation, do not count.
SELECT count(*) FROM job WHERE upload_id = @upload_id AND status NOT IN ('failed', 'cancelled');

-- name: UploadDropScene :one
UPDATE upload SET scene = '{}' WHERE upload_id = @upload_id RETURNING *;

-- name: AwaitedCreate :exec
INSERT INTO awaited_upload (upload_id, workspace_id, source, created_at, expires_at, fault_detail, terms_version, row_sum)
VALUES (@upload_id, @workspace_id, @source, @created_at, @expires_at, @fault_detail, @terms_version, @row_sum);

-- name: AwaitedGet :one
SELECT * FROM awaited_upload WHERE upload_id = @upload_id;

-- name: AwaitedRefused :one
UPDATE awaited_upload SET fault_code = @code, fault_text = @text, fault_action = @action, fault_detail = @detail WHERE upload_id = @upload_id RETURNING *;

-- name: AwaitedFetching :one
-- How many files are being fetched for a workspace, or wait for it.
SELECT count(*) FROM awaited_upload a JOIN lease l ON l.subject = a.upload_id AND l.queue = 'fetch'
WHERE a.workspace_id = @workspace_id;

-- name: AwaitedForget :execrows
DELETE FROM awaited_upload WHERE expires_at < CAST(@before AS bigint)
  AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.queue = 'fetch' AND l.subject = awaited_upload.upload_id);

-- name: AuditUploads :many
-- A page of uploads, each with its workspace, its project and its first quote; '' and 0 where
-- there is none. The bound is repeated in the join: otherwise a merge would read everything
-- before the page.
SELECT sqlc.embed(u), CAST(coalesce(w.workspace_id, '') AS text) AS owner, CAST(coalesce(p.workspace_id, '') AS text) AS project_workspace_id,
  CAST(coalesce(p.created_at, 0) AS bigint) AS project_created_at,
  CAST(coalesce((SELECT min(q.created_at) FROM quote q WHERE q.upload_id = u.upload_id), 0) AS bigint) AS quoted_at,
  CAST(coalesce((SELECT min(q.workspace_id) FROM quote q WHERE q.upload_id = u.upload_id), '') AS text) AS quote_workspace_id
FROM upload u LEFT JOIN workspace w ON w.workspace_id = u.workspace_id LEFT JOIN project p ON p.upload_id = u.upload_id AND p.upload_id > @after
WHERE u.upload_id > @after ORDER BY u.upload_id LIMIT 500;

-- name: AuditAwaited :many
-- A page of awaited uploads, each with its workspace and the workspace of its upload.
-- The bound is repeated in the join: otherwise a merge would read everything before
-- the page.
SELECT sqlc.embed(a), CAST(coalesce(w.workspace_id, '') AS text) AS owner, CAST(coalesce(u.workspace_id, '') AS text) AS upload_workspace_id
FROM awaited_upload a LEFT JOIN workspace w ON w.workspace_id = a.workspace_id LEFT JOIN upload u ON u.upload_id = a.upload_id AND u.upload_id > @after
WHERE a.upload_id > @after ORDER BY a.upload_id LIMIT 500;

-- name: UploadsOf :many
SELECT upload_id FROM upload WHERE workspace_id = @workspace_id ORDER BY upload_id;

-- name: UploadErase :one
UPDATE upload SET filename = @filename, scene = '{}' WHERE upload_id = @upload_id RETURNING *;

-- name: AwaitedErase :many
DELETE FROM awaited_upload WHERE workspace_id = @workspace_id RETURNING upload_id;
