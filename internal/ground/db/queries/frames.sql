-- name: FrameCreate :execrows
INSERT INTO frame (job_id, frame, seq, ordinal, file, blob_key, sha256, pixel_sha256, size_bytes, width, height, render_us, worker_id, attempt,
  renderer, device, device_name, blender_version, build_hash, switched, log, accepted_at, finding, blank, times, checked, origin, outputs, row_sum)
VALUES (@job_id, @frame, @seq, @ordinal, @file, @blob_key, @sha256, @pixel_sha256, @size_bytes, @width, @height, @render_us, @worker_id, @attempt,
  @renderer, @device, @device_name, @blender_version, @build_hash, @switched, @log, @accepted_at, @finding, @blank, @times, @checked, @origin, @outputs, @row_sum)
ON CONFLICT (job_id, frame) DO NOTHING;

-- name: FramesToTake :many
-- The accepted frames of a job, without Blender's output, for another job that takes some over.
SELECT frame, file, sha256, pixel_sha256, size_bytes, width, height, device, device_name, blender_version, build_hash, renderer, switched, blank, checked, outputs
FROM frame WHERE job_id = @job_id AND finding = '' ORDER BY frame;

-- name: FramesUnlike :many
-- The accepted frames of a job that have a finding, or that a worker rendered in another way than
-- the file says.
SELECT frame, finding, switched FROM frame WHERE job_id = @job_id AND (finding <> '' OR switched <> '') ORDER BY frame;

-- name: FramesTake :execrows
-- Accepted frames of one job for another. rows is a JSON array of objects with frame, ordinal, file
-- and row_sum.
INSERT INTO frame (job_id, frame, seq, ordinal, file, blob_key, sha256, pixel_sha256, size_bytes, width, height, render_us, worker_id, attempt,
  renderer, device, device_name, blender_version, build_hash, switched, log, accepted_at, finding, blank, times, checked, outputs, origin, row_sum)
SELECT CAST(@job_id AS text), f.frame, CAST(@seq AS bigint) + CAST(r.value ->> 'ordinal' AS bigint), CAST(r.value ->> 'ordinal' AS bigint), CAST(r.value ->> 'file' AS text),
  '', f.sha256, f.pixel_sha256, f.size_bytes, f.width, f.height, 0, '', 0,
  f.renderer, f.device, f.device_name, f.blender_version, f.build_hash, f.switched, '', CAST(@accepted_at AS bigint), '', f.blank, '', f.checked, f.outputs, f.job_id, CAST(r.value ->> 'row_sum' AS text)
FROM json_array_elements(CAST(CAST(@rows AS text) AS json)) AS r (value)
JOIN frame f ON f.job_id = @origin AND f.frame = CAST(r.value ->> 'frame' AS bigint);

-- name: FrameOutputsTake :execrows
-- The outputs of frames of one job for another. rows is a JSON array of objects with frame, number,
-- name and row_sum.
INSERT INTO frame_output (job_id, frame, number, name, blob_key, sha256, size_bytes, row_sum)
SELECT CAST(@job_id AS text), o.frame, o.number, CAST(r.value ->> 'name' AS text), '', o.sha256, o.size_bytes, CAST(r.value ->> 'row_sum' AS text)
FROM json_array_elements(CAST(CAST(@rows AS text) AS json)) AS r (value)
JOIN frame_output o ON o.job_id = @origin AND o.frame = CAST(r.value ->> 'frame' AS bigint) AND o.number = CAST(r.value ->> 'number' AS bigint);

-- name: FrameOutputsBetween :one
-- How many outputs the frames of a job have that lie in a range.
SELECT CAST(coalesce(sum(outputs), 0) AS bigint) FROM frame WHERE job_id = @job_id AND frame >= @first AND frame <= @last;

-- name: FrameDelete :execrows
DELETE FROM frame WHERE job_id = @job_id AND frame = @frame;

-- name: FramesPartlyBlank :many
-- Frames with blank rows, each with what its neighbours have, -1 for none, and whether an
-- earlier rendering that was doubted had the same pixels.
SELECT f.frame, f.blank, f.worker_id, f.attempt, f.pixel_sha256, f.render_us, f.finding,
  CAST(EXISTS (SELECT 1 FROM failed_attempt a
    WHERE a.lease_id = 'frame:' || f.job_id || ':' || CAST(f.frame AS text) AND a.pixel_sha256 = f.pixel_sha256) AS boolean) AS confirmed,
  CAST(coalesce((SELECT p.blank FROM frame p WHERE p.job_id = f.job_id AND p.frame = f.frame - CAST(@step AS bigint)), -1) AS bigint) AS blank_before,
  CAST(coalesce((SELECT n.blank FROM frame n WHERE n.job_id = f.job_id AND n.frame = f.frame + CAST(@step AS bigint)), -1) AS bigint) AS blank_behind
