-- name: StripAdd :exec
INSERT INTO strip (job_id, frame, part, parts, row_from, row_to, height, overlap, class, is_open, created_at, row_sum)
VALUES (@job_id, @frame, @part, @parts, @row_from, @row_to, @height, @overlap, @class, @is_open, @created_at, @row_sum);

-- name: StripsOf :many
SELECT * FROM strip WHERE job_id = @job_id AND frame = @frame ORDER BY part;

-- name: StripGet :one
SELECT * FROM strip WHERE job_id = @job_id AND frame = @frame AND part = @part;

-- name: StripsAnyOpen :one
SELECT count(*) FROM (SELECT s.job_id FROM strip s WHERE s.is_open = 1 LIMIT 1) AS cuts;

-- name: StripFrames :many
-- The frames that are cut now.
SELECT job_id, frame FROM strip WHERE is_open = 1 GROUP BY job_id, frame ORDER BY job_id, frame LIMIT CAST(@max AS bigint);

-- name: StripNext :one
-- The strip that waits longest of those that a worker may render, of workspaces with fewer frames in
-- workers' hands than they may have at once.
SELECT s.job_id, s.frame, s.part, l.lease_id FROM lease l JOIN strip s ON s.job_id = l.subject AND s.frame * 16 + s.part = l.item
WHERE l.queue = 'strip' AND l.state = 'waiting' AND l.due_at <= CAST(@now AS bigint) AND s.is_open = 1 AND s.class = CAST(@class AS text)
  AND ' ' || s.avoid || ' ' NOT LIKE '% ' || CAST(@worker_id AS text) || ' %'
  AND EXISTS (SELECT 1 FROM turn n WHERE n.party = l.subject AND (n.needs & CAST(@lacks AS bigint)) = 0 AND (n.pools & CAST(@pools AS bigint)) = n.pools AND n.kind IN ('', 'any', CAST(@kind AS text)))
  AND NOT EXISTS (SELECT 1 FROM turn j JOIN turn w ON w.party = j.within AND w.most_held > 0 WHERE j.party = l.subject AND w.most_held <= (
    SELECT count(*) FROM turn t JOIN lease h ON h.subject = t.party AND h.queue IN ('frame', 'strip') AND h.state = 'held' AND h.holder <> 'service' WHERE t.within = j.within))
ORDER BY l.due_at, l.subject, l.item LIMIT 1;

-- name: StripsReady :one
-- A frame of which all strips are in, and which the service keeps for a worker that finishes it.
SELECT s.job_id, s.frame FROM strip s JOIN lease l ON l.lease_id = 'frame:' || s.job_id || ':' || CAST(s.frame AS text)
WHERE s.is_open = 1 AND s.class = CAST(@class AS text) AND l.holder = CAST(@holder AS text)
  AND EXISTS (SELECT 1 FROM turn n WHERE n.party = s.job_id AND (n.needs & CAST(@lacks AS bigint)) = 0 AND (n.pools & CAST(@pools AS bigint)) = n.pools AND n.kind IN ('', 'any', CAST(@kind AS text)))
  AND NOT EXISTS (SELECT 1 FROM turn j JOIN turn w ON w.party = j.within AND w.most_held > 0 WHERE j.party = s.job_id AND w.most_held <= (
    SELECT count(*) FROM turn t JOIN lease h ON h.subject = t.party AND h.queue IN ('frame', 'strip') AND h.state = 'held' AND h.holder <> 'service' WHERE t.within = j.within))
GROUP BY s.job_id, s.frame HAVING min(s.delivered_at) > 0 ORDER BY max(s.delivered_at), s.job_id LIMIT 1;

-- name: StripsDue :one
-- How much of strips waits for workers: strips to render, and frames to finish.
SELECT CAST((SELECT count(*) FROM (SELECT l.lease_id FROM lease l WHERE l.queue = 'strip' AND l.state = 'waiting' AND l.due_at <= @now LIMIT CAST(@most AS bigint)) AS waiting)
  + (SELECT count(*) FROM (SELECT s.job_id FROM strip s JOIN lease f ON f.lease_id = 'frame:' || s.job_id || ':' || CAST(s.frame AS text)
    WHERE s.is_open = 1 AND f.holder = CAST(@holder AS text) GROUP BY s.job_id, s.frame HAVING min(s.delivered_at) > 0 LIMIT CAST(@most AS bigint)) AS ready) AS bigint);

