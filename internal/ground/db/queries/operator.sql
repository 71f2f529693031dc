-- name: ActAdd :exec
INSERT INTO operator_act (act_id, acted_at, actor, way, what, workspace_id, reason, row_sum, request_id)
VALUES (@act_id, @acted_at, @actor, @way, @what, @workspace_id, @reason, @row_sum, @request_id);

-- name: Acts :many
SELECT * FROM operator_act WHERE act_id < @before ORDER BY act_id DESC LIMIT CAST(@max AS bigint);

-- name: ActsNewer :one
-- The id after which the page of newer acts begins that ends where a page begins; no row where
-- that page is the first.
SELECT act_id FROM operator_act WHERE act_id >= @before ORDER BY act_id LIMIT 1 OFFSET CAST(@max AS bigint);

-- name: ActsErase :many
-- Removes the words that were said about an erased workspace, and the tags that it required.
UPDATE operator_act SET reason = '', what = CASE WHEN what LIKE CAST(@tagged AS text) || '%' THEN CAST(@untagged AS text) ELSE what END
WHERE workspace_id = @workspace_id AND (reason <> '' OR what LIKE CAST(@tagged AS text) || '%') RETURNING *;

-- name: ActorErase :many
UPDATE operator_act SET actor = 'erased' WHERE actor = @actor RETURNING *;

-- name: AuditRunAdd :exec
INSERT INTO audit_run (run_id, began_at, ended_at, breaches, found, row_sum) VALUES (@run_id, @began_at, @ended_at, @breaches, @found, @row_sum);

-- name: AuditRunLast :one
SELECT * FROM audit_run ORDER BY run_id DESC LIMIT 1;

-- name: AuditRunsForget :exec
DELETE FROM audit_run WHERE run_id < (SELECT min(l.run_id) FROM (SELECT r.run_id FROM audit_run r ORDER BY r.run_id DESC LIMIT CAST(@keep AS bigint)) AS l);


-- name: LogFrames :many
-- The accepted frames of a job, in the order of their acceptance, without Blender's output.
SELECT f.frame, f.attempt, f.worker_id, CAST(coalesce((SELECT w.name FROM worker w WHERE w.worker_id = f.worker_id), '') AS text) AS worker_name,
  f.render_us, f.blender_version, f.device, f.finding, f.accepted_at
FROM frame f WHERE f.job_id = @job_id ORDER BY f.ordinal;

-- name: LogFailures :many
-- The failed attempts at a job's frames, the first one first.
SELECT f.item, f.attempt, f.holder, CAST(coalesce((SELECT w.name FROM worker w WHERE w.worker_id = f.holder), '') AS text) AS worker_name,
  f.code, f.message, f.log, f.failed_at
FROM failed_attempt f WHERE f.subject = @job_id ORDER BY f.failed_at, f.lease_id, f.attempt;

-- name: LogHeld :many
-- The frames of a job that workers hold, each since due_at.
SELECT l.item, l.attempt, l.holder, CAST(coalesce((SELECT w.name FROM worker w WHERE w.worker_id = l.holder), '') AS text) AS worker_name,
  l.progress, l.due_at
FROM lease l WHERE l.queue = 'frame' AND l.subject = @job_id AND l.state = 'held' ORDER BY l.item;

-- name: LogMoney :many
-- What was booked for a job.
SELECT kind, reference, amount_cents, created_at FROM ledger_transaction WHERE job_id = @job_id AND job_id <> '' ORDER BY transaction_id;

-- name: LogActs :many
-- What operators did to a job, by its id in their words.
SELECT * FROM operator_act WHERE workspace_id = @workspace_id AND what LIKE '%' || CAST(@job_id AS text) || '%' ORDER BY act_id;

-- name: LogEnd :one
-- The request that ended a job; '' where none did.
SELECT request_id FROM webhook_event WHERE job_id = @job_id AND job_id <> '';

-- name: LogCalls :many
-- The calls of webhooks that told of a job's end.
SELECT a.started_at, a.status, a.error, n.url FROM webhook_delivery d
JOIN webhook_attempt a ON a.delivery_id = d.delivery_id JOIN webhook_endpoint n ON n.endpoint_id = d.endpoint_id
WHERE d.job_id = @job_id AND d.job_id <> '' ORDER BY a.started_at, a.delivery_id, a.number;

