-- name: JobCreate :exec
INSERT INTO job (job_id, workspace_id, key_id, flow, status, upload_id, quote_id, filename, input_sha256, input_size_bytes,
  frame_start, frame_end, frame_step, frame_count, frames, rerender_of, settings, pricing_version, price_cents, created_at, submitted_at, updated_at, findings, request_id, tags, search, row_sum, started_by)
VALUES (@job_id, @workspace_id, @key_id, @flow, @status, @upload_id, @quote_id, @filename, @input_sha256, @input_size_bytes,
  @frame_start, @frame_end, @frame_step, @frame_count, @frames, @rerender_of, @settings, @pricing_version, @price_cents, @created_at, @submitted_at, @updated_at, @findings, @request_id, @tags, @search, @row_sum, @started_by);

-- name: JobGet :one
SELECT * FROM job WHERE job_id = @job_id;

-- name: JobLock :one
SELECT * FROM job WHERE job_id = @job_id FOR UPDATE;

-- name: JobMove :execrows
-- The only statement that changes a status; the caller gives the status it
-- changes from.
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
-- An accepted frame is rendered again. Its row is gone, and those of its outputs.
UPDATE job SET frames_completed = frames_completed - 1, frames_reused = frames_reused - CAST(@reused AS bigint), seq = seq + 1,
  bytes_reused = CASE WHEN bytes_reused = 0 THEN 0 ELSE
    (SELECT CAST(coalesce(sum(f.size_bytes), 0) AS bigint) FROM frame f WHERE f.job_id = job.job_id AND f.origin <> '') +
    (SELECT CAST(coalesce(sum(o.size_bytes), 0) AS bigint) FROM frame_output o WHERE o.job_id = job.job_id AND o.blob_key = '') END,
  render_us = render_us - CAST(@render_us AS bigint), updated_at = @now
WHERE job.job_id = @job_id AND status = 'rendering'
RETURNING *;

-- name: JobFramesTaken :one
-- A new job takes frames over, before it is on a queue.
UPDATE job SET frames_completed = CAST(@frames AS bigint), frames_reused = CAST(@frames AS bigint), bytes_reused = CAST(@bytes AS bigint), seq = seq + CAST(@frames AS bigint),
  render_device = @render_device, device_name = @device_name, blender_version = @blender_version, renderer = @renderer, updated_at = @now
WHERE job_id = @job_id AND status IN ('awaiting_submit', 'queued') AND frames_completed = 0
RETURNING *;

-- name: FramesTaken :many
-- The frames that a job has taken over.
SELECT frame FROM frame WHERE job_id = @job_id AND origin <> '' ORDER BY frame;

-- name: FramesReusedKept :one
-- The frames that jobs of a workspace have taken over and that are kept, or will be, and their bytes.
SELECT CAST(coalesce(sum(frames_reused), 0) AS bigint) AS frames, CAST(coalesce(sum(bytes_reused), 0) AS bigint) AS bytes FROM job
WHERE workspace_id = @workspace_id AND artifact_removed_at = 0 AND status NOT IN ('failed', 'cancelled');

-- name: JobsTaking :one
-- The jobs under way that took frames over from a job.
SELECT count(*) FROM frame f JOIN job j ON j.job_id = f.job_id
WHERE f.origin = @origin AND f.origin <> '' AND j.status IN ('awaiting_submit', 'queued', 'rendering', 'packaging');

-- name: JobFindings :exec
UPDATE job SET findings = @findings WHERE job_id = @job_id;

-- name: JobCompleted :exec
UPDATE job SET charged_cents = @charged_cents, artifact_key = @artifact_key, artifact_filename = @artifact_filename,
  artifact_sha256 = @artifact_sha256, artifact_size = @artifact_size, render_device = @render_device, device_name = @device_name,
  blender_version = @blender_version, movie = @movie, completed_at = @now
WHERE job_id = @job_id;

