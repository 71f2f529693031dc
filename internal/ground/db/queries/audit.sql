-- name: JobIDs :many
SELECT job_id, status FROM job WHERE job_id > @after ORDER BY job_id LIMIT 500;

-- name: AuditLiveFiles :many
-- The files that jobs which have not ended still need.
SELECT j.job_id, c.blob_key FROM job j JOIN project_content p ON p.upload_id = j.upload_id
JOIN content c ON c.workspace_id = p.workspace_id AND c.sha256 = p.sha256
WHERE j.status IN ('awaiting_submit', 'queued', 'rendering', 'packaging')
UNION ALL
SELECT f.job_id, f.blob_key FROM frame f JOIN job j ON j.job_id = f.job_id WHERE j.status IN ('awaiting_submit', 'queued', 'rendering', 'packaging');
