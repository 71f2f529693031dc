-- +goose Up

-- Work of the server's own that failed too often: kept for the operator, who
-- has it done again.
CREATE TABLE dead_letter (
  lease_id   text PRIMARY KEY, -- as the lease was called
  queue      text NOT NULL,
  subject    text NOT NULL,
  item       bigint NOT NULL,
  attempt    bigint NOT NULL,
  failures   bigint NOT NULL,
  last_code  text NOT NULL,
  last_error text NOT NULL,
  died_at    bigint NOT NULL
);
CREATE INDEX dead_letter_of ON dead_letter (queue, died_at);

-- Silent holders are looked for by queue.
DROP INDEX lease_held;
CREATE INDEX lease_held ON lease (queue, lapses_at) WHERE state = 'held';

-- +goose Down
DROP INDEX lease_held;
CREATE INDEX lease_held ON lease (lapses_at) WHERE state = 'held';
DROP TABLE dead_letter;