-- name: Usage :many
-- What workspaces used since the beginning of a month, by month, and by the tags of the jobs if
-- by_tags is 1: jobs that completed, and refunds; all workspaces with ''.
SELECT u.month, u.workspace_id, CAST(u.tags AS text) AS tags, CAST(sum(u.jobs) AS bigint) AS jobs, CAST(sum(u.frames) AS bigint) AS frames, CAST(sum(u.render_us) AS bigint) AS render_us,
  CAST(sum(u.charged_cents) AS bigint) AS charged_cents, CAST(sum(u.refunded_cents) AS bigint) AS refunded_cents
FROM (
  SELECT CAST(to_char(to_timestamp(j.completed_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM') AS text) AS month, j.workspace_id, CASE CAST(@by_tags AS bigint) WHEN 1 THEN j.tags ELSE '' END AS tags,
    1 AS jobs, j.frame_count AS frames, j.render_us, j.charged_cents, 0 AS refunded_cents
  FROM job j WHERE j.status = 'completed' AND j.completed_at >= CAST(@since AS bigint) AND (CAST(@workspace_id AS text) = '' OR j.workspace_id = @workspace_id)
  UNION ALL
  SELECT CAST(to_char(to_timestamp(t.created_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM') AS text) AS month, t.workspace_id, CASE CAST(@by_tags AS bigint) WHEN 1 THEN coalesce(r.tags, '') ELSE '' END AS tags,
    0 AS jobs, 0 AS frames, 0 AS render_us, 0 AS charged_cents, t.amount_cents AS refunded_cents
  FROM ledger_transaction t LEFT JOIN job r ON r.job_id = t.job_id WHERE t.kind = 'refund' AND t.created_at >= CAST(@since AS bigint) AND (CAST(@workspace_id AS text) = '' OR t.workspace_id = @workspace_id)
) AS u
GROUP BY u.month, u.workspace_id, u.tags
ORDER BY u.month DESC, sum(u.charged_cents) DESC, u.workspace_id, u.tags;

-- name: FramesByHour :many
-- Frames that workers delivered since a time, and how many workers did, by the hour since 1970.
SELECT CAST(accepted_at / 3600000000 AS bigint) AS hour, CAST(count(*) AS bigint) AS frames, CAST(count(DISTINCT worker_id) AS bigint) AS workers
FROM frame WHERE accepted_at >= CAST(@since AS bigint) AND worker_id <> '' GROUP BY CAST(accepted_at / 3600000000 AS bigint);

-- name: ChargesByHour :many
-- What completed jobs were charged since a time, by the hour. first is an id of about that time:
-- ids grow with time, and are an index.
SELECT CAST(created_at / 3600000000 AS bigint) AS hour, CAST(sum(amount_cents) AS bigint) AS cents
FROM ledger_transaction WHERE transaction_id >= CAST(@first AS text) AND created_at >= CAST(@since AS bigint) AND kind = 'capture'
GROUP BY CAST(created_at / 3600000000 AS bigint);

-- name: JobSpans :many
-- From which hour to which jobs were in the queue or rendered: those that are now (0), and those
-- that ended since a time.
SELECT CAST(j.submitted_at / 3600000000 AS bigint) AS began, CAST(0 AS bigint) AS ended, CAST(count(*) AS bigint) AS jobs
FROM job j WHERE j.status IN ('queued', 'rendering', 'packaging') GROUP BY CAST(j.submitted_at / 3600000000 AS bigint)
UNION ALL
SELECT CAST(j.submitted_at / 3600000000 AS bigint) AS began, CAST(t.created_at / 3600000000 AS bigint) AS ended, CAST(count(*) AS bigint) AS jobs
FROM ledger_transaction t JOIN job j ON j.job_id = t.job_id
WHERE t.transaction_id >= CAST(@first AS text) AND t.created_at >= CAST(@since AS bigint) AND t.kind IN ('capture', 'release') AND j.submitted_at > 0
GROUP BY CAST(j.submitted_at / 3600000000 AS bigint), CAST(t.created_at / 3600000000 AS bigint);