-- name: JobFailed :exec
UPDATE job SET failure_code = @code, failure_message = @message, failed_at = @now WHERE job_id = @job_id;

-- name: JobCancelled :exec
UPDATE job SET cancel_reason = @reason, cancelled_at = @now WHERE job_id = @job_id;

-- name: JobArtifactRemoved :exec
UPDATE job SET artifact_removed_at = @now, seq = seq + 1 WHERE job_id = @job_id AND artifact_removed_at = 0;

-- name: JobViews :many
-- Jobs, the newest first, and what their endpoints, its leases and its queue position say of it now. It is
-- one statement because this read is the most frequent one. notified: whether a webhook is
-- notified of its end. held: how many of its frames are held. progress: how far those are
-- altogether, in thousandths of a frame. choosy: whether some worker may not take each of
-- its frames, because of earlier failures. stuck: whether no frame is in, and only keys
-- that held one for too long hold any. needs: what a worker's Blender must be built with
-- for it. kind: the kind of workers that it stays with. pools: those that it requires. paused: by whom it is. priority: 0
-- while it has no queue position. expires_at: when its artifact is due to be removed. served_us: its place in its workspace's queue. plays: whether its frames depend
-- on earlier ones; the members after it say how long that took. cut: whether one of its frames is
-- in strips; cutters: how many of these workers render now; uncut: what of them is to be rendered
-- yet, in thousandths of a frame. person_email and key_name: who began it.
SELECT sqlc.embed(job),
  CAST((EXISTS (SELECT 1 FROM webhook_endpoint w WHERE w.workspace_id = job.workspace_id AND w.job_id = '' AND w.deleted_at = 0 AND w.disabled_at = 0)
    OR EXISTS (SELECT 1 FROM webhook_endpoint o WHERE o.job_id = job.job_id AND o.job_id <> '')) AS boolean) AS notified,
  CAST(CASE WHEN job.status = 'rendering' THEN
    (SELECT count(*) FROM lease h WHERE h.queue = @queue AND h.subject = job.job_id AND h.state = 'held') ELSE 0 END AS bigint) AS held,
  CAST(CASE WHEN job.status = 'rendering' THEN
    (SELECT coalesce(sum(p.progress), 0) FROM lease p WHERE p.queue = @queue AND p.subject = job.job_id AND p.state = 'held') ELSE 0 END AS bigint) AS progress,
  CAST(CASE WHEN job.status = 'rendering' THEN
    EXISTS (SELECT 1 FROM failed_attempt a WHERE a.subject = job.job_id) OR EXISTS (SELECT 1 FROM candidate c WHERE c.job_id = job.job_id) ELSE false END AS boolean) AS choosy,
  CAST(CASE WHEN job.status = 'rendering' AND job.frames_completed = job.frames_reused THEN
    EXISTS (SELECT 1 FROM failed_attempt a WHERE a.subject = job.job_id AND a.code = 'frame_time_exceeded')
    AND NOT EXISTS (SELECT 1 FROM lease l JOIN worker k ON k.worker_id = l.holder WHERE l.queue = @queue AND l.subject = job.job_id AND l.state = 'held'
      AND NOT EXISTS (SELECT 1 FROM failed_attempt b WHERE b.subject = job.job_id AND b.key_id = k.key_id AND b.code = 'frame_time_exceeded')) ELSE false END AS boolean) AS stuck,
  CAST(CASE WHEN job.status = 'completed' AND job.artifact_removed_at = 0 THEN
    coalesce((SELECT x.due_at FROM lease x WHERE x.lease_id = 'expire:artifact/' || job.job_id || ':0'), 0) ELSE 0 END AS bigint) AS expires_at,
  CAST(coalesce(mine.served_us, 0) AS bigint) AS served_us, CAST(coalesce(ours.served_us, 0) AS bigint) AS workspace_served_us,
  CAST(coalesce(mine.needs, 0) AS bigint) AS needs, CAST(coalesce(mine.kind, '') AS text) AS kind, CAST(coalesce(mine.pools, 1) AS bigint) AS pools,
  CAST(coalesce(mine.paused, '') AS text) AS paused, CAST(coalesce(mine.priority, 0) AS bigint) AS priority,
  CAST(coalesce(mine.plays, 0) = 1 AS boolean) AS plays, CAST(coalesce(mine.plays_from, 0) AS bigint) AS plays_from,
  CAST(coalesce(mine.played, 0) AS bigint) AS played, CAST(coalesce(mine.play_us, 0) AS bigint) AS play_us,
  CAST(CASE WHEN job.status = 'rendering' THEN EXISTS (SELECT 1 FROM strip s WHERE s.job_id = job.job_id AND s.is_open = 1) ELSE false END AS boolean) AS cut,
  CAST(CASE WHEN job.status = 'rendering' THEN (SELECT count(*) FROM lease c WHERE c.queue = 'strip' AND c.subject = job.job_id AND c.state = 'held') ELSE 0 END AS bigint) AS cutters,
  CAST(CASE WHEN job.status = 'rendering' THEN (SELECT coalesce(sum((1000 - coalesce((
    SELECT x.progress FROM lease x WHERE x.queue = 'strip' AND x.subject = s.job_id AND x.item = s.frame * 16 + s.part AND x.state = 'held'), 0)) / s.parts), 0)
    FROM strip s WHERE s.job_id = job.job_id AND s.is_open = 1 AND s.delivered_at = 0) ELSE 0 END AS bigint) AS uncut,
  CAST(coalesce((SELECT p.email FROM person p WHERE p.person_id = job.started_by), '') AS text) AS person_email,
  CAST(coalesce((SELECT a.name FROM account_key a WHERE a.key_id = job.key_id), (SELECT g.name FROM agent_key g WHERE g.key_id = job.key_id), '') AS text) AS key_name
