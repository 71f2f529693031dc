-- name: WalletCreate :exec
INSERT INTO wallet (workspace_id) VALUES (@workspace_id) ON CONFLICT (workspace_id) DO NOTHING;

-- name: WalletGet :one
SELECT * FROM wallet WHERE workspace_id = @workspace_id;

-- name: WalletMove :execrows
-- Never below zero: the row is left alone when either balance would be.
UPDATE wallet
SET available_cents = available_cents + CAST(@available AS bigint), reserved_cents = reserved_cents + CAST(@reserved AS bigint)
WHERE workspace_id = @workspace_id
  AND available_cents + CAST(@available AS bigint) >= 0
  AND reserved_cents + CAST(@reserved AS bigint) >= 0;

-- name: LedgerAdd :execrows
INSERT INTO ledger_transaction (transaction_id, kind, reference, workspace_id, job_id, amount_cents, created_at)
VALUES (@transaction_id, @kind, @reference, @workspace_id, @job_id, @amount_cents, @created_at)
ON CONFLICT (kind, reference) DO NOTHING;

-- name: LedgerGet :one
SELECT * FROM ledger_transaction WHERE kind = @kind AND reference = @reference;

-- name: LedgerPost :exec
INSERT INTO ledger_posting (transaction_id, account, amount_cents) VALUES (@transaction_id, @account, @amount_cents);

-- name: LedgerOfWorkspace :many
SELECT * FROM ledger_transaction
WHERE workspace_id = @workspace_id AND transaction_id < @before
ORDER BY transaction_id DESC
LIMIT CAST(@max AS bigint);

-- name: AuditUnbalanced :many
SELECT t.transaction_id, t.kind, CAST(coalesce(sum(p.amount_cents), 0) AS bigint) AS total, count(p.account) AS postings
FROM ledger_transaction t LEFT JOIN ledger_posting p ON p.transaction_id = t.transaction_id
GROUP BY t.transaction_id, t.kind
HAVING coalesce(sum(p.amount_cents), 0) <> 0 OR count(p.account) <> 2;

-- name: AuditBalances :many
SELECT w.workspace_id, w.available_cents, w.reserved_cents,
  CAST(coalesce((SELECT sum(p.amount_cents) FROM ledger_posting p WHERE p.account = w.workspace_id || ':available'), 0) AS bigint) AS available_posted,
  CAST(coalesce((SELECT sum(p.amount_cents) FROM ledger_posting p WHERE p.account = w.workspace_id || ':reserved'), 0) AS bigint) AS reserved_posted
FROM wallet w
ORDER BY w.workspace_id;

-- name: LedgerRefunded :one
SELECT CAST(coalesce(sum(amount_cents), 0) AS bigint) FROM ledger_transaction WHERE kind = 'refund' AND job_id = @job_id;

-- name: LedgerLock :one
SELECT * FROM ledger_transaction WHERE kind = @kind AND reference = @reference FOR UPDATE;