-- name: StripWorkers :one
-- How many workers of a class and kind may render strips for a job, other than some: online,
-- able, not suspended; and how many of these hold nothing.
SELECT count(*) AS online,
  CAST(coalesce(sum(CASE WHEN EXISTS (SELECT 1 FROM lease h WHERE h.holder = o.worker_id AND h.state = 'held' AND h.queue IN ('frame', 'strip')) THEN 0 ELSE 1 END), 0) AS bigint) AS idle
FROM worker o
WHERE o.seen_at >= @since AND o.suspended_until <= @now AND o.unable = '' AND o.strips = 1
  AND o.device || '|' || o.device_name || '|' || o.renderer || '|' || o.blender_version || '|' || o.build_hash = CAST(@class AS text)
  AND ' ' || CAST(@avoid AS text) || ' ' NOT LIKE '% ' || o.worker_id || ' %'
  AND EXISTS (SELECT 1 FROM turn n WHERE n.party = @job_id AND (n.needs & o.lacks) = 0 AND (n.pools & o.pools) = n.pools AND n.kind IN ('', 'any', o.kind));

-- name: StripRivals :one
-- The frames that wait for a worker.
SELECT CAST(coalesce(sum(t.waiting), 0) AS bigint) FROM turn t WHERE t.within <> '' AND t.waiting > 0 AND t.paused = '';

-- name: StripDelivered :one
UPDATE strip SET worker_id = @worker_id, key_id = @key_id, attempt = @attempt, blob_key = @blob_key, sha256 = @sha256, size_bytes = @size_bytes,
  seam_above = @seam_above, seam_below = @seam_below, render_us = @render_us, delivered_at = @delivered_at
WHERE job_id = @job_id AND frame = @frame AND part = @part RETURNING *;

-- name: StripDoubted :one
-- A delivered strip is to be rendered once more, by others and with more rows of its neighbours.
UPDATE strip SET doubted = worker_id, doubted_key = key_id, doubted_above = seam_above, doubted_below = seam_below, avoid = CAST(@avoid AS text), overlap = @overlap,
  worker_id = '', key_id = '', attempt = 0, blob_key = '', sha256 = '', size_bytes = 0, seam_above = '', seam_below = '', render_us = 0, delivered_at = 0
WHERE job_id = @job_id AND frame = @frame AND part = @part RETURNING *;

-- name: StripAvoids :one
-- A worker failed a strip.
UPDATE strip SET avoid = CAST(@avoid AS text) WHERE job_id = @job_id AND frame = @frame AND part = @part RETURNING *;

-- name: StripsClose :many
-- Their frame is accepted: the bytes and the sketches of seams go, the facts stay for the receipt.
UPDATE strip SET is_open = 0, blob_key = '', seam_above = substr(seam_above, 1, 64), seam_below = substr(seam_below, 1, 64),
  doubted_above = substr(doubted_above, 1, 64), doubted_below = substr(doubted_below, 1, 64) WHERE job_id = @job_id AND frame = @frame RETURNING *;

-- name: StripsDrop :exec
DELETE FROM strip WHERE job_id = @job_id AND frame = @frame;

-- name: StripCounts :many
-- In how many strips the accepted frames of a job were rendered that several workers rendered.
SELECT frame, count(*) AS strips FROM strip WHERE job_id = @job_id AND is_open = 0 GROUP BY frame;

-- name: StripsOfJob :many
-- The strips of a job's accepted frames.
SELECT * FROM strip WHERE job_id = @job_id AND is_open = 0 ORDER BY frame, part;

-- name: StripBytes :one
-- What the strips of a workspace take now.
SELECT CAST(coalesce(sum(s.size_bytes), 0) AS bigint) FROM strip s JOIN job j ON j.job_id = s.job_id WHERE s.is_open = 1 AND j.workspace_id = @workspace_id;

