-- The processes that serve, so that no newer one changes the schema under them.

-- +goose Up
CREATE TABLE process (
  process_id text PRIMARY KEY,
  host       text NOT NULL,
  version    text NOT NULL, -- of its program
  schema     bigint NOT NULL, -- the newest migration that its program knows
  started_at bigint NOT NULL,
  seen_at    bigint NOT NULL
);

-- +goose Down
DROP TABLE process;