FROM job LEFT JOIN turn mine ON mine.party = job.job_id LEFT JOIN turn ours ON ours.party = job.workspace_id
WHERE job.job_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(CAST(@ids AS text) AS json))))
ORDER BY job.job_id DESC;

-- name: JobPage :many
-- A page of a workspace's jobs, the newest first. It and the next two are statements of their
-- own because one that takes anything walks all jobs of the workspace where few or none are
-- meant, and sorts them where all are.
SELECT job_id FROM job WHERE workspace_id = @workspace_id AND job_id < @before
ORDER BY job_id DESC LIMIT CAST(@max AS bigint);

-- name: JobPageOf :many
-- JobPage of one status.
SELECT job_id FROM job WHERE workspace_id = @workspace_id AND status = @status AND job_id < @before
ORDER BY job_id DESC LIMIT CAST(@max AS bigint);

-- name: JobPageFound :many
-- JobPage, narrowed by a search. An empty status or an empty list of people matches every job.
-- The job was created at since or later, and before until. people lists the ids of the people who
-- may have started it, separated by commas, with a comma at each end. tag is a pattern for the tags,
-- written the same way, and each word a pattern for the name and tags; % matches every job. A job
-- whose id matches named needs none of the words. The range of the job includes first_frame and
-- last_frame; the caller checks which frames of that range it has. The index job_found covers all
-- columns. The additions of 0 stop planners from using job_of_day, which lacks some of them and
-- sorts differently.
SELECT job_id, frame_start, frame_end, frame_step, frame_count FROM job
WHERE workspace_id = @workspace_id AND job_id < @before AND (CAST(@status AS text) = '' OR status = CAST(@status AS text))
  AND created_at + 0 >= @since AND created_at + 0 < @until AND frame_start <= @first_frame AND frame_end >= @last_frame
  AND (CAST(@people AS text) = '' OR CAST(@people AS text) LIKE '%,' || started_by || ',%')
  AND ',' || tags || ',' LIKE CAST(@tag AS text) ESCAPE '\'
  AND ((search LIKE CAST(@word_1 AS text) ESCAPE '\' AND search LIKE CAST(@word_2 AS text) ESCAPE '\'
    AND search LIKE CAST(@word_3 AS text) ESCAPE '\' AND search LIKE CAST(@word_4 AS text) ESCAPE '\') OR job_id LIKE CAST(@named AS text) ESCAPE '\')
ORDER BY job_id DESC LIMIT CAST(@max AS bigint);

-- name: JobFrameLists :many
-- The frames of jobs, as their rows have them.
SELECT job_id, frames FROM job
WHERE workspace_id = @workspace_id AND job_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(CAST(@ids AS text) AS json))));

