-- name: FreezeSet :exec
INSERT INTO workspace_freeze (workspace_id, reason, frozen_at, row_sum, cause) VALUES (@workspace_id, @reason, @frozen_at, @row_sum, @cause)
ON CONFLICT (workspace_id) DO UPDATE SET reason = excluded.reason, frozen_at = excluded.frozen_at, cause = excluded.cause, row_sum = excluded.row_sum;

-- name: FreezeLift :exec
DELETE FROM workspace_freeze WHERE workspace_id = @workspace_id;

-- name: FreezeAdd :exec
-- A workspace that is frozen stays so for its own reason.
INSERT INTO workspace_freeze (workspace_id, reason, frozen_at, row_sum, cause) VALUES (@workspace_id, @reason, @frozen_at, @row_sum, @cause)
ON CONFLICT (workspace_id) DO NOTHING;

-- name: FreezeLiftCause :exec
DELETE FROM workspace_freeze WHERE workspace_id = @workspace_id AND cause = @cause;

-- name: FreezeGet :one
SELECT * FROM workspace_freeze WHERE workspace_id = @workspace_id;

