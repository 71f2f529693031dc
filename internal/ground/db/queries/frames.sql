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

-- name: FrameLogsForget :execrows
-- A page of the logs of jobs that ended before.
UPDATE frame SET log = '' WHERE (job_id, frame) IN (
  SELECT f.job_id, f.frame FROM frame f JOIN job j ON j.job_id = f.job_id
  WHERE f.log <> '' AND f.accepted_at < @before AND j.updated_at < @before AND j.status IN ('completed', 'failed', 'cancelled')
  LIMIT CAST(@max AS bigint));

-- name: FrameGet :one
SELECT * FROM frame WHERE job_id = @job_id AND frame = @frame;

-- name: WorkerHolds :one
SELECT count(*) FROM lease WHERE queue = 'frame' AND subject = @job_id AND state = 'held' AND holder = @worker_id;

-- name: JobScene :one
-- What inspect found out about a job's scene, JSON.
SELECT u.scene FROM job j JOIN upload u ON u.upload_id = j.upload_id WHERE j.job_id = @job_id;

-- name: AuditFrames :many
-- Jobs whose frame rows disagree with the job.
SELECT j.job_id, j.status, j.frame_count, j.frames_completed, count(f.frame) AS frames
FROM job j LEFT JOIN frame f ON f.job_id = j.job_id
GROUP BY j.job_id, j.status, j.frame_count, j.frames_completed
HAVING count(f.frame) <> j.frames_completed OR (j.status IN ('completed', 'packaging') AND count(f.frame) <> j.frame_count);

-- name: AuditLeases :many
-- Jobs whose outstanding frame leases do not fill what is missing.
SELECT j.job_id, j.status, j.frame_count, j.frames_completed, count(l.lease_id) AS leases
FROM job j LEFT JOIN lease l ON l.subject = j.job_id AND l.queue = 'frame'
GROUP BY j.job_id, j.status, j.frame_count, j.frames_completed
HAVING (j.status IN ('queued', 'rendering') AND count(l.lease_id) <> j.frame_count - j.frames_completed)
    OR (j.status NOT IN ('queued', 'rendering') AND count(l.lease_id) <> 0);
