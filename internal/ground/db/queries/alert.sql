-- name: WalletAlertGet :one
SELECT * FROM wallet_alert WHERE workspace_id = @workspace_id;

-- name: WalletAlertSet :exec
-- An alert that changes is sent again.
INSERT INTO wallet_alert (workspace_id, below_cents, told_at, row_sum) VALUES (@workspace_id, @below_cents, @told_at, @row_sum)
ON CONFLICT (workspace_id) DO UPDATE SET below_cents = excluded.below_cents, told_at = excluded.told_at, row_sum = excluded.row_sum;

-- name: WalletAlertDelete :exec
DELETE FROM wallet_alert WHERE workspace_id = @workspace_id;

-- name: WalletAlertTell :one
-- Nothing unless the balance has just fallen below it, and it was not told lately.
UPDATE wallet_alert SET told_at = @now
WHERE workspace_id = @workspace_id AND below_cents > @has AND below_cents <= @had AND told_at <= @before RETURNING *;

