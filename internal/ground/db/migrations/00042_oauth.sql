-- Programs that a person lets into a workspace (OAuth 2.1). What they get is an agent key.

-- +goose Up

-- A person's yes on its way to a program: a code, or a device that waits.
CREATE TABLE oauth_request (
  secret_sha256     text PRIMARY KEY,         -- of the code, or of the device's code
  kind              text NOT NULL,            -- 'code' or 'device'
  user_code         text NOT NULL,            -- what a person types for a device; '' for a code
  client_id         text NOT NULL,
  redirect_uri      text NOT NULL,            -- '' for a device
  challenge         text NOT NULL,            -- PKCE, S256; '' for a device
  scopes            text NOT NULL,            -- separated by spaces
  resources         text NOT NULL,            -- addresses, separated by spaces
  status            text NOT NULL,            -- 'waiting', 'allowed', 'denied' or 'used'
  key_name          text NOT NULL DEFAULT '', -- from here on what the person said
  workspace_id      text NOT NULL DEFAULT '',
  spend_limit_cents bigint NOT NULL DEFAULT 0,
  life_days         bigint NOT NULL DEFAULT 0,
  key_id            text NOT NULL DEFAULT '', -- what the request became, once used
  created_at        bigint NOT NULL,
  expires_at        bigint NOT NULL,
  polled_at         bigint NOT NULL DEFAULT 0,
  poll_seconds      bigint NOT NULL DEFAULT 0, -- how far apart a device's polls must be
  row_sum           text NOT NULL
);
CREATE UNIQUE INDEX oauth_request_by_user_code ON oauth_request (user_code) WHERE user_code <> '';
CREATE INDEX oauth_request_by_end ON oauth_request (expires_at);

-- The tokens of an agent key that a program got. Only the newest refresh token works;
-- access tokens work until their end.
CREATE TABLE oauth_grant (
  key_id          text PRIMARY KEY REFERENCES agent_key (key_id),
  client_id       text NOT NULL,
  family_sha256   text NOT NULL UNIQUE, -- of the part that all refresh tokens of the key share
  refresh_sha256  text NOT NULL,
  access_sha256   text NOT NULL UNIQUE,
  access_until    bigint NOT NULL,
  previous_sha256 text NOT NULL,        -- the access token before; '' for none
  previous_until  bigint NOT NULL,
  row_sum         text NOT NULL
);
CREATE INDEX oauth_grant_by_previous ON oauth_grant (previous_sha256) WHERE previous_sha256 <> '';

-- +goose Down
DROP TABLE oauth_grant;
DROP TABLE oauth_request;
