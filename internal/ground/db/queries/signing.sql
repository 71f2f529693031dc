-- name: SigningKeyAdd :exec
INSERT INTO signing_key (key_id, public_pem, valid_from, valid_to, row_sum, end_reason, end_size)
VALUES (@key_id, @public_pem, @valid_from, @valid_to, @row_sum, @end_reason, @end_size)
ON CONFLICT (key_id) DO NOTHING;

-- name: SigningKeyEnd :one
UPDATE signing_key SET valid_to = @valid_to, end_reason = @end_reason WHERE key_id = @key_id AND (valid_to = 0 OR valid_to > @valid_to) RETURNING *;

-- name: SigningKeyCompromised :one
-- For a key whose end was set before its theft was known.
UPDATE signing_key SET end_reason = 'compromised' WHERE key_id = @key_id AND valid_to <> 0 AND end_reason = 'superseded' RETURNING *;

-- name: SigningKeyEndsAt :one
UPDATE signing_key SET end_size = @end_size WHERE key_id = @key_id AND end_size = -1 RETURNING *;

-- name: SigningKeys :many
-- The newest first.
SELECT * FROM signing_key ORDER BY valid_from DESC, key_id;

