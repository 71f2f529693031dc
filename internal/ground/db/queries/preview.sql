-- name: PreviewCreate :exec
INSERT INTO preview (preview_id, workspace_id, upload_id, frame, status, ordinal, needs, settings, created_at, row_sum)
VALUES (@preview_id, @workspace_id, @upload_id, @frame, @status, @ordinal, @needs, @settings, @created_at, @row_sum);

-- name: PreviewLock :one
SELECT * FROM preview WHERE preview_id = @preview_id FOR UPDATE;

-- name: PreviewGet :one
SELECT * FROM preview WHERE preview_id = @preview_id;

-- name: PreviewNewest :one
-- The newest preview of an upload, or of one of its frames, with some settings.
SELECT * FROM preview WHERE upload_id = @upload_id AND settings = @settings AND (CAST(@frame AS bigint) < 0 OR frame = CAST(@frame AS bigint)) ORDER BY preview_id DESC LIMIT 1;

-- name: PreviewSame :one
-- What a repeated order of a frame gets: a preview that is in progress or done.
SELECT * FROM preview WHERE upload_id = @upload_id AND frame = @frame AND settings = @settings AND status IN ('queued', 'rendering', 'ready') ORDER BY preview_id DESC LIMIT 1;

-- name: PreviewsUsed :one
-- How many previews count against the limits: those in progress, and those that a
-- worker has begun. The first number is for an upload, the others for its workspace
-- since a time.
SELECT CAST(coalesce(sum(CASE WHEN p.upload_id = CAST(@upload_id AS text) THEN 1 ELSE 0 END), 0) AS bigint) AS of_upload,
  CAST(coalesce(sum(CASE WHEN p.created_at > CAST(@since AS bigint) THEN 1 ELSE 0 END), 0) AS bigint) AS of_workspace,
  CAST(coalesce(min(CASE WHEN p.created_at > CAST(@since AS bigint) THEN p.created_at END), 0) AS bigint) AS oldest
FROM preview p
WHERE p.workspace_id = @workspace_id AND (p.created_at > CAST(@since AS bigint) OR p.upload_id = CAST(@upload_id AS text))
  AND (p.begun_at > 0 OR p.status IN ('queued', 'rendering'));

-- name: PreviewsAnyWaiting :one
-- Whether a preview waits that a worker may take: it needs nothing that its Blender was
-- built without, and its workspace requires no tag that the worker lacks.
SELECT count(*) FROM (
  SELECT p.preview_id FROM preview p
  WHERE p.status = 'queued' AND NOT EXISTS (SELECT 1 FROM worker o LEFT JOIN turn n ON n.party = p.workspace_id WHERE o.worker_id = @worker_id AND ((p.needs & o.lacks) <> 0 OR (coalesce(n.pools, 1) & o.pools) <> coalesce(n.pools, 1)))
  LIMIT 1) AS waits;

-- name: PreviewNext :one
-- The first one of each workspace comes before the second of any, of those that a worker may
-- take.
SELECT * FROM preview
WHERE status = 'queued' AND NOT EXISTS (SELECT 1 FROM worker o LEFT JOIN turn n ON n.party = preview.workspace_id WHERE o.worker_id = @worker_id AND ((preview.needs & o.lacks) <> 0 OR (coalesce(n.pools, 1) & o.pools) <> coalesce(n.pools, 1)))
ORDER BY ordinal, preview_id LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: PreviewsHeld :one
SELECT count(*) FROM preview WHERE worker_id = @worker_id AND status = 'rendering';

-- name: PreviewClaim :one
UPDATE preview SET status = 'rendering', worker_id = @worker_id, claimed_at = @now,
  begun_at = CASE WHEN begun_at = 0 THEN CAST(@now AS bigint) ELSE begun_at END
WHERE preview_id = @preview_id RETURNING *;

-- name: PreviewRequeue :one
UPDATE preview SET status = 'queued', worker_id = '' WHERE preview_id = @preview_id RETURNING *;

-- name: MarkPreviewReady :one
UPDATE preview SET status = 'ready', ended_at = @now, device = @device, device_name = @device_name, blob_key = @blob_key, sha256 = @sha256,
  size_bytes = @size_bytes, width = @width, height = @height, finding = @finding, render_us = @render_us,
  frame_low_us = @frame_low_us, frame_us = @frame_us, frame_high_us = @frame_high_us, bands = @bands
