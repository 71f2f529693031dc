-- +goose Up

-- The identity of a person at an OpenID Connect issuer: the address may change
-- there, the subject never does.
CREATE TABLE person_login (
  issuer     text NOT NULL,
  subject    text NOT NULL,
  person_id  text NOT NULL REFERENCES person (person_id),
  created_at bigint NOT NULL,
  PRIMARY KEY (issuer, subject)
);

CREATE INDEX sign_in_link_by_email ON sign_in_link (email, created_at);
CREATE INDEX sign_in_link_by_end ON sign_in_link (expires_at);
CREATE INDEX session_by_end ON session (expires_at);

-- +goose Down
DROP INDEX session_by_end;
DROP INDEX sign_in_link_by_end;
DROP INDEX sign_in_link_by_email;
DROP TABLE person_login;
