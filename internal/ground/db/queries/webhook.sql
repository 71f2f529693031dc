-- name: WebhookEndpointCreate :exec
INSERT INTO webhook_endpoint (endpoint_id, workspace_id, job_id, url, description, lane, failing_since, last_failed_at, disabled_at, disabled_reason, created_at, deleted_at, row_sum)
VALUES (@endpoint_id, @workspace_id, @job_id, @url, @description, @lane, @failing_since, @last_failed_at, @disabled_at, @disabled_reason, @created_at, @deleted_at, @row_sum);

-- name: WebhookEndpointLock :one
SELECT * FROM webhook_endpoint WHERE endpoint_id = @endpoint_id FOR UPDATE;

-- name: WebhookEndpointGet :one
SELECT * FROM webhook_endpoint WHERE endpoint_id = @endpoint_id;

-- name: WebhookEndpointsOf :many
-- A workspace's own, the newest first.
SELECT * FROM webhook_endpoint WHERE workspace_id = @workspace_id AND job_id = '' AND deleted_at = 0 ORDER BY endpoint_id DESC;

-- name: WebhookTargets :many
-- The endpoints that are notified of the end of a job. Ordered by delivery queue, so that every
-- transaction that locks several uses one order.
SELECT * FROM webhook_endpoint w
WHERE w.workspace_id = @workspace_id AND w.job_id = '' AND w.deleted_at = 0 AND w.disabled_at = 0
UNION ALL
SELECT * FROM webhook_endpoint j WHERE j.job_id = @job_id AND j.job_id <> ''
ORDER BY lane, endpoint_id;

-- name: WebhookEndpointChange :one
UPDATE webhook_endpoint SET url = @url, description = @description WHERE endpoint_id = @endpoint_id RETURNING *;

-- name: WebhookEndpointDisable :one
UPDATE webhook_endpoint SET disabled_at = @now, disabled_reason = @reason WHERE endpoint_id = @endpoint_id AND disabled_at = 0 RETURNING *;

-- name: WebhookEndpointEnable :one
UPDATE webhook_endpoint SET disabled_at = 0, disabled_reason = '', failing_since = 0, last_failed_at = 0 WHERE endpoint_id = @endpoint_id RETURNING *;

-- name: WebhookEndpointDelete :one
UPDATE webhook_endpoint SET deleted_at = @now WHERE endpoint_id = @endpoint_id AND deleted_at = 0 RETURNING *;

-- name: WebhookEndpointHealth :one
UPDATE webhook_endpoint SET failing_since = @failing_since, last_failed_at = @last_failed_at WHERE endpoint_id = @endpoint_id RETURNING *;

-- name: WebhookSecretCreate :exec
INSERT INTO webhook_secret (secret_id, endpoint_id, sealed, created_at, expires_at, row_sum)
VALUES (@secret_id, @endpoint_id, @sealed, @created_at, @expires_at, @row_sum);

-- name: WebhookSecretsOf :many
-- Those that sign now, the newest first.
SELECT * FROM webhook_secret WHERE endpoint_id = @endpoint_id AND (expires_at = 0 OR expires_at > @now) ORDER BY secret_id DESC;

-- name: WebhookSecretEnd :many
UPDATE webhook_secret SET expires_at = @expires_at WHERE endpoint_id = @endpoint_id AND expires_at = 0 RETURNING *;

-- name: WebhookSecretsForget :exec
-- Those that sign nothing any more.
DELETE FROM webhook_secret WHERE endpoint_id = @endpoint_id AND expires_at <> 0 AND expires_at <= @now;

-- name: WebhookSecretsDelete :exec
DELETE FROM webhook_secret WHERE endpoint_id = @endpoint_id;

-- name: WebhookEventCreate :exec
-- The event of a job is the next of its workspace; a test has no place in that order.
INSERT INTO webhook_event (event_id, workspace_id, job_id, type, body, created_at, request_id, row_sum, seq)
VALUES (@event_id, @workspace_id, @job_id, @type, @body, @created_at, @request_id, @row_sum, CASE WHEN CAST(@job_id AS text) = '' THEN 0 ELSE
  (SELECT coalesce(max(e.seq), 0) + 1 FROM webhook_event e WHERE e.workspace_id = @workspace_id AND e.job_id <> '') END);

