-- SQLite runs these statements in place of those of the same name in queries/. It has
-- no row locks and needs none, because its only writer has the database to itself, and
-- its JSON functions have other names. ?1 is the first parameter of the statement, as
-- sqlc numbers them.
--
-- TestSQLiteStatementsMatchTheirOriginals compares each with its original.

-- name: FramesTake
INSERT INTO frame (job_id, frame, seq, ordinal, file, blob_key, sha256, pixel_sha256, size_bytes, width, height, render_us, worker_id, attempt,
  renderer, device, device_name, blender_version, build_hash, switched, log, accepted_at, finding, blank, times, checked, outputs, origin, row_sum)
SELECT CAST(?1 AS text), f.frame, CAST(?2 AS bigint) + (r.value ->> 'ordinal'), r.value ->> 'ordinal', r.value ->> 'file',
  '', f.sha256, f.pixel_sha256, f.size_bytes, f.width, f.height, 0, '', 0,
  f.renderer, f.device, f.device_name, f.blender_version, f.build_hash, f.switched, '', CAST(?3 AS bigint), '', f.blank, '', f.checked, f.outputs, f.job_id, r.value ->> 'row_sum'
FROM json_each(?4) AS r
JOIN frame f ON f.job_id = ?5 AND f.frame = r.value ->> 'frame';

-- name: FrameOutputsTake
INSERT INTO frame_output (job_id, frame, number, name, blob_key, sha256, size_bytes, row_sum)
SELECT CAST(?1 AS text), o.frame, o.number, r.value ->> 'name', '', o.sha256, o.size_bytes, r.value ->> 'row_sum'
FROM json_each(?2) AS r
JOIN frame_output o ON o.job_id = ?3 AND o.frame = r.value ->> 'frame' AND o.number = r.value ->> 'number';

-- name: InvitationsToLock
SELECT CAST(?1 AS text) AS pg_advisory_xact_lock;

-- name: LeaseAddItems
INSERT INTO lease (lease_id, queue, subject, item, state, due_at)
SELECT CAST(?1 AS text) || ':' || CAST(?2 AS text) || ':' || i.value, CAST(?1 AS text), CAST(?2 AS text), CAST(i.value AS bigint), 'waiting', CAST(?3 AS bigint)
FROM json_each(?4) AS i
WHERE true
ON CONFLICT DO NOTHING;

-- name: LeaseClaim
UPDATE lease
SET state = 'held', attempt = attempt + 1, holder = ?1, lapses_at = ?2, progress = 0,
  guard = CAST(attempt + 1 AS text) || ' ' || CAST(failures AS text) || ' ' || ?1
WHERE lease_id IN (
  SELECT l.lease_id FROM lease l
  WHERE l.queue = ?3 AND l.state = 'waiting' AND l.due_at <= ?4
  ORDER BY l.due_at, l.subject, l.item
  LIMIT ?5)
RETURNING *;

-- name: LeaseClaimOf
-- The plus keeps SQLite from using the index by due_at: it would have to sort all
-- waiting rows.
UPDATE lease
SET state = 'held', attempt = attempt + 1, holder = ?1, lapses_at = ?2, due_at = ?3, progress = 0,
  guard = CAST(attempt + 1 AS text) || ' ' || CAST(failures AS text) || ' ' || ?1
WHERE lease_id IN (
  SELECT l.lease_id FROM lease l
  WHERE l.queue = ?4 AND l.subject = ?5 AND l.state = 'waiting' AND +l.due_at <= ?3
    AND l.item NOT IN (SELECT s.value FROM json_each(?6) s)
  ORDER BY l.item
  LIMIT ?7)
RETURNING *;

-- name: LeaseClaimIDs
UPDATE lease
SET state = 'held', attempt = attempt + 1, holder = ?1, lapses_at = ?2, due_at = ?3, progress = 0,
  guard = CAST(attempt + 1 AS text) || ' ' || CAST(failures AS text) || ' ' || ?1
WHERE lease_id IN (SELECT i.value FROM json_each(?4) i) AND state = 'waiting' AND due_at <= ?3
RETURNING *;

-- name: LeaseLock
SELECT lease_id FROM lease WHERE lease_id = ?1;

-- name: OperatorKeysLock
SELECT key_id FROM operator_key WHERE revoked_at = 0 ORDER BY key_id;

-- name: PersonLock
SELECT person_id, email, workspace_id, created_at, row_sum FROM person WHERE person_id = ?1;