-- name: JobPageNewer :one
-- The id after which the page of newer jobs begins that ends where a page begins; no row where
-- that page is the first. The next two are those of JobPageOf and JobPageFound.
SELECT job_id FROM job WHERE workspace_id = @workspace_id AND job_id >= @before
ORDER BY job_id LIMIT 1 OFFSET CAST(@max AS bigint);

-- name: JobPageOfNewer :one
SELECT job_id FROM job WHERE workspace_id = @workspace_id AND status = @status AND job_id >= @before
ORDER BY job_id LIMIT 1 OFFSET CAST(@max AS bigint);

-- name: JobPageFoundNewer :many
-- JobPageFound of the jobs from before on, the oldest first.
SELECT job_id, frame_start, frame_end, frame_step, frame_count FROM job
WHERE workspace_id = @workspace_id AND job_id >= @before AND (CAST(@status AS text) = '' OR status = CAST(@status AS text))
  AND created_at + 0 >= @since AND created_at + 0 < @until AND frame_start <= @first_frame AND frame_end >= @last_frame
  AND (CAST(@people AS text) = '' OR CAST(@people AS text) LIKE '%,' || started_by || ',%')
  AND ',' || tags || ',' LIKE CAST(@tag AS text) ESCAPE '\'
  AND ((search LIKE CAST(@word_1 AS text) ESCAPE '\' AND search LIKE CAST(@word_2 AS text) ESCAPE '\'
    AND search LIKE CAST(@word_3 AS text) ESCAPE '\' AND search LIKE CAST(@word_4 AS text) ESCAPE '\') OR job_id LIKE CAST(@named AS text) ESCAPE '\')
ORDER BY job_id LIMIT CAST(@max AS bigint);

-- name: JobPauses :one
UPDATE job SET pauses = @pauses WHERE job_id = @job_id RETURNING *;

-- name: JobTag :exec
UPDATE job SET tags = @tags, search = @search WHERE job_id = @job_id;

-- name: JobsNeeding :many
-- Jobs of a workspace that failed, or wait for their submit: made since, the newest first.
SELECT job_id FROM job WHERE workspace_id = @workspace_id AND status IN ('failed', 'awaiting_submit') AND created_at >= @since
ORDER BY job_id DESC LIMIT CAST(@max AS bigint);

-- name: JobQueuedCount :one
SELECT count(*) FROM job WHERE status = 'queued';

-- name: JobSpentByKey :one
SELECT CAST(coalesce(sum(CASE WHEN status IN ('failed', 'cancelled') THEN 0 ELSE price_cents END), 0) AS bigint) FROM job
WHERE key_id = @key_id AND key_id <> '' AND created_at >= @since;

-- name: JobSpentByWorkspace :one
SELECT CAST(coalesce(sum(CASE WHEN status IN ('failed', 'cancelled') THEN 0 ELSE price_cents END), 0) AS bigint) FROM job
WHERE workspace_id = @workspace_id AND created_at >= @since;

-- name: JobSpentByPerson :one
SELECT CAST(coalesce(sum(CASE WHEN status IN ('failed', 'cancelled') THEN 0 ELSE price_cents END), 0) AS bigint) FROM job
WHERE started_by = @person_id AND started_by <> '' AND workspace_id = @workspace_id AND created_at >= @since;

-- name: JobNewestPrice :one
SELECT price_cents FROM job WHERE workspace_id = @workspace_id ORDER BY job_id DESC LIMIT 1;

-- name: FrameTimes :many
-- Of the frames that were in at this seq of the job, the newest first.
SELECT accepted_at, render_us FROM frame WHERE job_id = @job_id AND seq <= @seq AND origin = '' ORDER BY seq DESC LIMIT CAST(@max AS bigint);

-- name: JobsAlike :many
-- How long the first frames took of the newest completed job over the same file, or else
-- over a file of the same name, for the jobs of a workspace with fewer frames than that,
-- oldest first. For a file of the same name, or other settings, it gives both scenes, which may
-- differ. A job without one has no row.
SELECT j.job_id, CAST(avg(f.render_us) AS bigint) AS mean_us, CAST(min(f.render_us) AS bigint) AS low_us, CAST(max(f.render_us) AS bigint) AS high_us,
  CAST(CASE WHEN a.input_sha256 = j.input_sha256 AND a.settings = j.settings THEN '' WHEN q.scene <> '' THEN q.scene ELSE u.scene END AS text) AS scene,
  CAST(CASE WHEN a.input_sha256 = j.input_sha256 AND a.settings = j.settings THEN '' WHEN r.scene <> '' THEN r.scene ELSE v.scene END AS text) AS scene_then
FROM job j JOIN job a ON a.job_id = coalesce((
  SELECT s.job_id FROM job s
  WHERE s.workspace_id = j.workspace_id AND s.input_sha256 = j.input_sha256 AND s.status = 'completed'
  ORDER BY s.job_id DESC LIMIT 1), (
  SELECT n.job_id FROM job n
  WHERE n.workspace_id = j.workspace_id AND n.filename = j.filename AND n.status = 'completed'
  ORDER BY n.job_id DESC LIMIT 1))
JOIN frame f ON f.job_id = a.job_id JOIN upload u ON u.upload_id = j.upload_id JOIN upload v ON v.upload_id = a.upload_id
JOIN quote q ON q.quote_id = j.quote_id JOIN quote r ON r.quote_id = a.quote_id
WHERE j.workspace_id = @workspace_id AND j.job_id >= @oldest AND j.job_id <= @newest AND j.status IN ('queued', 'rendering')
  AND j.frames_completed - j.frames_reused < @fewer AND f.seq <= @upto AND f.origin = ''
GROUP BY j.job_id, j.input_sha256, a.input_sha256, j.settings, a.settings, q.scene, r.scene, u.scene, v.scene;

-- name: JobsLooked :many
-- What a frame takes according to the workspace's free previews of the same jobs' files, from
-- the day before each. A job without one has no row.
SELECT j.job_id, CAST(avg(p.frame_us) AS bigint) AS mean_us, CAST(min(p.frame_low_us) AS bigint) AS low_us, CAST(max(p.frame_high_us) AS bigint) AS high_us
FROM job j
JOIN preview p ON p.workspace_id = j.workspace_id AND p.created_at > j.created_at - 86400000000 AND p.settings = j.settings
JOIN upload u ON u.upload_id = p.upload_id AND u.sha256 = j.input_sha256
WHERE j.workspace_id = @workspace_id AND j.job_id >= @oldest AND j.job_id <= @newest AND j.status IN ('queued', 'rendering')
  AND j.frames_completed - j.frames_reused < @fewer AND p.render_us > 0
GROUP BY j.job_id;

-- name: ReceiptCreate :exec
INSERT INTO receipt (receipt_id, job_id, workspace_id, key_id, envelope, created_at)
VALUES (@receipt_id, @job_id, @workspace_id, @key_id, @envelope, @created_at);

-- name: ReceiptByJob :one
SELECT * FROM receipt WHERE job_id = @job_id;

-- name: JobSubmitted :exec
UPDATE job SET submitted_at = @now WHERE job_id = @job_id;

-- name: ReceiptGet :one
SELECT r.*, w.proof_page FROM receipt r JOIN workspace w ON w.workspace_id = r.workspace_id WHERE r.receipt_id = @receipt_id;

-- name: FrameTimesOfPage :many
-- FrameTimes of the rendering jobs of a workspace from oldest to newest; the newest
-- frames of each job first.
SELECT f.job_id, f.accepted_at, f.render_us FROM job j JOIN frame f ON f.job_id = j.job_id
WHERE j.workspace_id = @workspace_id AND j.status = 'rendering' AND j.job_id >= @oldest AND j.job_id <= @newest AND f.origin = ''
  AND f.seq >= (SELECT coalesce(min(n.seq), 0) FROM (
    SELECT g.seq FROM frame g WHERE g.job_id = j.job_id ORDER BY g.seq DESC LIMIT CAST(@max AS bigint)) AS n)
ORDER BY f.job_id, f.seq DESC;

-- name: AuditJobs :many
-- A page of jobs. The queries after it read the rest of what the store knows
-- about them.
SELECT * FROM job WHERE job_id > @after ORDER BY job_id LIMIT 500;

-- name: AuditJobQuotes :many
SELECT q.* FROM job j JOIN quote q ON q.quote_id = j.quote_id WHERE j.job_id > @after AND j.job_id <= @last;

-- name: AuditJobUploads :many
-- Without their scenes, which are long.
SELECT DISTINCT u.upload_id, u.workspace_id, u.filename, u.sha256, u.size_bytes, u.created_at, u.removed_at
FROM job j JOIN upload u ON u.upload_id = j.upload_id WHERE j.job_id > @after AND j.job_id <= @last;

-- name: AuditJobLedger :many
SELECT * FROM ledger_transaction WHERE job_id <> '' AND job_id > @after AND job_id <= @last;

-- name: AuditJobReceipts :many
-- Those of erased workspaces too.
SELECT r.receipt_id, r.job_id, r.workspace_id, r.created_at FROM receipt r WHERE r.job_id > @after AND r.job_id <= @last
UNION ALL
SELECT e.receipt_id, e.job_id, e.workspace_id, e.created_at FROM erased_receipt e WHERE e.job_id > @after AND e.job_id <= @last;

-- name: AuditJobEvents :many
SELECT * FROM webhook_event WHERE job_id <> '' AND job_id > @after AND job_id <= @last;

-- name: AuditJobFrames :many
-- The sums of accepted frames. bytes_reused has the outputs of those that were taken over.
SELECT f.job_id, count(*) AS frames, CAST(sum(f.render_us) AS bigint) AS render_us, CAST(coalesce(min(CASE WHEN f.origin = '' THEN f.accepted_at END), 0) AS bigint) AS first_at, CAST(max(f.accepted_at) AS bigint) AS last_at,
  CAST(sum(CASE WHEN f.origin <> '' THEN 1 ELSE 0 END) AS bigint) AS reused,
  CAST(sum(CASE WHEN f.origin <> '' THEN f.size_bytes ELSE 0 END) + coalesce((SELECT sum(o.size_bytes) FROM frame_output o WHERE o.job_id = f.job_id AND o.blob_key = ''), 0) AS bigint) AS bytes_reused,
  CAST(sum(CASE WHEN f.renderer = 'synthetic' THEN 1 ELSE 0 END) AS bigint) AS synthetic
FROM frame f WHERE f.job_id > @after AND f.job_id <= @last GROUP BY f.job_id;

-- name: AuditJobLastFrames :many
-- The frame that each job accepted last.
SELECT f.job_id, f.seq, f.device, f.device_name, f.blender_version FROM frame f
WHERE f.job_id > @after AND f.job_id <= @last AND f.seq = (SELECT max(g.seq) FROM frame g WHERE g.job_id = f.job_id);

-- name: AuditJobDoubts :many
-- How often accepted frames of a job may have been reopened: once for each attempt whose
-- picture was doubted; once for each whose stored picture was lost, and the job came back
-- from packaging for it.
SELECT subject, CAST(sum(CASE WHEN code = 'packaging_failed' THEN 2 ELSE 1 END) AS bigint) AS doubts FROM failed_attempt
WHERE (pixel_sha256 <> '' OR code = 'packaging_failed') AND subject > @after AND subject <= @last GROUP BY subject;

-- name: AuditJobKeys :many
-- The keys that spent.
SELECT key_id, workspace_id FROM account_key WHERE key_id IN (SELECT j.key_id FROM job j WHERE j.job_id > @after AND j.job_id <= @last)
UNION ALL
SELECT key_id, workspace_id FROM agent_key WHERE key_id IN (SELECT j.key_id FROM job j WHERE j.job_id > @after AND j.job_id <= @last);

-- name: AuditJobExpiries :many
-- Artifacts that are due for removal, or could not be removed.
SELECT subject FROM lease WHERE queue = 'expire' AND subject > 'artifact/' || CAST(@after AS text) AND subject <= 'artifact/' || CAST(@last AS text)
UNION ALL
SELECT subject FROM dead_letter WHERE queue = 'expire' AND subject > 'artifact/' || CAST(@after AS text) AND subject <= 'artifact/' || CAST(@last AS text);

-- name: AuditReceipts :many
-- A page of receipts, each with its job. One of ten thousand frames has 5 MB.
SELECT sqlc.embed(r), sqlc.embed(j) FROM receipt r JOIN job j ON j.job_id = r.job_id
WHERE r.receipt_id > @after ORDER BY r.receipt_id LIMIT 20;

-- name: AuditReceiptCount :one
SELECT count(*) FROM receipt;

-- name: AuditPackaging :many
-- Jobs in packaging without a task that will package them.
SELECT j.job_id FROM job j
WHERE j.status = 'packaging' AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.queue = 'package' AND l.subject = j.job_id);

-- name: AuditAwaiting :many
-- Jobs that wait for their submit without a task that will expire them.
SELECT j.job_id FROM job j
WHERE j.status = 'awaiting_submit' AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.queue = 'expire' AND l.subject = 'submit/' || j.job_id)
  AND NOT EXISTS (SELECT 1 FROM dead_letter g WHERE g.lease_id = 'expire:submit/' || j.job_id || ':0');