-- name: WebhookEventPlace :one
-- Where an event is in the order of its workspace's.
SELECT seq FROM webhook_event WHERE event_id = @event_id AND workspace_id = @workspace_id AND job_id <> '';

-- name: WebhookEventNewest :one
SELECT event_id, seq FROM webhook_event WHERE workspace_id = @workspace_id AND job_id <> '' ORDER BY seq DESC LIMIT 1;

-- name: WebhookEventsBehind :many
-- A page of a workspace's kept events after a place, in order.
SELECT event_id, type, body, seq FROM webhook_event
WHERE workspace_id = @workspace_id AND job_id <> '' AND forgotten_at = 0 AND seq > @seq
ORDER BY seq LIMIT CAST(@max AS bigint);

-- name: WebhookDeliveryCreate :exec
INSERT INTO webhook_delivery (delivery_id, event_id, endpoint_id, workspace_id, job_id, lane, status, created_at, next_at)
VALUES (@delivery_id, @event_id, @endpoint_id, @workspace_id, @job_id, @lane, 'pending', @now, @now);

-- name: WebhookDeliveryGet :one
SELECT sqlc.embed(d), e.type, n.url FROM webhook_delivery d
JOIN webhook_event e ON e.event_id = d.event_id JOIN webhook_endpoint n ON n.endpoint_id = d.endpoint_id
WHERE d.delivery_id = @delivery_id;

-- name: WebhookDeliveriesOfJob :many
SELECT sqlc.embed(d), e.type, n.url FROM webhook_delivery d
JOIN webhook_event e ON e.event_id = d.event_id JOIN webhook_endpoint n ON n.endpoint_id = d.endpoint_id
WHERE d.job_id = @job_id ORDER BY d.delivery_id DESC;

-- name: WebhookDeliveriesOfEndpoint :many
SELECT sqlc.embed(d), e.type, n.url FROM webhook_delivery d
JOIN webhook_event e ON e.event_id = d.event_id JOIN webhook_endpoint n ON n.endpoint_id = d.endpoint_id
WHERE d.endpoint_id = @endpoint_id AND d.delivery_id < @before AND (CAST(@status AS text) = '' OR d.status = CAST(@status AS text))
ORDER BY d.delivery_id DESC LIMIT CAST(@max AS bigint);

-- name: WebhookNewestDeliveries :many
-- The newest deliveries to each endpoint of a workspace, at most @each for one, by
-- endpoint. The WITH finds the oldest one shown with one index lookup for each
-- endpoint.
WITH shown AS MATERIALIZED (
  SELECT n.endpoint_id, n.url, CAST(coalesce((
    SELECT o.delivery_id FROM webhook_delivery o WHERE o.endpoint_id = n.endpoint_id
    ORDER BY o.delivery_id DESC LIMIT 1 OFFSET CAST(@each AS bigint) - 1), '') AS text) AS oldest
  FROM webhook_endpoint n
  WHERE n.workspace_id = @workspace_id AND n.job_id = '' AND n.deleted_at = 0
)
SELECT sqlc.embed(d), e.type, s.url FROM shown s
JOIN webhook_delivery d ON d.endpoint_id = s.endpoint_id AND d.delivery_id >= s.oldest
JOIN webhook_event e ON e.event_id = d.event_id
ORDER BY d.endpoint_id, d.delivery_id DESC;

-- name: WebhookAttemptsOf :many
-- ids is a JSON array of deliveries.
SELECT * FROM webhook_attempt
WHERE delivery_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(CAST(@ids AS text) AS json))))
ORDER BY delivery_id, number;

-- name: WebhookDue :many
-- What of a lane is due, the longest waiting first.
SELECT sqlc.embed(d), sqlc.embed(n), e.body FROM webhook_delivery d
JOIN webhook_event e ON e.event_id = d.event_id JOIN webhook_endpoint n ON n.endpoint_id = d.endpoint_id
WHERE d.lane = @lane AND d.status = 'pending' AND d.next_at <= @now
ORDER BY d.next_at, d.delivery_id LIMIT CAST(@max AS bigint);

-- name: WebhookNext :one
-- When something of a lane is due next.
SELECT d.next_at FROM webhook_delivery d WHERE d.lane = @lane AND d.status = 'pending' ORDER BY d.next_at, d.delivery_id LIMIT 1;

-- name: WebhookAttemptAdd :exec
INSERT INTO webhook_attempt (delivery_id, number, started_at, duration_us, status, error, answer, next_at, row_sum, round)
VALUES (@delivery_id, @number, @started_at, @duration_us, @status, @error, @answer, @next_at, @row_sum, @round);

