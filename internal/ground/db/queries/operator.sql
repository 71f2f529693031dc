-- name: ActAdd :exec
INSERT INTO operator_act (act_id, acted_at, actor, way, what, workspace_id, reason, row_sum)
VALUES (@act_id, @acted_at, @actor, @way, @what, @workspace_id, @reason, @row_sum);

-- name: Acts :many
SELECT * FROM operator_act WHERE act_id < @before ORDER BY act_id DESC LIMIT CAST(@max AS bigint);

-- name: ActsErase :many
-- Removes the words that were said about an erased workspace.
UPDATE operator_act SET reason = '' WHERE workspace_id = @workspace_id AND reason <> '' RETURNING *;

-- name: ActorErase :many
UPDATE operator_act SET actor = 'erased' WHERE actor = @actor RETURNING *;

-- name: AuditRunAdd :exec
INSERT INTO audit_run (run_id, began_at, ended_at, breaches, found, row_sum) VALUES (@run_id, @began_at, @ended_at, @breaches, @found, @row_sum);

-- name: AuditRunLast :one
SELECT * FROM audit_run ORDER BY run_id DESC LIMIT 1;

-- name: AuditRunsForget :exec
DELETE FROM audit_run WHERE run_id < (SELECT min(l.run_id) FROM (SELECT r.run_id FROM audit_run r ORDER BY r.run_id DESC LIMIT CAST(@keep AS bigint)) AS l);