-- name: JobsOfAll :many
-- A page of the jobs of all workspaces, the newest first; a workspace or a status of ''
-- means any.
SELECT * FROM job
WHERE job_id < @before AND (CAST(@workspace_id AS text) = '' OR workspace_id = CAST(@workspace_id AS text))
  AND (CAST(@status AS text) = '' OR status = CAST(@status AS text))
ORDER BY job_id DESC
LIMIT CAST(@max AS bigint);

-- name: JobsOfAllNewer :one
-- The id after which the page of newer jobs begins; see JobPageNewer.
SELECT job_id FROM job
WHERE job_id >= @before AND (CAST(@workspace_id AS text) = '' OR workspace_id = CAST(@workspace_id AS text))
  AND (CAST(@status AS text) = '' OR status = CAST(@status AS text))
ORDER BY job_id LIMIT 1 OFFSET CAST(@max AS bigint);

-- name: JobStates :many
-- How many jobs of a workspace are in each state.
SELECT status, count(*) AS jobs FROM job WHERE workspace_id = @workspace_id GROUP BY status ORDER BY status;

-- name: NewestEvent :one
-- When something last happened, according to the newest rows; 0 in an empty store.
SELECT CAST(coalesce(max(t.at), 0) AS bigint) FROM (
  SELECT (SELECT j.updated_at FROM job j ORDER BY j.job_id DESC LIMIT 1) AS at
  UNION ALL SELECT (SELECT l.created_at FROM ledger_transaction l ORDER BY l.transaction_id DESC LIMIT 1)
  UNION ALL SELECT (SELECT max(w.seen_at) FROM worker w)
) AS t;

