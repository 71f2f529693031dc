-- name: JobIDs :many
SELECT job_id, status FROM job WHERE job_id > @after ORDER BY job_id LIMIT 500;

-- name: AuditArtifacts :many
-- A page of completed jobs whose ZIP is kept.
SELECT job_id, artifact_key, artifact_sha256, artifact_size FROM job
WHERE job_id > @after AND status = 'completed' AND artifact_removed_at = 0 ORDER BY job_id LIMIT 500;

-- name: AuditLiveJobs :many
-- A page of jobs that have not ended.
SELECT job_id FROM job WHERE job_id > @after AND status IN ('awaiting_submit', 'queued', 'rendering', 'packaging') ORDER BY job_id LIMIT 500;

-- name: AuditLiveContent :many
-- The content that a job renders.
SELECT c.blob_key, c.size_bytes FROM job j JOIN project_content p ON p.upload_id = j.upload_id
JOIN content c ON c.workspace_id = p.workspace_id AND c.sha256 = p.sha256 WHERE j.job_id = @job_id ORDER BY c.blob_key;

-- name: AuditLiveFrames :many
-- A page of the accepted frames of a job.
SELECT frame, blob_key, size_bytes, origin FROM frame WHERE job_id = @job_id AND frame > @after ORDER BY frame LIMIT 500;

-- name: AuditSizes :one
-- How much there is to audit.
SELECT (SELECT count(*) FROM job) AS jobs, (SELECT count(*) FROM receipt) AS receipts, (SELECT count(*) FROM receipt_log_leaf) AS leaves,
  (SELECT count(*) FROM job a WHERE a.status = 'completed' AND a.artifact_removed_at = 0) AS artifacts;
