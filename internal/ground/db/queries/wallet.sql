-- name: WalletCreate :exec
INSERT INTO wallet (workspace_id) VALUES (@workspace_id) ON CONFLICT (workspace_id) DO NOTHING;

-- name: WalletGet :one
SELECT * FROM wallet WHERE workspace_id = @workspace_id;

-- name: WalletMove :execrows
-- Never below zero: the row is left alone when a balance would be.
UPDATE wallet
SET available_cents = available_cents + CAST(@available AS bigint), reserved_cents = reserved_cents + CAST(@reserved AS bigint),
  owed_cents = owed_cents + CAST(@owed AS bigint)
WHERE workspace_id = @workspace_id
  AND available_cents + CAST(@available AS bigint) >= 0
  AND reserved_cents + CAST(@reserved AS bigint) >= 0
  AND owed_cents + CAST(@owed AS bigint) >= 0;

-- name: LedgerAdd :execrows
INSERT INTO ledger_transaction (transaction_id, kind, reference, workspace_id, job_id, amount_cents, created_at, row_sum)
VALUES (@transaction_id, @kind, @reference, @workspace_id, @job_id, @amount_cents, @created_at, @row_sum)
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

-- name: LedgerNewer :one
-- The id after which the page of newer entries begins that ends where a page begins; no row
-- where that page is the first.
SELECT transaction_id FROM ledger_transaction WHERE workspace_id = @workspace_id AND transaction_id >= @before
ORDER BY transaction_id LIMIT 1 OFFSET CAST(@max AS bigint);

-- name: LedgerEffectSince :one
-- By how much the entries from one on have changed what is available.
SELECT CAST(coalesce(sum(CASE WHEN kind IN ('capture', 'top_up_refund', 'chargeback') THEN 0
  WHEN kind IN ('reserve', 'settlement') THEN -amount_cents ELSE amount_cents END), 0) AS bigint) AS available
FROM ledger_transaction WHERE workspace_id = @workspace_id AND transaction_id >= @since;

-- name: Spend :many
-- What a workspace paid for jobs since a time and before another, and what of it was refunded,
-- by month, the key and the person that started them, and their tags.
SELECT CAST(to_char(to_timestamp(t.created_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM') AS text) AS month, CAST(coalesce(j.key_id, '') AS text) AS key_id,
  CAST(coalesce(a.name, g.name, '') AS text) AS key_name,
  CAST(coalesce(p.person_id, '') AS text) AS person_id, CAST(coalesce(p.email, '') AS text) AS email, CAST(coalesce(j.tags, '') AS text) AS tags,
  CAST(sum(CASE t.kind WHEN 'capture' THEN t.amount_cents ELSE 0 END) AS bigint) AS charged_cents,
  CAST(sum(CASE t.kind WHEN 'refund' THEN t.amount_cents ELSE 0 END) AS bigint) AS refunded_cents
FROM ledger_transaction t LEFT JOIN job j ON j.job_id = t.job_id LEFT JOIN account_key a ON a.key_id = j.key_id LEFT JOIN agent_key g ON g.key_id = j.key_id
  LEFT JOIN person p ON p.person_id = j.started_by
WHERE t.workspace_id = @workspace_id AND t.kind IN ('capture', 'refund') AND t.created_at >= @since AND t.created_at < @until
GROUP BY 1, 2, 3, 4, 5, 6
ORDER BY 1 DESC, 7 DESC, 2, 4, 6;

-- name: AuditLedger :many
-- A page of the ledger, in the order of its ids.
SELECT * FROM ledger_transaction WHERE transaction_id > @after ORDER BY transaction_id LIMIT 500;

-- name: AuditPostings :many
-- The postings of a page, and those that belong to no transaction of it.
SELECT * FROM ledger_posting WHERE transaction_id > @after AND transaction_id <= @last ORDER BY transaction_id, account;

-- name: AuditPostingCount :one
SELECT count(*) FROM ledger_posting;

-- name: AuditWallets :many
SELECT * FROM wallet WHERE workspace_id > @after ORDER BY workspace_id LIMIT 500;

-- name: AuditWalletSums :many
-- What the ledger says of a page of wallets, and of workspaces that have none.
SELECT workspace_id, CAST(sum(CASE WHEN kind IN ('capture', 'top_up_refund', 'chargeback') THEN 0
    WHEN kind IN ('reserve', 'settlement') THEN -amount_cents ELSE amount_cents END) AS bigint) AS available,
  CAST(sum(CASE kind WHEN 'reserve' THEN amount_cents WHEN 'capture' THEN -amount_cents WHEN 'release' THEN -amount_cents ELSE 0 END) AS bigint) AS reserved,
  CAST(sum(CASE kind WHEN 'top_up_refund' THEN amount_cents WHEN 'chargeback' THEN amount_cents WHEN 'settlement' THEN -amount_cents ELSE 0 END) AS bigint) AS owed
FROM ledger_transaction WHERE workspace_id > @after AND workspace_id <= @last GROUP BY workspace_id;

-- name: AuditWalletless :many
-- Workspaces without a wallet.
SELECT s.workspace_id FROM workspace s WHERE NOT EXISTS (SELECT 1 FROM wallet w WHERE w.workspace_id = s.workspace_id);

-- name: AuditRefunds :many
-- Refunds that their job did not pay, or that are more than it paid.
SELECT r.job_id, r.workspace_id, CAST(sum(r.amount_cents) AS bigint) AS refunded,
  CAST(coalesce((SELECT c.amount_cents FROM ledger_transaction c WHERE c.kind = 'capture' AND c.reference = r.job_id AND c.workspace_id = r.workspace_id), 0) AS bigint) AS captured
FROM ledger_transaction r WHERE r.kind = 'refund'
GROUP BY r.job_id, r.workspace_id
HAVING sum(r.amount_cents) > coalesce((SELECT c.amount_cents FROM ledger_transaction c WHERE c.kind = 'capture' AND c.reference = r.job_id AND c.workspace_id = r.workspace_id), 0);

-- name: LedgerRefunded :one
SELECT CAST(coalesce(sum(amount_cents), 0) AS bigint) FROM ledger_transaction WHERE kind = 'refund' AND job_id = @job_id;

-- name: LedgerLock :one
SELECT * FROM ledger_transaction WHERE kind = @kind AND reference = @reference FOR UPDATE;

