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

-- name: QuoteCreate :exec
INSERT INTO quote (quote_id, upload_id, workspace_id, frame_start, frame_end, frame_step, frame_count,
  price_cents, pricing_version, qualified, warnings, created_at, expires_at)
VALUES (@quote_id, @upload_id, @workspace_id, @frame_start, @frame_end, @frame_step, @frame_count,
  @price_cents, @pricing_version, @qualified, @warnings, @created_at, @expires_at);

-- name: QuoteLock :one
SELECT * FROM quote WHERE quote_id = @quote_id AND workspace_id = @workspace_id FOR UPDATE;

-- name: QuoteAccept :execrows
UPDATE quote SET accepted_at = @now, job_id = @job_id WHERE quote_id = @quote_id AND job_id = '';

-- name: JobCreate :exec
INSERT INTO job (job_id, workspace_id, key_id, flow, status, upload_id, quote_id, filename, input_sha256, input_size_bytes,
  frame_start, frame_end, frame_step, frame_count, pricing_version, price_cents, created_at, submitted_at, updated_at)
VALUES (@job_id, @workspace_id, @key_id, @flow, @status, @upload_id, @quote_id, @filename, @input_sha256, @input_size_bytes,
  @frame_start, @frame_end, @frame_step, @frame_count, @pricing_version, @price_cents, @created_at, @submitted_at, @updated_at);

-- name: JobGet :one
SELECT * FROM job WHERE job_id = @job_id;

-- name: JobLock :one
SELECT * FROM job WHERE job_id = @job_id FOR UPDATE;

-- name: JobMove :execrows
-- The one statement that changes a status; the caller says from which.
UPDATE job SET status = @to_status, seq = seq + 1, updated_at = @now
WHERE job_id = @job_id AND status = @from_status;

-- name: JobClaimed :exec
UPDATE job SET claimed_at = @now WHERE job_id = @job_id AND claimed_at = 0;

-- name: JobFrameDone :one
-- One synthetic frame makes the whole job synthetic.
UPDATE job SET frames_completed = frames_completed + 1, seq = seq + 1, render_us = render_us + CAST(@render_us AS bigint),
  render_device = @render_device, device_name = @device_name, blender_version = @blender_version,
  renderer = CASE WHEN renderer = 'synthetic' THEN renderer ELSE CAST(@renderer AS text) END, updated_at = @now
WHERE job_id = @job_id AND status = 'rendering'
RETURNING *;

-- name: JobFrameUndone :one
-- An accepted frame is rendered again.
UPDATE job SET frames_completed = frames_completed - 1, seq = seq + 1, render_us = render_us - CAST(@render_us AS bigint), updated_at = @now
WHERE job_id = @job_id AND status = 'rendering'
RETURNING *;

-- name: JobCompleted :exec
UPDATE job SET charged_cents = @charged_cents, artifact_key = @artifact_key, artifact_filename = @artifact_filename,
  artifact_sha256 = @artifact_sha256, artifact_size = @artifact_size, render_device = @render_device, device_name = @device_name,
  blender_version = @blender_version, completed_at = @now
WHERE job_id = @job_id;

-- name: JobFailed :exec
UPDATE job SET failure_code = @code, failure_message = @message, failed_at = @now WHERE job_id = @job_id;

-- name: JobCancelled :exec
UPDATE job SET cancel_reason = @reason, cancelled_at = @now WHERE job_id = @job_id;

-- name: JobArtifactRemoved :exec
UPDATE job SET artifact_removed_at = @now, seq = seq + 1 WHERE job_id = @job_id AND artifact_removed_at = 0;