-- name: PulseLock
SELECT * FROM pulse;

-- name: TurnLock
SELECT * FROM turn WHERE party = ?1;

-- name: PoolsLock
SELECT bit FROM pool WHERE bit = 1;

-- name: WorkerLock
SELECT * FROM worker WHERE worker_id = ?1;

-- name: JobLock
SELECT * FROM job WHERE job_id = ?1;

-- name: UploadLock
SELECT * FROM upload WHERE upload_id = ?1;

-- name: QuoteLock
SELECT * FROM quote WHERE quote_id = ?1 AND workspace_id = ?2;

-- name: PreviewLock
SELECT * FROM preview WHERE preview_id = ?1;

-- name: PreviewNext
SELECT * FROM preview
WHERE status = 'queued' AND NOT EXISTS (SELECT 1 FROM worker o LEFT JOIN turn n ON n.party = preview.workspace_id WHERE o.worker_id = ?1 AND ((preview.needs & o.lacks) <> 0 OR (coalesce(n.pools, 1) & o.pools) <> coalesce(n.pools, 1)))
ORDER BY ordinal, preview_id LIMIT 1;

-- name: PreviewsOfUpload
SELECT * FROM preview WHERE upload_id = ?1 ORDER BY preview_id;

-- name: WorkspaceLock
SELECT erased_at FROM workspace WHERE workspace_id = ?1;

-- name: AgentKeyLimit
SELECT spend_limit_cents FROM agent_key WHERE key_id = ?1;

-- name: LedgerLock
SELECT * FROM ledger_transaction WHERE kind = ?1 AND reference = ?2;

-- name: LogLock
SELECT size, peaks FROM receipt_log WHERE log_id = 1;

-- name: BenchmarkLock
SELECT last_number, last_group, last_facet, stale FROM benchmark_counter WHERE counter_id = 1;

-- name: WebhookEndpointLock
SELECT * FROM webhook_endpoint WHERE endpoint_id = ?1;

-- name: WebhookEventLock
SELECT event_id FROM webhook_event WHERE event_id = ?1;

-- name: WebhookEventsSince
SELECT event_id, created_at FROM webhook_event
WHERE workspace_id = ?1 AND job_id <> '' AND forgotten_at = 0
  AND created_at >= ?2 AND (created_at > ?2 OR event_id > ?3) AND created_at <= ?4
ORDER BY created_at, event_id LIMIT ?5;

-- name: WebhookEventsOver
SELECT e.event_id, e.job_id, e.created_at FROM webhook_event e
WHERE e.forgotten_at = 0 AND e.created_at <= ?1
  AND e.created_at >= ?2 AND (e.created_at > ?2 OR e.event_id > ?3)
  AND NOT EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.event_id = e.event_id AND (d.status = 'pending' OR d.ended_at > ?1))
ORDER BY e.created_at, e.event_id LIMIT ?4;

-- name: ContentLock
SELECT c.* FROM content c
WHERE (c.workspace_id, c.sha256) IN (SELECT p.workspace_id, p.sha256 FROM project_content p WHERE p.upload_id = ?1)
ORDER BY c.sha256;

-- name: ContentsOf
SELECT c.* FROM content c
WHERE c.workspace_id = ?1 AND c.sha256 IN (SELECT h.value FROM json_each(?2) AS h);

-- name: ContentHold
SELECT c.* FROM content c
WHERE c.workspace_id = ?1 AND c.sha256 IN (SELECT h.value FROM json_each(?2) AS h)
ORDER BY c.sha256;

-- name: ProjectUse
INSERT INTO project_content (upload_id, workspace_id, sha256)
SELECT CAST(?1 AS text), CAST(?2 AS text), h.value FROM json_each(?3) AS h;

-- name: ContentLoose
SELECT * FROM content c
WHERE c.created_at < CAST(?1 AS bigint) AND (c.workspace_id = CAST(?2 AS text) OR CAST(?2 AS text) = '')
  AND NOT EXISTS (SELECT 1 FROM project_content p WHERE p.workspace_id = c.workspace_id AND p.sha256 = c.sha256)
ORDER BY c.workspace_id, c.sha256 LIMIT 500;

