-- Keys of the operators' API. They belong to the service, not to a workspace.

-- +goose Up
CREATE TABLE operator_key (
  key_id        text PRIMARY KEY,
  name          text NOT NULL,
  secret_sha256 text NOT NULL UNIQUE,
  masked_prefix text NOT NULL,
  can_write     bigint NOT NULL, -- 1 = it acts, 0 = it only reads
  created_at    bigint NOT NULL,
  expires_at    bigint NOT NULL, -- 0 = works until it is revoked
  last_used_at  bigint NOT NULL, -- 0 = never
  revoked_at    bigint NOT NULL, -- 0 = active
  row_sum       text NOT NULL
);

-- +goose Down
DROP TABLE operator_key;