-- name: JobsUnfinished :one
-- How many jobs of a workspace have not ended.
SELECT count(*) FROM job WHERE workspace_id = @workspace_id AND status NOT IN ('completed', 'failed', 'cancelled');

-- name: JobsErase :many
-- An artifact goes as at its end: its removal raises seq.
UPDATE job SET filename = CAST(@filename AS text), search = CAST(@filename AS text), tags = '', request_id = '', settings = '', started_by = '',
  artifact_filename = CASE WHEN artifact_filename = '' THEN '' ELSE CAST(@filename AS text) END,
  failure_message = CASE WHEN failure_message = '' THEN '' ELSE CAST(@message AS text) END,
  seq = CASE WHEN status = 'completed' AND artifact_removed_at = 0 THEN seq + 1 ELSE seq END,
  artifact_removed_at = CASE WHEN status = 'completed' AND artifact_removed_at = 0 THEN CAST(@now AS bigint) ELSE artifact_removed_at END
WHERE workspace_id = @workspace_id RETURNING *;

-- name: ReceiptDelete :exec
DELETE FROM receipt WHERE receipt_id = @receipt_id;

-- name: ErasedReceiptCreate :exec
INSERT INTO erased_receipt (receipt_id, job_id, workspace_id, key_id, log_index, entry, created_at, row_sum)
VALUES (@receipt_id, @job_id, @workspace_id, @key_id, @log_index, @entry, @created_at, @row_sum);