-- name: CredentialsAlive
WITH asked AS (
  SELECT i.value AS id FROM json_each(?1) i
)
SELECT k.key_id FROM account_key k WHERE k.key_id IN (SELECT id FROM asked) AND k.revoked_at = 0
UNION ALL SELECT a.key_id FROM agent_key a WHERE a.key_id IN (SELECT id FROM asked) AND a.revoked_at = 0 AND (a.expires_at = 0 OR a.expires_at > CAST(?2 AS bigint))
UNION ALL SELECT n.key_id FROM node_key n WHERE n.key_id IN (SELECT id FROM asked) AND n.revoked_at = 0
UNION ALL SELECT o.key_id FROM operator_key o WHERE o.key_id IN (SELECT id FROM asked) AND o.revoked_at = 0 AND (o.expires_at = 0 OR o.expires_at > CAST(?2 AS bigint))
UNION ALL SELECT s.token_sha256 FROM session s WHERE s.token_sha256 IN (SELECT id FROM asked) AND s.expires_at > CAST(?2 AS bigint);

-- name: TopUpLock
SELECT top_up_id, workspace_id, amount_cents, status, session_id, payment_id, customer_id, checkout_url, receipt_url, refunded_cents, disputed_cents, created_at, paid_at, checked_at, row_sum, started_by, key_id
FROM top_up WHERE top_up_id = ?1;

-- name: OauthRequestLock
SELECT * FROM oauth_request WHERE secret_sha256 = ?1;

-- name: OauthRequestByUserCode
SELECT * FROM oauth_request WHERE user_code = CAST(?1 AS text) AND user_code <> '';

-- name: OauthGrantLock
SELECT * FROM oauth_grant WHERE family_sha256 = ?1;

-- name: Spend
SELECT strftime('%Y-%m', t.created_at / 1000000, 'unixepoch') AS month, coalesce(j.key_id, '') AS key_id,
  coalesce(a.name, g.name, '') AS key_name,
  coalesce(p.person_id, '') AS person_id, coalesce(p.email, '') AS email, coalesce(j.tags, '') AS tags,
  sum(CASE t.kind WHEN 'capture' THEN t.amount_cents ELSE 0 END) AS charged_cents,
  sum(CASE t.kind WHEN 'refund' THEN t.amount_cents ELSE 0 END) AS refunded_cents
FROM ledger_transaction t LEFT JOIN job j ON j.job_id = t.job_id LEFT JOIN account_key a ON a.key_id = j.key_id LEFT JOIN agent_key g ON g.key_id = j.key_id
  LEFT JOIN person p ON p.person_id = j.started_by
WHERE t.workspace_id = ?1 AND t.kind IN ('capture', 'refund') AND t.created_at >= ?2 AND t.created_at < ?3
GROUP BY 1, 2, 3, 4, 5, 6
ORDER BY 1 DESC, 7 DESC, 2, 4, 6;

-- name: Usage
SELECT u.month, u.workspace_id, CAST(u.tags AS text) AS tags, CAST(sum(u.jobs) AS bigint) AS jobs, CAST(sum(u.frames) AS bigint) AS frames, CAST(sum(u.render_us) AS bigint) AS render_us,
  CAST(sum(u.charged_cents) AS bigint) AS charged_cents, CAST(sum(u.refunded_cents) AS bigint) AS refunded_cents
FROM (
  SELECT strftime('%Y-%m', j.completed_at / 1000000, 'unixepoch') AS month, j.workspace_id, CASE ?1 WHEN 1 THEN j.tags ELSE '' END AS tags,
    1 AS jobs, j.frame_count AS frames, j.render_us, j.charged_cents, 0 AS refunded_cents
  FROM job j WHERE j.status = 'completed' AND j.completed_at >= ?2 AND (?3 = '' OR j.workspace_id = ?3)
  UNION ALL
  SELECT strftime('%Y-%m', t.created_at / 1000000, 'unixepoch') AS month, t.workspace_id, CASE ?1 WHEN 1 THEN coalesce(r.tags, '') ELSE '' END AS tags,
    0 AS jobs, 0 AS frames, 0 AS render_us, 0 AS charged_cents, t.amount_cents AS refunded_cents
  FROM ledger_transaction t LEFT JOIN job r ON r.job_id = t.job_id WHERE t.kind = 'refund' AND t.created_at >= ?2 AND (?3 = '' OR t.workspace_id = ?3)
) AS u
GROUP BY u.month, u.workspace_id, u.tags
ORDER BY u.month DESC, sum(u.charged_cents) DESC, u.workspace_id, u.tags;
