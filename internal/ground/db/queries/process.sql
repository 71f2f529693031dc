-- name: ProcessSeen :exec
INSERT INTO process (process_id, host, version, schema, started_at, seen_at)
VALUES (@process_id, @host, @version, @schema, @now, @now)
ON CONFLICT (process_id) DO UPDATE SET seen_at = excluded.seen_at;

-- name: ProcessGone :exec
DELETE FROM process WHERE process_id = @process_id;

-- name: ProcessesForget :exec
DELETE FROM process WHERE seen_at < @before;

-- name: Processes :many
SELECT * FROM process ORDER BY started_at, process_id LIMIT 1000;
