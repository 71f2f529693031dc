-- name: IdempotencyHold :execrows
-- Takes a key that is free: never used, given up by a process that died, or
-- forgotten by now.
INSERT INTO idempotency (workspace_id, route, key, fingerprint, holder, lapses_at, row_sum)
VALUES (@workspace_id, @route, @key, @fingerprint, @holder, @lapses_at, @row_sum)
ON CONFLICT (workspace_id, route, key) DO UPDATE
SET fingerprint = excluded.fingerprint, holder = excluded.holder, lapses_at = excluded.lapses_at, status = 0, body = '', expires_at = 0, row_sum = excluded.row_sum
WHERE (idempotency.status = 0 AND idempotency.lapses_at <= CAST(@now AS bigint))
   OR (idempotency.status <> 0 AND idempotency.expires_at <= CAST(@now AS bigint));

-- name: IdempotencyGet :one
SELECT * FROM idempotency WHERE workspace_id = @workspace_id AND route = @route AND key = @key;

-- name: IdempotencyKeep :execrows
UPDATE idempotency SET lapses_at = @lapses_at
WHERE workspace_id = @workspace_id AND route = @route AND key = @key AND holder = @holder AND status = 0;

-- name: IdempotencyFinish :execrows
UPDATE idempotency SET status = @status, body = @body, expires_at = @expires_at, row_sum = @row_sum
WHERE workspace_id = @workspace_id AND route = @route AND key = @key AND holder = @holder AND status = 0;

-- name: IdempotencyFree :execrows
DELETE FROM idempotency
WHERE workspace_id = @workspace_id AND route = @route AND key = @key AND holder = @holder AND status = 0;

-- name: IdempotencyForget :execrows
-- An answer has its time; a hold that lapsed long ago is a dead process's.
DELETE FROM idempotency WHERE (status <> 0 AND expires_at <= @now) OR (status = 0 AND lapses_at <= @lapsed_by);

-- name: IdempotencyErase :exec
DELETE FROM idempotency WHERE workspace_id = @workspace_id;
