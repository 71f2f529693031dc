-- name: OperatorAlerts :many
SELECT * FROM operator_alert ORDER BY name;

-- name: OperatorAlertAdd :exec
INSERT INTO operator_alert (name, since, told_at) VALUES (@name, @now, 0) ON CONFLICT (name) DO NOTHING;

-- name: OperatorAlertTell :many
-- An alert that lasts since a time or longer and that nobody was told of; none where another
-- process was faster.
UPDATE operator_alert SET told_at = @now WHERE name = @name AND told_at = 0 AND since <= CAST(@before AS bigint) RETURNING *;

-- name: OperatorAlertEnd :many
DELETE FROM operator_alert WHERE name = @name RETURNING *;