-- name: JobView :one
-- A job, and what its endpoints, its leases, the jobs before it and the workers
-- say of it at this moment: one statement, since no read is made more often. told
-- is whether its end is told to anybody; held is how many of its frames are held,
-- and progress how far those are altogether, in parts of a thousand of one;
-- position is counted up to farthest.
SELECT sqlc.embed(job),
  CAST((EXISTS (SELECT 1 FROM webhook_endpoint w WHERE w.workspace_id = job.workspace_id AND w.job_id = '' AND w.deleted_at = 0 AND w.disabled_at = 0)
    OR EXISTS (SELECT 1 FROM webhook_endpoint o WHERE o.job_id = job.job_id AND o.job_id <> '')) AS boolean) AS told,
  CAST(CASE WHEN job.status = 'rendering' THEN
    (SELECT count(*) FROM lease h WHERE h.queue = @queue AND h.subject = job.job_id AND h.state = 'held') ELSE 0 END AS bigint) AS held,
  CAST(CASE WHEN job.status = 'rendering' THEN
    (SELECT coalesce(sum(p.progress), 0) FROM lease p WHERE p.queue = @queue AND p.subject = job.job_id AND p.state = 'held') ELSE 0 END AS bigint) AS progress,
  CAST(CASE WHEN job.status = 'queued' THEN
    (SELECT count(*) FROM (SELECT 1 FROM job b WHERE b.status = 'queued' AND b.job_id <= job.job_id LIMIT CAST(@farthest AS bigint)) AS line) ELSE 0 END AS bigint) AS position,
  CAST(CASE WHEN job.status IN ('queued', 'rendering') THEN
    EXISTS (SELECT 1 FROM worker o WHERE o.seen_at >= @since AND o.aside_until <= @now) ELSE false END AS boolean) AS online
FROM job WHERE job.job_id = @job_id;

-- name: JobQueuedCount :one
SELECT count(*) FROM job WHERE status = 'queued';

-- name: JobSpentByKey :one
SELECT CAST(coalesce(sum(CASE WHEN status IN ('failed', 'cancelled') THEN 0 ELSE price_cents END), 0) AS bigint) FROM job
WHERE key_id = @key_id AND created_at >= @since;

-- name: JobIDs :many
SELECT job_id, status FROM job WHERE job_id > @after ORDER BY job_id LIMIT 500;

-- name: FrameCreate :execrows
INSERT INTO frame (job_id, frame, seq, ordinal, file, blob_key, sha256, pixel_sha256, size_bytes, width, height, render_us, worker_id, attempt,
  renderer, device, device_name, blender_version, build_hash, switched, log, accepted_at, finding, blank)
VALUES (@job_id, @frame, @seq, @ordinal, @file, @blob_key, @sha256, @pixel_sha256, @size_bytes, @width, @height, @render_us, @worker_id, @attempt,
  @renderer, @device, @device_name, @blender_version, @build_hash, @switched, @log, @accepted_at, @finding, @blank)
ON CONFLICT (job_id, frame) DO NOTHING;

-- name: FrameDelete :execrows
DELETE FROM frame WHERE job_id = @job_id AND frame = @frame;

-- name: FramesPartlyBlank :many
-- Frames with blank rows, each with what its neighbours have; -1 for none.
SELECT f.frame, f.blank, f.worker_id, f.attempt, f.pixel_sha256, f.render_us, f.finding,
  CAST(coalesce((SELECT p.blank FROM frame p WHERE p.job_id = f.job_id AND p.frame = f.frame - CAST(@step AS bigint)), -1) AS bigint) AS blank_before,
  CAST(coalesce((SELECT n.blank FROM frame n WHERE n.job_id = f.job_id AND n.frame = f.frame + CAST(@step AS bigint)), -1) AS bigint) AS blank_behind
FROM frame f WHERE f.job_id = @job_id AND f.blank >= @blank ORDER BY f.frame;

-- name: FrameFinding :execrows
UPDATE frame SET finding = @finding WHERE job_id = @job_id AND frame = @frame;

-- name: FrameGet :one
SELECT * FROM frame WHERE job_id = @job_id AND frame = @frame;

-- name: FramesOf :many
SELECT * FROM frame WHERE job_id = @job_id ORDER BY frame;

-- name: FramesSince :many
SELECT * FROM frame WHERE job_id = @job_id AND seq > @seq ORDER BY seq LIMIT CAST(@max AS bigint);

-- name: FramesLatest :many
-- The newest of those since, newest first.
SELECT * FROM frame WHERE job_id = @job_id AND seq > @seq ORDER BY seq DESC LIMIT CAST(@max AS bigint);

-- name: FrameTimes :many
-- Of the frames that were in when the job's seq was that, the newest first.
SELECT accepted_at FROM frame WHERE job_id = @job_id AND seq <= @seq ORDER BY seq DESC LIMIT CAST(@max AS bigint);

-- name: ReceiptCreate :exec
INSERT INTO receipt (receipt_id, job_id, workspace_id, key_id, envelope, created_at)
VALUES (@receipt_id, @job_id, @workspace_id, @key_id, @envelope, @created_at);