-- name: AuditJobErased :many
-- The erased workspaces of a page of jobs.
SELECT w.workspace_id FROM workspace w
WHERE w.erased_at <> 0 AND w.workspace_id IN (SELECT j.workspace_id FROM job j WHERE j.job_id > @after AND j.job_id <= @last);

-- name: AuditErasedReceipts :many
-- Erased receipts whose workspace is not.
SELECT e.receipt_id FROM erased_receipt e
WHERE NOT EXISTS (SELECT 1 FROM workspace w WHERE w.workspace_id = e.workspace_id AND w.erased_at <> 0);

-- name: JobFilenames :many
-- The file names of jobs of a workspace.
SELECT job_id, filename FROM job
WHERE workspace_id = @workspace_id AND job_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(CAST(@ids AS text) AS json))));

-- name: JobsForget :many
-- Takes a person who was erased out of the jobs that they began.
UPDATE job SET started_by = '' WHERE started_by = @person_id AND started_by <> ''
  AND NOT EXISTS (SELECT 1 FROM person p WHERE p.person_id = job.started_by) RETURNING *;

-- name: LedgerActors :many
-- The people and keys that began the jobs and payments of a ledger. The
-- reference of a payment begins with its id, which has 36 characters.
SELECT t.transaction_id, t.kind, CAST(coalesce(p.person_id, '') AS text) AS person_id, CAST(coalesce(p.email, '') AS text) AS email,
  CAST(coalesce(j.key_id, u.key_id, '') AS text) AS key_id, CAST(coalesce(a.name, g.name, '') AS text) AS key_name
FROM ledger_transaction t LEFT JOIN job j ON j.job_id = t.job_id
  LEFT JOIN top_up u ON u.top_up_id = substr(t.reference, 1, 36) AND t.kind = 'top_up'
  LEFT JOIN person p ON p.person_id = coalesce(j.started_by, u.started_by)
  LEFT JOIN account_key a ON a.key_id = coalesce(j.key_id, u.key_id) LEFT JOIN agent_key g ON g.key_id = coalesce(j.key_id, u.key_id)
WHERE t.workspace_id = @workspace_id AND t.transaction_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(CAST(@ids AS text) AS json))));
