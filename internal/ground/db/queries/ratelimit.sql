-- name: RateTake :one
-- Takes requests of at most a burst when that keeps the client within it; otherwise
-- nothing changes and no row comes back.
INSERT INTO rate_limit (client, arrival) VALUES (@client, CAST(@now AS bigint) + CAST(@cost AS bigint))
ON CONFLICT (client) DO UPDATE
SET arrival = CASE WHEN rate_limit.arrival > CAST(@now AS bigint) THEN rate_limit.arrival ELSE CAST(@now AS bigint) END + CAST(@cost AS bigint)
WHERE rate_limit.arrival + CAST(@cost AS bigint) <= CAST(@now AS bigint) + CAST(@span AS bigint)
RETURNING arrival;

-- name: RateAdd :one
-- Adds a cost, whatever the burst. A negative cost takes back what was just
-- added.
INSERT INTO rate_limit (client, arrival) VALUES (@client, CAST(@now AS bigint) + CAST(@cost AS bigint))
ON CONFLICT (client) DO UPDATE
SET arrival = CASE WHEN rate_limit.arrival > CAST(@now AS bigint) THEN rate_limit.arrival ELSE CAST(@now AS bigint) END + CAST(@cost AS bigint)
RETURNING arrival;

-- name: RateArrival :one
SELECT arrival FROM rate_limit WHERE client = @client;

-- name: RateReset :exec
-- Forgets a client whose arrival time is of a clock that was set back since.
DELETE FROM rate_limit WHERE client = @client AND arrival > CAST(@farthest AS bigint);

-- name: RateForget :execrows
DELETE FROM rate_limit WHERE arrival <= @now;

-- name: RateKey :one
-- The active key of a secret of any kind, and its workspace; a worker's key has none.
SELECT key_id, workspace_id FROM account_key a WHERE a.secret_sha256 = @secret_sha256 AND a.revoked_at = 0
UNION ALL SELECT key_id, workspace_id FROM agent_key b WHERE b.secret_sha256 = @secret_sha256 AND b.revoked_at = 0
UNION ALL SELECT key_id, '' FROM node_key c WHERE c.secret_sha256 = @secret_sha256 AND c.revoked_at = 0
UNION ALL SELECT key_id, '' FROM operator_key o WHERE o.secret_sha256 = @secret_sha256 AND o.revoked_at = 0
LIMIT 1;
