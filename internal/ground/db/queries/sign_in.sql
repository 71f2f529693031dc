-- name: SignInLinkCreate :exec
INSERT INTO sign_in_link (token_sha256, email, created_at, expires_at) VALUES (@token_sha256, @email, @created_at, @expires_at);

-- name: SignInLinkUse :one
UPDATE sign_in_link SET used_at = @now
WHERE token_sha256 = @token_sha256 AND used_at = 0 AND expires_at > @now
RETURNING *;

-- name: SignInLinksOf :one
SELECT count(*) FROM sign_in_link WHERE email = @email AND created_at > CAST(@since AS bigint);

-- name: SignInLinkDelete :exec
DELETE FROM sign_in_link WHERE token_sha256 = @token_sha256;

-- name: SignInLinksEnd :exec
DELETE FROM sign_in_link WHERE expires_at <= CAST(@now AS bigint);

-- name: SessionCreate :exec
INSERT INTO session (token_sha256, person_id, created_at, expires_at) VALUES (@token_sha256, @person_id, @created_at, @expires_at);

-- name: SessionGet :one
SELECT p.person_id, p.email, p.workspace_id, s.expires_at FROM session s JOIN person p ON p.person_id = s.person_id
WHERE s.token_sha256 = @token_sha256;

-- name: SessionDelete :exec
DELETE FROM session WHERE token_sha256 = @token_sha256;

-- name: SessionsEnd :exec
DELETE FROM session WHERE expires_at <= CAST(@now AS bigint);

-- name: LoginPerson :one
SELECT p.person_id, p.email, p.workspace_id FROM person_login l JOIN person p ON p.person_id = l.person_id
WHERE l.issuer = @issuer AND l.subject = @subject;

-- name: LoginCreate :exec
INSERT INTO person_login (issuer, subject, person_id, created_at) VALUES (@issuer, @subject, @person_id, @created_at)
ON CONFLICT (issuer, subject) DO NOTHING;