-- name: WebhookDeliveryTried :one
-- An attempt has been made; status says whether more follow.
UPDATE webhook_delivery SET status = @status, reason = @reason, round = round + 1, tries = tries + 1, next_at = @next_at, ended_at = @ended_at
WHERE delivery_id = @delivery_id AND status = 'pending' RETURNING round;

-- name: WebhookDeliveryFail :exec
-- It ends without a try.
UPDATE webhook_delivery SET status = 'failed', reason = @reason, ended_at = @now WHERE delivery_id = @delivery_id AND status = 'pending';

-- name: WebhookDeliveriesFail :exec
UPDATE webhook_delivery SET status = 'failed', reason = @reason, ended_at = @now WHERE endpoint_id = @endpoint_id AND status = 'pending';

-- name: WebhookRedeliver :execrows
UPDATE webhook_delivery SET status = 'pending', reason = '', round = 0, next_at = @now, ended_at = 0 WHERE delivery_id = @delivery_id;

-- name: WebhookEventLock :one
-- Keeps an event from being forgotten.
SELECT event_id FROM webhook_event WHERE event_id = @event_id FOR UPDATE;

-- name: WebhookEventsSince :many
-- A page of a workspace's jobs' events, the oldest first, after the one named;
-- none of them is removed before the transaction ends.
SELECT event_id, created_at FROM webhook_event
WHERE workspace_id = @workspace_id AND job_id <> '' AND forgotten_at = 0
  AND created_at >= @since AND (created_at > @since OR event_id > @behind) AND created_at <= @until
ORDER BY created_at, event_id LIMIT CAST(@max AS bigint)
FOR UPDATE;

-- name: WebhookRedeliverFailed :execrows
-- The events of a page that an endpoint got and did not accept.
UPDATE webhook_delivery SET status = 'pending', reason = '', round = 0, next_at = @now, ended_at = 0
WHERE endpoint_id = @endpoint_id AND status <> 'delivered' AND job_id <> '' AND event_id IN (
  SELECT e.event_id FROM webhook_event e
  WHERE e.workspace_id = @workspace_id AND e.forgotten_at = 0
    AND e.created_at >= @since AND (e.created_at > @since OR e.event_id > @behind)
    AND e.created_at <= @until AND (e.created_at < @until OR e.event_id <= @last));

-- name: WebhookDeliverMissed :execrows
-- The events of a page that an endpoint never got.
INSERT INTO webhook_delivery (delivery_id, event_id, endpoint_id, workspace_id, job_id, lane, status, created_at, next_at)
SELECT 'WHD-' || substr(e.event_id, 5) || substr(n.endpoint_id, 5), e.event_id, n.endpoint_id, e.workspace_id, e.job_id, n.lane, 'pending',
  CAST(@now AS bigint), CAST(@now AS bigint)
FROM webhook_event e JOIN webhook_endpoint n ON n.endpoint_id = @endpoint_id AND n.workspace_id = e.workspace_id
WHERE e.workspace_id = @workspace_id AND e.job_id <> '' AND e.forgotten_at = 0
  AND e.created_at >= @since AND (e.created_at > @since OR e.event_id > @behind)
  AND e.created_at <= @until AND (e.created_at < @until OR e.event_id <= @last)
  AND NOT EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.event_id = e.event_id AND d.endpoint_id = n.endpoint_id);

-- name: WebhookEventsOver :many
-- Events to be forgotten: old, and nothing of them waits or ended of late. What
-- another holds is left for the next time.
SELECT e.event_id, e.job_id, e.created_at FROM webhook_event e
WHERE e.forgotten_at = 0 AND e.created_at <= @before
  AND e.created_at >= @since AND (e.created_at > @since OR e.event_id > @behind)
  AND NOT EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.event_id = e.event_id AND (d.status = 'pending' OR d.ended_at > @before))
ORDER BY e.created_at, e.event_id LIMIT CAST(@max AS bigint)
FOR UPDATE SKIP LOCKED;

-- name: WebhookAttemptsForget :exec
DELETE FROM webhook_attempt WHERE delivery_id IN (SELECT d.delivery_id FROM webhook_delivery d WHERE d.event_id = @event_id);

