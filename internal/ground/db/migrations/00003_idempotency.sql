-- +goose Up

-- An idempotency key is held while its request is worked on (status 0), and
-- keeps the answer once that is done.
CREATE TABLE idempotency (
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  route        text NOT NULL,
  key          text NOT NULL,
  fingerprint  text NOT NULL,
  holder       text NOT NULL,
  lapses_at    bigint NOT NULL,           -- of a hold: when it counts as lost
  status       bigint NOT NULL DEFAULT 0, -- the answer's HTTP status
  body         text NOT NULL DEFAULT '',
  expires_at   bigint NOT NULL DEFAULT 0, -- of an answer: when it is forgotten
  PRIMARY KEY (workspace_id, route, key)
);
CREATE INDEX idempotency_expiring ON idempotency (expires_at) WHERE status <> 0;

-- A client's theoretical arrival time (GCRA), microseconds. A row whose time
-- has passed says the same as none.
CREATE TABLE rate_limit (
  client  text PRIMARY KEY,
  arrival bigint NOT NULL
);
CREATE INDEX rate_limit_by_arrival ON rate_limit (arrival);

-- +goose Down
DROP TABLE rate_limit;
DROP TABLE idempotency;
