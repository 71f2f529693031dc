-- name: SigningKeyAdd :exec
INSERT INTO signing_key (key_id, public_pem, valid_from) VALUES (@key_id, @public_pem, @valid_from)
ON CONFLICT (key_id) DO NOTHING;

-- name: SigningKeyEnd :execrows
UPDATE signing_key SET valid_to = @valid_to WHERE key_id = @key_id AND (valid_to = 0 OR valid_to > @valid_to);

-- name: SigningKeys :many
-- The newest first.
SELECT * FROM signing_key ORDER BY valid_from DESC, key_id;