FROM frame f WHERE f.job_id = @job_id AND f.blank >= @blank AND f.origin = '' ORDER BY f.frame;

-- name: FramesFound :many
-- What the findings of a job are made of.
SELECT frame, finding, pixel_sha256 FROM frame WHERE job_id = @job_id ORDER BY frame;

-- name: FrameFinding :one
UPDATE frame SET finding = @finding WHERE job_id = @job_id AND frame = @frame RETURNING *;

-- name: FrameLogsForget :execrows
-- A page of the logs of jobs that ended before.
UPDATE frame SET log = '' WHERE (job_id, frame) IN (
  SELECT f.job_id, f.frame FROM frame f JOIN job j ON j.job_id = f.job_id
  WHERE f.log <> '' AND f.accepted_at < @before AND j.updated_at < @before AND j.status IN ('completed', 'failed', 'cancelled')
  LIMIT CAST(@max AS bigint));

-- name: FrameGet :one
SELECT * FROM frame WHERE job_id = @job_id AND frame = @frame;

-- name: WorkerHolds :one
SELECT count(*) FROM lease WHERE queue IN ('frame', 'strip', 'recheck') AND subject = @job_id AND state = 'held' AND holder = @worker_id;

-- name: WorkerLapsed :one
-- Frames of a job that lapsed in a worker's hands and that nobody else has: their pictures
-- may still come.
SELECT count(*) FROM lease WHERE queue = 'frame' AND subject = @job_id AND state = 'waiting' AND lapsed_holder = @worker_id;

-- name: JobScene :one
-- What inspect found out about a job's scene as it was chosen, and what was, JSON.
SELECT CAST(CASE WHEN q.scene <> '' THEN q.scene ELSE u.scene END AS text) AS scene, j.settings
FROM job j JOIN upload u ON u.upload_id = j.upload_id JOIN quote q ON q.quote_id = j.quote_id WHERE j.job_id = @job_id;

-- name: CandidateAdd :exec
INSERT INTO candidate (job_id, frame, attempt, worker_id, key_id, class, other_key, sha256, pixel_sha256, finding, picture, created_at, row_sum)
VALUES (@job_id, @frame, @attempt, @worker_id, @key_id, @class, @other_key, @sha256, @pixel_sha256, @finding, @picture, @created_at, @row_sum)
ON CONFLICT DO NOTHING; -- a report of an attempt that is over: its lease is lost

-- name: CandidatesOf :many
SELECT * FROM candidate WHERE job_id = @job_id AND frame = @frame ORDER BY attempt;

-- name: CandidatesAnyKey :many
-- From now on another worker of the same key may confirm as well.
UPDATE candidate SET other_key = 0 WHERE job_id = @job_id AND frame = @frame RETURNING *;

-- name: CandidatesDrop :exec
DELETE FROM candidate WHERE job_id = @job_id AND frame = @frame;

-- name: CandidateFrames :many
-- The frames that await another picture, the longest wait first.
SELECT job_id, frame FROM candidate GROUP BY job_id, frame ORDER BY min(created_at) LIMIT CAST(@max AS bigint);

-- name: ConfirmerOnline :one
-- Whether a worker is there that may confirm a frame's candidates, of another key when
-- other_key is 1, and that dispatch would give the frame.
SELECT count(*) FROM (
  SELECT o.worker_id FROM worker o
  WHERE o.seen_at >= @since AND o.suspended_until <= @now
    AND NOT EXISTS (SELECT 1 FROM turn n WHERE n.party = @job_id AND ((n.needs & o.lacks) <> 0 OR (n.pools & o.pools) <> n.pools OR n.kind NOT IN ('', 'any', o.kind)))
    AND o.device || '|' || o.device_name || '|' || o.renderer || '|' || o.blender_version || '|' || o.build_hash = CAST(@class AS text)
    AND NOT EXISTS (SELECT 1 FROM candidate c WHERE c.job_id = @job_id AND c.frame = @frame
      AND (c.worker_id = o.worker_id OR (c.key_id = o.key_id AND CAST(@other_key AS bigint) = 1)))
    AND NOT EXISTS (SELECT 1 FROM failed_attempt f WHERE f.key_id = o.key_id AND f.subject = @job_id
      AND (f.item = @frame OR f.undecided = 1 OR f.incapable = 1))
  LIMIT 1) AS others;

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

