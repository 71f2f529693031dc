-- name: ShareOfJob :one
SELECT * FROM share WHERE job_id = @job_id;

-- name: ShareByToken :one
-- A link that has ended is not found.
SELECT sqlc.embed(share), workspace.name FROM share JOIN workspace ON workspace.workspace_id = share.workspace_id
WHERE share.token_sha256 = @token_sha256 AND share.expires_at > @now;

-- name: SharesOf :many
-- The newest first.
SELECT sqlc.embed(share), job.filename FROM share JOIN job ON job.job_id = share.job_id
WHERE share.workspace_id = @workspace_id AND share.expires_at > @now ORDER BY share.created_at DESC, share.job_id DESC;

-- name: ShareCreate :exec
INSERT INTO share (job_id, workspace_id, token_sha256, download, proof, created_at, expires_at, views, viewed_at, row_sum)
VALUES (@job_id, @workspace_id, @token_sha256, @download, @proof, @created_at, @expires_at, @views, @viewed_at, @row_sum);

-- name: ShareViewed :exec
UPDATE share SET views = views + 1, viewed_at = @now WHERE token_sha256 = @token_sha256;

-- name: ShareDelete :execrows
DELETE FROM share WHERE job_id = @job_id;

-- name: SharesOver :exec
-- Removes the links of a workspace that have ended.
DELETE FROM share WHERE workspace_id = @workspace_id AND expires_at <= @now;

-- name: SharesErase :exec
DELETE FROM share WHERE workspace_id = @workspace_id;

-- name: AuditShares :many
-- Links without a job of their workspace.
SELECT share.job_id FROM share LEFT JOIN job ON job.job_id = share.job_id AND job.workspace_id = share.workspace_id
WHERE job.job_id IS NULL ORDER BY share.job_id LIMIT 100;
