-- name: JobIDs :many
SELECT job_id, status FROM job WHERE job_id > @after ORDER BY job_id LIMIT 500;

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

-- name: AuditTurns :many
-- Turns that do not say what waits.
SELECT t.party, t.waiting, count(l.lease_id) AS leases
FROM turn t LEFT JOIN lease l ON l.subject = t.party AND l.queue = 'frame' AND l.state = 'waiting'
WHERE t.within <> ''
GROUP BY t.party, t.waiting
HAVING count(l.lease_id) <> t.waiting
UNION ALL
SELECT w.party, w.waiting, CAST(coalesce(sum(j.waiting), 0) AS bigint) AS leases
FROM turn w LEFT JOIN turn j ON j.within = w.party
WHERE w.within = ''
GROUP BY w.party, w.waiting
HAVING coalesce(sum(j.waiting), 0) <> w.waiting
UNION ALL
SELECT j.job_id, CAST(0 AS bigint) AS waiting, CAST(1 AS bigint) AS leases FROM job j
WHERE (j.status IN ('queued', 'rendering')) <> EXISTS (SELECT 1 FROM turn t WHERE t.party = j.job_id);

-- name: AuditAwaiting :many
-- Jobs that wait for their submit and that nobody will ever expire.
SELECT j.job_id FROM job j
WHERE j.status = 'awaiting_submit' AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.queue = 'expire' AND l.subject = 'submit/' || j.job_id)
  AND NOT EXISTS (SELECT 1 FROM dead_letter g WHERE g.lease_id = 'expire:submit/' || j.job_id || ':0');
