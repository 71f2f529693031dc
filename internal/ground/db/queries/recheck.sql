-- name: RechecksWaiting :one
-- Whether a reused frame waits for its second rendering.
SELECT CAST(EXISTS (SELECT 1 FROM lease WHERE queue = 'recheck' AND state = 'waiting' AND due_at <= CAST(@now AS bigint)) AS boolean);

-- name: RechecksOf :one
-- How many reused frames of a workspace wait for their second rendering.
SELECT count(*) FROM lease l JOIN job j ON j.job_id = l.subject WHERE l.queue = 'recheck' AND j.workspace_id = @workspace_id;

-- name: RecheckNext :one
-- The reused frame that waits longest of those that workers of this one's class have
-- rendered, of workspaces that require no tag that this one lacks.
SELECT l.subject, l.item FROM lease l
JOIN frame f ON f.job_id = l.subject AND f.frame = l.item
JOIN job j ON j.job_id = l.subject
JOIN upload u ON u.upload_id = j.upload_id
JOIN worker w ON w.renderer = f.renderer AND w.device = f.device AND w.device_name = f.device_name AND w.blender_version = f.blender_version AND w.build_hash = f.build_hash
LEFT JOIN turn n ON n.party = j.workspace_id
WHERE l.queue = 'recheck' AND l.state = 'waiting' AND l.due_at <= @now AND w.worker_id = @worker_id
  AND (coalesce(n.pools, 1) & w.pools) = coalesce(n.pools, 1)
  AND u.removed_at = 0 AND j.artifact_removed_at = 0
ORDER BY l.due_at, l.subject, l.item LIMIT 1;

-- name: RechecksStale :many
-- Those that wait although their job has long been completed, and those that a worker has had for
-- too long.
SELECT l.* FROM lease l JOIN job j ON j.job_id = l.subject
WHERE l.queue = 'recheck' AND ((l.state = 'waiting' AND j.completed_at < @completed_before) OR (l.state = 'held' AND l.due_at < @held_before))
ORDER BY l.lease_id LIMIT 1000;

-- name: RechecksHeld :one
SELECT count(*) FROM lease WHERE queue = 'recheck' AND state = 'held' AND holder = @worker_id;

-- name: RechecksOfWorkspace :many
SELECT DISTINCT l.subject FROM lease l JOIN job j ON j.job_id = l.subject WHERE l.queue = 'recheck' AND j.workspace_id = @workspace_id;

-- name: AuditRechecks :many
-- Frames to render again that no completed job has taken over.
SELECT l.lease_id FROM lease l
LEFT JOIN frame f ON f.job_id = l.subject AND f.frame = l.item
LEFT JOIN job j ON j.job_id = l.subject
WHERE l.queue = 'recheck' AND (f.job_id IS NULL OR f.origin = '' OR j.status <> 'completed');
