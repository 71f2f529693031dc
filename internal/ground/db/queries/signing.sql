-- name: SigningKeyAdd :exec
INSERT INTO signing_key (key_id, public_pem, valid_from, valid_to, row_sum) VALUES (@key_id, @public_pem, @valid_from, @valid_to, @row_sum)
ON CONFLICT (key_id) DO NOTHING;

-- name: SigningKeyEnd :one
UPDATE signing_key SET valid_to = @valid_to WHERE key_id = @key_id AND (valid_to = 0 OR valid_to > @valid_to) RETURNING *;

-- name: SigningKeys :many
-- The newest first.
SELECT * FROM signing_key ORDER BY valid_from DESC, key_id;

-- name: SigningKeyAfter :many
SELECT * FROM signing_key WHERE key_id > @after ORDER BY key_id LIMIT 500;

-- name: SigningKeySum :exec
UPDATE signing_key SET row_sum = @row_sum WHERE key_id = @key_id;