-- name: AuditFrameRows :many
-- A page of frames, without Blender's output, each with its job. The bound is
-- repeated in the join: otherwise a merge would read everything before the page.
SELECT f.job_id, f.frame, f.seq, f.ordinal, f.file, f.blob_key, f.sha256, f.pixel_sha256, f.size_bytes, f.width, f.height, f.render_us, f.worker_id,
  f.attempt, f.renderer, f.device, f.device_name, f.blender_version, f.build_hash, f.switched, f.accepted_at, f.finding, f.blank, f.times, f.checked, f.origin, f.outputs, f.row_sum, sqlc.embed(j)
FROM frame f JOIN job j ON j.job_id = f.job_id AND j.job_id >= CAST(@job_id AS text)
WHERE (f.job_id, f.frame) > (CAST(@job_id AS text), CAST(@frame AS bigint)) ORDER BY f.job_id, f.frame LIMIT 500;

-- name: AuditFrameOrphans :one
-- Frames without a job.
SELECT count(*) FROM frame f WHERE NOT EXISTS (SELECT 1 FROM job j WHERE j.job_id = f.job_id);

-- name: FrameLogsErase :exec
UPDATE frame SET log = '' WHERE log <> '' AND job_id IN (SELECT j.job_id FROM job j WHERE j.workspace_id = @workspace_id);

-- name: FramesOverdue :many
-- Frames whose holder took them before a time and has since neither taken nor delivered
-- a frame of that job. Jobs whose frames depend on earlier ones get longer. A frame whose
-- strips are rendered is held by no worker.
SELECT * FROM lease l
WHERE l.queue = 'frame' AND l.state = 'held' AND l.holder <> 'service' AND l.due_at < CAST(@before AS bigint)
  AND (l.due_at < CAST(@plays_before AS bigint) OR NOT EXISTS (SELECT 1 FROM turn t WHERE t.party = l.subject AND t.plays = 1))
  AND NOT EXISTS (SELECT 1 FROM frame f WHERE f.job_id = l.subject AND f.worker_id = l.holder AND f.accepted_at >= CAST(@before AS bigint))
ORDER BY l.due_at LIMIT 500;

-- name: FrameOutputAdd :exec
INSERT INTO frame_output (job_id, frame, number, name, blob_key, sha256, size_bytes, row_sum)
VALUES (@job_id, @frame, @number, @name, @blob_key, @sha256, @size_bytes, @row_sum);

-- name: FrameOutputNamed :one
-- Whether a frame of a job has an output of a name.
SELECT count(*) FROM frame_output WHERE job_id = @job_id AND name = @name;

-- name: FrameOutputsDrop :exec
DELETE FROM frame_output WHERE job_id = @job_id AND frame = @frame;

-- name: FrameOutputsErase :exec
DELETE FROM frame_output WHERE job_id IN (SELECT j.job_id FROM job j WHERE j.workspace_id = @workspace_id);

-- name: AuditFrameOutputsGone :many
-- Frames that were accepted with another number of outputs than they have. An erased workspace
-- has none.
SELECT f.job_id, f.frame, f.outputs, CAST(count(o.number) AS bigint) AS found
FROM frame f JOIN job j ON j.job_id = f.job_id JOIN workspace w ON w.workspace_id = j.workspace_id
  LEFT JOIN frame_output o ON o.job_id = f.job_id AND o.frame = f.frame
WHERE f.outputs > 0 AND w.erased_at = 0
GROUP BY f.job_id, f.frame, f.outputs HAVING count(o.number) <> f.outputs
ORDER BY f.job_id, f.frame LIMIT 1000;

-- name: AuditFrameOutputs :many
-- Jobs that have outputs of frames that are not there, or with a file of their own for a frame that
-- was taken over.
SELECT DISTINCT o.job_id FROM frame_output o
WHERE NOT EXISTS (SELECT 1 FROM frame f WHERE f.job_id = o.job_id AND f.frame = o.frame AND (f.origin = '') = (o.blob_key <> ''));