-- name: WebhookDeliveriesForget :exec
DELETE FROM webhook_delivery WHERE event_id = @event_id;

-- name: WebhookEventForget :one
-- Its row stays, to show that it existed.
UPDATE webhook_event SET body = '', forgotten_at = @now WHERE event_id = @event_id RETURNING *;

-- name: WebhookEventDelete :exec
DELETE FROM webhook_event WHERE event_id = @event_id;

-- name: WebhookTargetForget :one
-- That a job had a target stays, for the job's own page.
UPDATE webhook_endpoint SET url = '', deleted_at = @now WHERE job_id = @job_id AND job_id <> '' RETURNING *;

-- name: WebhookEndpointsForget :execrows
-- Endpoints that were deleted long ago, once their log is gone.
DELETE FROM webhook_endpoint WHERE deleted_at <> 0 AND deleted_at <= @before AND job_id = ''
  AND NOT EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.endpoint_id = webhook_endpoint.endpoint_id);

-- name: WebhookSecretsOver :execrows
-- Secrets, of any endpoint, that sign nothing any more.
DELETE FROM webhook_secret WHERE expires_at <> 0 AND expires_at <= @now;

-- name: WorkspaceOwners :many
-- The addresses of those who look after a workspace.
SELECT p.email FROM member m JOIN person p ON p.person_id = m.person_id
WHERE m.workspace_id = @workspace_id AND m.role = 'owner' ORDER BY p.email;

-- name: AuditWebhookEvents :many
-- Jobs whose events are not what their end asks for. SQLite finds the event of a job only
-- by the condition of its index.
SELECT j.job_id, j.status, count(e.event_id) AS events, CAST(coalesce(min(e.type), '') AS text) AS type
FROM job j LEFT JOIN webhook_event e ON e.job_id = j.job_id AND e.job_id <> ''
GROUP BY j.job_id, j.status
HAVING (j.status IN ('completed', 'failed', 'cancelled') AND (count(e.event_id) <> 1 OR min(e.type) <> 'render.' || j.status))
    OR (j.status NOT IN ('completed', 'failed', 'cancelled') AND count(e.event_id) <> 0);

-- name: AuditWebhookOrder :many
-- Workspaces whose events are not numbered 1, 2, 3…, and tests that have a number. Two
-- events with one number cannot be stored.
SELECT e.workspace_id, count(*) AS events, CAST(min(e.seq) AS bigint) AS first, CAST(max(e.seq) AS bigint) AS last
FROM webhook_event e WHERE e.job_id <> '' GROUP BY e.workspace_id
HAVING min(e.seq) <> 1 OR max(e.seq) <> count(*)
UNION ALL
SELECT t.workspace_id, CAST(0 AS bigint), t.seq, t.seq FROM webhook_event t WHERE t.job_id = '' AND t.seq <> 0;

-- name: AuditWebhookMissing :many
-- Jobs that have ended and whose own target was never to hear of it.
SELECT n.job_id, n.endpoint_id FROM webhook_endpoint n JOIN webhook_event e ON e.job_id = n.job_id AND e.job_id <> ''
WHERE n.job_id <> '' AND e.forgotten_at = 0 AND NOT EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.event_id = e.event_id AND d.endpoint_id = n.endpoint_id);

-- name: AuditWebhookForgotten :many
-- Events that are gone in part only: without a body and not forgotten, or
-- forgotten and with a body, a delivery or a secret.
SELECT e.event_id, e.forgotten_at FROM webhook_event e
WHERE (e.forgotten_at = 0 AND e.body = '')
   OR (e.forgotten_at <> 0 AND (e.body <> '' OR EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.event_id = e.event_id)
     OR EXISTS (SELECT 1 FROM webhook_endpoint n JOIN webhook_secret s ON s.endpoint_id = n.endpoint_id WHERE n.job_id = e.job_id AND n.job_id <> '')));

-- name: AuditWebhookStuck :many
-- Deliveries that wait without a task that will make them or notice that they
-- wait.
SELECT d.delivery_id, d.lane FROM webhook_delivery d
WHERE d.status = 'pending' AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.queue = 'webhook' AND l.subject = d.lane)
  AND NOT EXISTS (SELECT 1 FROM dead_letter g WHERE g.lease_id = 'webhook:' || d.lane || ':0');