-- name: ReceiptByJob :one
SELECT * FROM receipt WHERE job_id = @job_id;

-- name: WorkerCreate :exec
INSERT INTO worker (worker_id, key_id, name, renderer, blender_version, build_hash, device, device_name, denoise, sandbox, registered_at, seen_at)
VALUES (@worker_id, @key_id, @name, @renderer, @blender_version, @build_hash, @device, @device_name, @denoise, @sandbox, @registered_at, @seen_at);

-- name: WorkerGet :one
SELECT * FROM worker WHERE worker_id = @worker_id;

-- name: WorkerSeen :exec
UPDATE worker SET seen_at = @now WHERE worker_id = @worker_id AND seen_at < CAST(@before AS bigint);

-- name: WorkerLeaves :exec
-- It counts as one that was last heard then.
UPDATE worker SET seen_at = CAST(@seen_at AS bigint) WHERE worker_id = @worker_id AND seen_at > CAST(@seen_at AS bigint);

-- name: WorkerBefore :one
-- The newest of a key's workers of that name, but for one.
SELECT strikes, asides, aside_until FROM worker
WHERE seen_at >= @since AND key_id = @key_id AND name = @name AND worker_id <> @worker_id
ORDER BY registered_at DESC, worker_id DESC LIMIT 1;

-- name: WorkersOnline :one
-- One that is set aside renders nothing.
SELECT count(*) FROM worker WHERE seen_at >= @since AND aside_until <= @now;

-- name: AuditFrames :many
-- Jobs whose frame rows disagree with the job.
SELECT j.job_id, j.status, j.frame_count, j.frames_completed, count(f.frame) AS frames
FROM job j LEFT JOIN frame f ON f.job_id = j.job_id
GROUP BY j.job_id, j.status, j.frame_count, j.frames_completed
HAVING count(f.frame) <> j.frames_completed OR (j.status IN ('completed', 'packaging') AND count(f.frame) <> j.frame_count);

-- name: AuditLiveFiles :many
-- The files that jobs which have not ended still need.
SELECT j.job_id, c.blob_key FROM job j JOIN project_content p ON p.upload_id = j.upload_id
JOIN content c ON c.workspace_id = p.workspace_id AND c.sha256 = p.sha256
WHERE j.status IN ('awaiting_submit', 'queued', 'rendering', 'packaging')
UNION ALL
SELECT f.job_id, f.blob_key FROM frame f JOIN job j ON j.job_id = f.job_id WHERE j.status IN ('awaiting_submit', 'queued', 'rendering', 'packaging');

-- name: AuditLeases :many
-- Jobs whose outstanding frame leases do not fill what is missing.
SELECT j.job_id, j.status, j.frame_count, j.frames_completed, count(l.lease_id) AS leases
FROM job j LEFT JOIN lease l ON l.subject = j.job_id AND l.queue = 'frame'
GROUP BY j.job_id, j.status, j.frame_count, j.frames_completed
HAVING (j.status IN ('queued', 'rendering') AND count(l.lease_id) <> j.frame_count - j.frames_completed)
    OR (j.status NOT IN ('queued', 'rendering') AND count(l.lease_id) <> 0);

-- name: AuditReceipts :many
SELECT j.job_id, j.status, count(r.receipt_id) AS receipts
FROM job j LEFT JOIN receipt r ON r.job_id = j.job_id
GROUP BY j.job_id, j.status
HAVING (j.status = 'completed' AND count(r.receipt_id) <> 1) OR (j.status <> 'completed' AND count(r.receipt_id) <> 0);

-- name: AuditPackaging :many
-- Jobs in packaging that nobody will ever package.
SELECT j.job_id FROM job j
WHERE j.status = 'packaging' AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.queue = 'package' AND l.subject = j.job_id);

-- name: JobArtifactKeys :many
SELECT artifact_key FROM job WHERE artifact_key <> '' AND artifact_removed_at = 0;

-- name: JobsLive :many
SELECT job_id FROM job WHERE status IN ('awaiting_submit', 'queued', 'rendering', 'packaging');

-- name: WorkerHolds :one
SELECT count(*) FROM lease WHERE queue = 'frame' AND subject = @job_id AND state = 'held' AND holder = @worker_id;
