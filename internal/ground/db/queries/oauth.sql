-- name: OauthRequestCreate :exec
INSERT INTO oauth_request (secret_sha256, kind, user_code, client_id, redirect_uri, challenge, scopes, resources, status, key_name, workspace_id, spend_limit_cents, life_days, key_id, created_at, expires_at, polled_at, poll_seconds, row_sum, person_id)
VALUES (@secret_sha256, @kind, @user_code, @client_id, @redirect_uri, @challenge, @scopes, @resources, @status, @key_name, @workspace_id, @spend_limit_cents, @life_days, @key_id, @created_at, @expires_at, @polled_at, @poll_seconds, @row_sum, @person_id);

-- name: OauthRequestLock :one
SELECT * FROM oauth_request WHERE secret_sha256 = @secret_sha256 FOR UPDATE;

-- name: OauthRequestByUserCode :one
-- Locked, so that of two answers to a device one counts.
SELECT * FROM oauth_request WHERE user_code = CAST(@user_code AS text) AND user_code <> '' FOR UPDATE;

-- name: OauthRequestChange :exec
UPDATE oauth_request SET status = @status, key_name = @key_name, workspace_id = @workspace_id, spend_limit_cents = @spend_limit_cents, life_days = @life_days,
  key_id = @key_id, polled_at = @polled_at, poll_seconds = @poll_seconds, row_sum = @row_sum, person_id = @person_id
WHERE secret_sha256 = @secret_sha256;

-- name: OauthRequestsEnd :exec
DELETE FROM oauth_request WHERE expires_at <= CAST(@before AS bigint);

-- name: OauthDevicesWaiting :one
SELECT count(*) FROM oauth_request WHERE kind = 'device' AND status = 'waiting';

-- name: OauthGrantCreate :exec
INSERT INTO oauth_grant (key_id, client_id, family_sha256, refresh_sha256, access_sha256, access_until, previous_sha256, previous_until, row_sum)
VALUES (@key_id, @client_id, @family_sha256, @refresh_sha256, @access_sha256, @access_until, @previous_sha256, @previous_until, @row_sum);

-- name: OauthGrantLock :one
-- Locked, so that of two uses of a refresh token one is the second.
SELECT * FROM oauth_grant WHERE family_sha256 = @family_sha256 FOR UPDATE;

-- name: OauthGrantByAccess :one
SELECT * FROM oauth_grant WHERE access_sha256 = CAST(@access_sha256 AS text) OR previous_sha256 = CAST(@access_sha256 AS text);

-- name: OauthGrantChange :exec
UPDATE oauth_grant SET refresh_sha256 = @refresh_sha256, access_sha256 = @access_sha256, access_until = @access_until,
  previous_sha256 = @previous_sha256, previous_until = @previous_until, row_sum = @row_sum
WHERE key_id = @key_id;

-- name: OauthKey :one
-- The agent key of a grant.
SELECT workspace_id, scopes, resources, revoked_at, expires_at FROM agent_key WHERE key_id = @key_id;

-- name: OauthRequestsErase :exec
DELETE FROM oauth_request WHERE workspace_id = @workspace_id;

-- name: OauthGrantsErase :exec
DELETE FROM oauth_grant WHERE key_id IN (SELECT k.key_id FROM agent_key k WHERE k.workspace_id = @workspace_id);

