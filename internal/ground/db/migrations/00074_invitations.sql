-- Invitations to workspaces.

-- +goose Up
CREATE TABLE invitation (
  invitation_id text PRIMARY KEY,
  workspace_id  text NOT NULL REFERENCES workspace (workspace_id),
  email         text NOT NULL,
  role          text NOT NULL,
  invited_by    text NOT NULL,   -- a person
  token_sha256  text NOT NULL UNIQUE,
  created_at    bigint NOT NULL,
  expires_at    bigint NOT NULL,
  ended_at      bigint NOT NULL, -- accepted, revoked or replaced; 0 = open
  row_sum       text NOT NULL
);
CREATE INDEX invitation_of_workspace ON invitation (workspace_id, created_at);
CREATE INDEX invitation_of_address ON invitation (email, created_at);
CREATE INDEX invitation_by_end ON invitation (expires_at);


-- +goose Down
DROP TABLE invitation;
