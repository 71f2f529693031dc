-- name: ActAdd :exec
INSERT INTO operator_act (act_id, acted_at, actor, way, what, workspace_id, reason, row_sum)
VALUES (@act_id, @acted_at, @actor, @way, @what, @workspace_id, @reason, @row_sum);

-- name: Acts :many
SELECT * FROM operator_act WHERE act_id < @before ORDER BY act_id DESC LIMIT CAST(@max AS bigint);

-- name: ActsErase :many
-- The words that were said of an erased workspace go.
UPDATE operator_act SET reason = '' WHERE workspace_id = @workspace_id AND reason <> '' RETURNING *;

-- name: ActorErase :many
UPDATE operator_act SET actor = 'erased' WHERE actor = @actor RETURNING *;

-- name: ActAfter :many
SELECT * FROM operator_act WHERE act_id > @after ORDER BY act_id LIMIT 500;

-- name: ActSum :exec
UPDATE operator_act SET row_sum = @row_sum WHERE act_id = @act_id;