-- name: AuditWebhookDeliveries :many
-- A page of deliveries, each with its event, its endpoint and its last attempt. The
-- bound is repeated in the join: otherwise a merge would read everything before the
-- page.
SELECT sqlc.embed(d), e.workspace_id AS event_workspace_id, e.job_id AS event_job_id, e.created_at AS event_created_at,
  n.workspace_id AS endpoint_workspace_id, n.job_id AS endpoint_job_id, n.lane AS endpoint_lane,
  (SELECT count(*) FROM webhook_attempt a WHERE a.delivery_id = d.delivery_id) AS attempts,
  CAST(coalesce(l.started_at, 0) AS bigint) AS last_started_at, CAST(coalesce(l.status, 0) AS bigint) AS last_status,
  CAST(coalesce(l.next_at, 0) AS bigint) AS last_next_at, CAST(coalesce(l.round, 0) AS bigint) AS last_round
FROM webhook_delivery d
JOIN webhook_event e ON e.event_id = d.event_id
JOIN webhook_endpoint n ON n.endpoint_id = d.endpoint_id
LEFT JOIN webhook_attempt l ON l.delivery_id = d.delivery_id AND l.number = d.tries AND l.delivery_id > @after
WHERE d.delivery_id > @after ORDER BY d.delivery_id LIMIT 500;

-- name: AuditWebhookOrphans :many
-- Rows that name what is not there: a foreign key keeps it from happening, unless a hand
-- in the database turned it off.
SELECT CAST('delivery' AS text) AS kind, d.delivery_id AS id FROM webhook_delivery d
WHERE NOT EXISTS (SELECT 1 FROM webhook_event e WHERE e.event_id = d.event_id)
   OR NOT EXISTS (SELECT 1 FROM webhook_endpoint n WHERE n.endpoint_id = d.endpoint_id)
UNION ALL
SELECT CAST('attempt' AS text), a.delivery_id FROM webhook_attempt a
WHERE NOT EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.delivery_id = a.delivery_id)
UNION ALL
SELECT CAST('secret' AS text), s.secret_id FROM webhook_secret s
WHERE NOT EXISTS (SELECT 1 FROM webhook_endpoint n WHERE n.endpoint_id = s.endpoint_id);

-- name: AuditWebhookOwners :many
-- Targets of jobs that are not their job's workspace's.
SELECT n.endpoint_id, n.workspace_id, j.workspace_id AS job_workspace_id
FROM webhook_endpoint n JOIN job j ON j.job_id = n.job_id
WHERE j.workspace_id <> n.workspace_id;

-- name: AuditWebhookBare :many
-- Endpoints that have nothing to sign with.
SELECT n.endpoint_id FROM webhook_endpoint n
WHERE n.deleted_at = 0 AND NOT EXISTS (SELECT 1 FROM webhook_secret s WHERE s.endpoint_id = n.endpoint_id AND s.expires_at = 0);

-- name: WebhookSecretAfter :many
SELECT * FROM webhook_secret WHERE secret_id > @after ORDER BY secret_id LIMIT 500;

-- name: WebhookEndpointsErased :many
-- All endpoints of a workspace, those of its jobs too.
SELECT endpoint_id, lane FROM webhook_endpoint WHERE workspace_id = @workspace_id ORDER BY lane, endpoint_id;

-- name: WebhookAttemptsErase :exec
DELETE FROM webhook_attempt WHERE delivery_id IN (SELECT d.delivery_id FROM webhook_delivery d WHERE d.workspace_id = @workspace_id);

-- name: WebhookDeliveriesErase :exec
DELETE FROM webhook_delivery WHERE workspace_id = @workspace_id;

-- name: WebhookSecretsErase :exec
DELETE FROM webhook_secret WHERE endpoint_id IN (SELECT n.endpoint_id FROM webhook_endpoint n WHERE n.workspace_id = @workspace_id);

-- name: WebhookEndpointsErase :exec
DELETE FROM webhook_endpoint WHERE workspace_id = @workspace_id;

-- name: WebhookTestsErase :exec
DELETE FROM webhook_event WHERE workspace_id = @workspace_id AND job_id = '';

-- name: WebhookEventsErase :many
-- Their rows stay, to show that they existed.
UPDATE webhook_event SET body = '', request_id = '', forgotten_at = CASE WHEN forgotten_at = 0 THEN CAST(@now AS bigint) ELSE forgotten_at END
WHERE workspace_id = @workspace_id AND (forgotten_at = 0 OR request_id <> '') RETURNING *;
