-- name: TopUpAdd :exec
INSERT INTO top_up (top_up_id, workspace_id, amount_cents, status, session_id, payment_id, customer_id, checkout_url, receipt_url, refunded_cents, disputed_cents, created_at, paid_at, checked_at, row_sum, started_by, key_id)
VALUES (@top_up_id, @workspace_id, @amount_cents, @status, @session_id, @payment_id, @customer_id, @checkout_url, @receipt_url, @refunded_cents, @disputed_cents, @created_at, @paid_at, @checked_at, @row_sum, @started_by, @key_id);

-- name: TopUpGet :one
SELECT * FROM top_up WHERE top_up_id = @top_up_id;

-- name: TopUpLock :one
SELECT * FROM top_up WHERE top_up_id = @top_up_id FOR UPDATE;

-- name: TopUpByPayment :one
SELECT top_up_id FROM top_up WHERE payment_id = @payment_id;

-- name: TopUpsOfWorkspace :many
SELECT * FROM top_up WHERE workspace_id = @workspace_id AND top_up_id < @before ORDER BY top_up_id DESC LIMIT CAST(@max AS bigint);

-- name: TopUpsUnpaid :one
-- How many top-ups a workspace has begun and neither paid nor given up.
SELECT count(*) FROM top_up WHERE workspace_id = @workspace_id AND status IN ('created', 'open');

-- name: TopUpCustomer :one
-- What the provider called the workspace when it last paid.
SELECT customer_id FROM top_up WHERE workspace_id = @workspace_id AND customer_id <> '' AND paid_at > 0 ORDER BY top_up_id DESC LIMIT 1;

-- name: TopUpUpdate :exec
UPDATE top_up SET status = @status, session_id = @session_id, payment_id = @payment_id, customer_id = @customer_id, checkout_url = @checkout_url, receipt_url = @receipt_url,
  refunded_cents = @refunded_cents, disputed_cents = @disputed_cents, paid_at = @paid_at, row_sum = @row_sum
WHERE top_up_id = @top_up_id;

-- name: TopUpsDue :many
-- Takes the top-ups whose state the provider has not been asked about for a
-- while.
UPDATE top_up SET checked_at = @now
WHERE top_up_id IN (SELECT t.top_up_id FROM top_up t WHERE t.status IN ('created', 'open') AND t.checked_at < @before ORDER BY t.checked_at LIMIT CAST(@max AS bigint))
RETURNING top_up_id;

-- name: TopUpAfter :many
SELECT * FROM top_up WHERE top_up_id > @after ORDER BY top_up_id LIMIT 500;

-- name: TopUpErase :many
UPDATE top_up SET customer_id = '', checkout_url = '', receipt_url = '', started_by = '' WHERE workspace_id = @workspace_id RETURNING *;

-- name: TopUpsBetween :many
SELECT * FROM top_up WHERE created_at >= @since AND created_at < @until AND top_up_id > @after ORDER BY top_up_id LIMIT 500;

-- name: PaymentEventAdd :execrows
INSERT INTO payment_event (event_id, type, top_up_id, received_at, row_sum) VALUES (@event_id, @type, @top_up_id, @received_at, @row_sum)
ON CONFLICT (event_id) DO NOTHING;

-- name: PaymentEventGet :one
SELECT * FROM payment_event WHERE event_id = @event_id;

-- name: PaymentEventsForget :execrows
DELETE FROM payment_event WHERE event_id IN (SELECT e.event_id FROM payment_event e WHERE e.received_at < @before ORDER BY e.received_at LIMIT 1000);

-- name: AuditTopUpEntries :many
-- What the ledger says of a page of top-ups, and of those without a row. A reference
-- begins with the id of its top-up, which has 36 characters.
SELECT CAST(substr(reference, 1, 36) AS text) AS top_up_id, workspace_id,
  CAST(sum(CASE kind WHEN 'top_up' THEN amount_cents ELSE 0 END) AS bigint) AS paid,
  CAST(sum(CASE kind WHEN 'top_up_refund' THEN amount_cents ELSE 0 END) AS bigint) AS refunded,
  CAST(sum(CASE kind WHEN 'chargeback' THEN amount_cents WHEN 'chargeback_won' THEN -amount_cents ELSE 0 END) AS bigint) AS disputed
FROM ledger_transaction
WHERE kind IN ('top_up', 'top_up_refund', 'chargeback', 'chargeback_won') AND substr(reference, 1, 36) > CAST(@after AS text) AND substr(reference, 1, 36) <= CAST(@last AS text)
GROUP BY substr(reference, 1, 36), workspace_id;

-- name: TopUpsForget :many
-- Takes a person who was erased out of the payments that they began.
UPDATE top_up SET started_by = '' WHERE started_by = @person_id AND started_by <> ''
  AND NOT EXISTS (SELECT 1 FROM person p WHERE p.person_id = top_up.started_by) RETURNING *;
