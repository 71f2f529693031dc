-- name: ContentKeysKeep :exec
INSERT INTO content_key (job_id, workspace_id, keys, created_at, row_sum) VALUES (@job_id, @workspace_id, @keys, @created_at, @row_sum);

-- name: ContentKeysKept :many
-- The keys of a workspace's newest jobs whose ZIPs are kept until a time and that have any.
SELECT k.job_id, k.keys FROM content_key k JOIN job j ON j.job_id = k.job_id
JOIN lease l ON l.lease_id = 'expire:artifact/' || k.job_id || ':0'
WHERE k.workspace_id = @workspace_id AND j.workspace_id = k.workspace_id AND j.status = 'completed' AND j.artifact_removed_at = 0
  AND l.due_at > CAST(@until AS bigint) AND k.keys <> ''
ORDER BY k.job_id DESC LIMIT CAST(@max AS bigint);

-- name: JobsWithContentKeys :many
-- The orders of the jobs of ContentKeysKept, and of those without a key.
SELECT j.job_id, j.upload_id, j.filename, j.frame_start, j.frame_end, j.frame_step, j.frame_count, j.frames, j.settings
FROM content_key k JOIN job j ON j.job_id = k.job_id
JOIN lease l ON l.lease_id = 'expire:artifact/' || k.job_id || ':0'
WHERE k.workspace_id = @workspace_id AND j.workspace_id = k.workspace_id AND j.status = 'completed' AND j.artifact_removed_at = 0
  AND l.due_at > CAST(@until AS bigint)
ORDER BY k.job_id DESC LIMIT CAST(@max AS bigint);

-- name: ContentKeysOfAny :one
-- Whether ContentKeysKept has a row.
SELECT CAST(EXISTS (SELECT 1 FROM content_key k JOIN job j ON j.job_id = k.job_id
  JOIN lease l ON l.lease_id = 'expire:artifact/' || k.job_id || ':0'
  WHERE k.workspace_id = @workspace_id AND j.artifact_removed_at = 0 AND l.due_at > CAST(@until AS bigint) AND k.keys <> '') AS boolean);

-- name: ContentKeysForget :exec
DELETE FROM content_key WHERE job_id = @job_id;

-- name: ContentKeysErase :exec
DELETE FROM content_key WHERE workspace_id = @workspace_id;

-- name: WorkerClasses :many
-- What workers render with that were seen lately, or were the last to be seen.
SELECT DISTINCT w.renderer, w.device, w.device_name, w.blender_version, w.build_hash, w.kind, w.denoise FROM worker w
WHERE w.seen_at >= (SELECT max(n.seen_at) FROM worker n) - CAST(@span AS bigint)
ORDER BY w.renderer, w.device, w.device_name, w.blender_version, w.build_hash, w.kind, w.denoise;

-- name: AuditContentKeys :many
-- Keys of jobs that have no ZIP, or are of another workspace.
SELECT k.job_id FROM content_key k LEFT JOIN job j ON j.job_id = k.job_id
WHERE j.job_id IS NULL OR j.workspace_id <> k.workspace_id OR j.status <> 'completed' OR j.artifact_removed_at <> 0;

-- name: ReuseClassAdd :exec
INSERT INTO reuse_class (class_id, renderer, device, device_name, blender_version, build_hash, row_sum)
VALUES (@class_id, @renderer, @device, @device_name, @blender_version, @build_hash, @row_sum)
ON CONFLICT (class_id) DO NOTHING;

-- name: ReuseClassCompared :one
-- The first difference switches the class off.
UPDATE reuse_class SET agreed = agreed + CAST(@agreed AS bigint), differed = differed + CAST(@differed AS bigint),
  off_at = CASE WHEN off_at = 0 AND CAST(@differed AS bigint) > 0 THEN CAST(@now AS bigint) ELSE off_at END
WHERE class_id = @class_id
RETURNING *;

-- name: ReuseClasses :many
SELECT * FROM reuse_class ORDER BY off_at DESC, device_name, class_id;

-- name: ReuseClassGet :one
SELECT * FROM reuse_class WHERE class_id = @class_id;

-- name: ReuseClassesOff :many
SELECT * FROM reuse_class WHERE off_at <> 0;

-- name: ReuseClassReset :one
UPDATE reuse_class SET off_at = 0 WHERE class_id = @class_id RETURNING *;