WHERE preview_id = @preview_id RETURNING *;

-- name: PreviewFailed :one
UPDATE preview SET status = 'failed', ended_at = @now, worker_id = '', fault_code = @fault_code, fault_text = @fault_text WHERE preview_id = @preview_id RETURNING *;

-- name: PreviewExpired :one
-- The picture goes; its times stay.
UPDATE preview SET status = 'expired', ended_at = CASE WHEN ended_at = 0 THEN CAST(@now AS bigint) ELSE ended_at END,
  worker_id = CASE WHEN status = 'ready' THEN worker_id ELSE '' END, blob_key = '', sha256 = '', size_bytes = 0, width = 0, height = 0
WHERE preview_id = @preview_id RETURNING *;

-- name: PreviewsOfUpload :many
SELECT * FROM preview WHERE upload_id = @upload_id ORDER BY preview_id FOR UPDATE;

-- name: PreviewQuote :one
-- What the newest quote of an upload says, as QuoteNewest finds it. Scenes are long, so none is read.
SELECT u.workspace_id, u.removed_at, q.settings, q.frame_start, q.frame_end, q.frame_step, q.frame_count, q.warnings
FROM upload u JOIN quote q ON q.quote_id = (SELECT CAST(coalesce(max(n.quote_id || ''), '') AS text) FROM quote n WHERE n.upload_id = u.upload_id)
WHERE u.upload_id = @upload_id;

-- name: PreviewScene :one
-- The scene of an upload as its newest quote chose it.
SELECT CAST(CASE WHEN q.scene <> '' THEN q.scene ELSE u.scene END AS text) AS scene
FROM upload u JOIN quote q ON q.quote_id = (SELECT CAST(coalesce(max(n.quote_id || ''), '') AS text) FROM quote n WHERE n.upload_id = u.upload_id)
WHERE u.upload_id = @upload_id;

-- name: PreviewUpload :one
-- The upload that a worker may read, because it holds a preview of it.
SELECT p.upload_id FROM preview p JOIN lease l ON l.queue = 'preview' AND l.subject = p.preview_id
WHERE p.preview_id = @preview_id AND l.state = 'held' AND l.holder = @worker_id;

-- name: PreviewBlobs :many
SELECT blob_key FROM preview WHERE blob_key <> '';

-- name: PreviewsForget :execrows
-- A page of previews that ended before, of uploads that are gone, or that no worker
-- has begun.
DELETE FROM preview WHERE preview_id IN (
  SELECT p.preview_id FROM preview p JOIN upload u ON u.upload_id = p.upload_id
  WHERE p.created_at < @before AND p.status IN ('failed', 'expired') AND (u.removed_at > 0 OR p.begun_at = 0)
  LIMIT CAST(@max AS bigint));

-- name: PreviewsErase :exec
DELETE FROM preview WHERE workspace_id = @workspace_id;

-- name: PreviewAfter :many
SELECT * FROM preview WHERE preview_id > @after ORDER BY preview_id LIMIT 500;

-- name: AuditPreviews :many
-- A page of previews, each with its upload and its lease; '' and 0 where there is none.
-- The bound is repeated in the join: otherwise a merge would read everything before the
-- page.
SELECT sqlc.embed(p), CAST(coalesce(u.workspace_id, '') AS text) AS owner, CAST(coalesce(u.created_at, 0) AS bigint) AS uploaded_at,
  CAST(coalesce(u.removed_at, 0) AS bigint) AS removed_at, CAST(coalesce(l.state, '') AS text) AS lease_state, CAST(coalesce(l.holder, '') AS text) AS lease_holder
FROM preview p LEFT JOIN upload u ON u.upload_id = p.upload_id LEFT JOIN lease l ON l.queue = 'preview' AND l.subject = p.preview_id AND l.subject > @after
WHERE p.preview_id > @after ORDER BY p.preview_id LIMIT 500;

-- name: AuditPreviewLeases :many
-- Leases of previews that were never ordered.
SELECT l.lease_id FROM lease l WHERE l.queue = 'preview' AND NOT EXISTS (SELECT 1 FROM preview p WHERE p.preview_id = l.subject AND p.frame = l.item);

-- name: AuditPreviewPictures :many
-- A page of previews with a picture.
SELECT preview_id, blob_key, sha256, size_bytes FROM preview WHERE preview_id > @after AND blob_key <> '' ORDER BY preview_id LIMIT 500;