-- name: StripTimes :one
-- The times of a job's last accepted frame.
SELECT times FROM frame WHERE job_id = @job_id ORDER BY accepted_at DESC LIMIT 1;

-- name: StripPreviewed :one
-- What the workspace's previews of a job's file say that a frame takes; 0 where there is none.
-- Previews of the day before count even if the file was uploaded again for the job.
SELECT CAST(coalesce(avg(p.frame_us), 0) AS bigint) FROM job j
JOIN preview p ON p.workspace_id = j.workspace_id AND p.created_at > j.created_at - 86400000000 AND p.settings = j.settings
JOIN upload u ON u.upload_id = p.upload_id AND u.sha256 = j.input_sha256
WHERE j.job_id = @job_id AND p.frame_us > 0;

-- name: StripBands :one
-- What the bands of the newest of these previews took.
SELECT p.bands FROM job j
JOIN preview p ON p.workspace_id = j.workspace_id AND p.created_at > j.created_at - 86400000000 AND p.settings = j.settings
JOIN upload u ON u.upload_id = p.upload_id AND u.sha256 = j.input_sha256
WHERE j.job_id = @job_id AND p.bands <> '' ORDER BY p.ended_at DESC LIMIT 1;

-- name: StripCandidates :one
SELECT count(*) FROM candidate WHERE job_id = @job_id AND frame = @frame;

-- name: AuditStrips :many
-- A page of strips, each with its job and the state of its frame. The bound is repeated in
-- the join: otherwise a merge would read everything before the page.
SELECT sqlc.embed(s), j.status, j.frame_count, CAST(coalesce((SELECT f.frame FROM frame f WHERE f.job_id = s.job_id AND f.frame = s.frame), -1) AS bigint) AS accepted,
  CAST(coalesce((SELECT l.state FROM lease l WHERE l.queue = 'strip' AND l.subject = s.job_id AND l.item = s.frame * 16 + s.part), '') AS text) AS lease_state,
  CAST(coalesce((SELECT l.state FROM lease l WHERE l.queue = 'frame' AND l.subject = s.job_id AND l.item = s.frame), '') AS text) AS frame_lease
FROM strip s JOIN job j ON j.job_id = s.job_id AND j.job_id >= CAST(@job_id AS text)
WHERE (s.job_id, s.frame, s.part) > (CAST(@job_id AS text), CAST(@frame AS bigint), CAST(@part AS bigint)) ORDER BY s.job_id, s.frame, s.part LIMIT 500;

-- name: AuditStripLeases :many
-- Leases of strips that no frame is cut into.
SELECT l.lease_id FROM lease l WHERE l.queue = 'strip' AND NOT EXISTS (SELECT 1 FROM strip s WHERE s.job_id = l.subject AND s.frame * 16 + s.part = l.item AND s.is_open = 1);

-- name: StripsHeldLong :many
-- Strips that a worker holds since before a time.
SELECT * FROM lease l WHERE l.queue = 'strip' AND l.state = 'held' AND l.due_at < CAST(@before AS bigint) ORDER BY l.due_at LIMIT 500;

-- name: StripBlob :one
-- The bytes of a strip, for the worker that finishes its frame.
SELECT s.blob_key FROM strip s JOIN lease l ON l.lease_id = 'frame:' || s.job_id || ':' || CAST(s.frame AS text)
WHERE s.job_id = @job_id AND s.sha256 = @sha256 AND s.is_open = 1 AND s.blob_key <> '' AND l.state = 'held' AND l.holder = CAST(@worker_id AS text) LIMIT 1;

-- name: StripFrameHeld :one
-- The first frame of a job that a worker holds, of a job without one that waits.
SELECT l.item, l.holder, l.failures FROM lease l WHERE l.queue = 'frame' AND l.subject = @job_id AND l.state = 'held' AND l.holder <> 'service'
  AND NOT EXISTS (SELECT 1 FROM lease w WHERE w.queue = 'frame' AND w.subject = l.subject AND w.state = 'waiting')
ORDER BY l.item LIMIT 1;
