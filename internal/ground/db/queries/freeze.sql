-- name: FreezeSet :exec
INSERT INTO workspace_freeze (workspace_id, reason, frozen_at, row_sum) VALUES (@workspace_id, @reason, @frozen_at, @row_sum)
ON CONFLICT (workspace_id) DO UPDATE SET reason = excluded.reason, frozen_at = excluded.frozen_at, row_sum = excluded.row_sum;

-- name: FreezeLift :exec
DELETE FROM workspace_freeze WHERE workspace_id = @workspace_id;

-- name: FreezeGet :one
SELECT * FROM workspace_freeze WHERE workspace_id = @workspace_id;

-- name: FreezeAfter :many
SELECT * FROM workspace_freeze WHERE workspace_id > @after ORDER BY workspace_id LIMIT 500;

-- name: FreezeSum :exec
UPDATE workspace_freeze SET row_sum = @row_sum WHERE workspace_id = @workspace_id;
