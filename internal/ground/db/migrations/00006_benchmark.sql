-- Benchmark receipts, the results that count, and what ranks them.

-- +goose Up

-- The key that a worker signs its benchmark receipts with, bound to the node key
-- that first showed it.
CREATE TABLE node_signing_key (
  key_id     text PRIMARY KEY REFERENCES node_key (key_id),
  public_pem text NOT NULL,
  bound_at   bigint NOT NULL
);

-- Every well-formed receipt that came. A rejected one is kept here and shown
-- nowhere: it has no benchmark_result.
CREATE TABLE benchmark_receipt (
  result_id       text PRIMARY KEY,
  payload_sha256  text NOT NULL UNIQUE, -- of the worker's statement: it counts once, however often it is sent
  node_key_id     text NOT NULL REFERENCES node_key (key_id),
  worker_id       text NOT NULL REFERENCES worker (worker_id),
  worker_envelope text NOT NULL, -- as the worker signed it
  status          text NOT NULL CHECK (status IN ('accepted', 'rejected')),
  reason          text NOT NULL DEFAULT '',
  detail          text NOT NULL DEFAULT '', -- the reason in one line
  receipt_id      text NOT NULL DEFAULT '',
  envelope        text NOT NULL DEFAULT '', -- the service's record, as it is signed; '' when rejected
  created_at      bigint NOT NULL,
  CHECK ((status = 'accepted') = (envelope <> ''))
);
CREATE UNIQUE INDEX benchmark_receipt_by_receipt ON benchmark_receipt (receipt_id) WHERE receipt_id <> '';

-- The one row is locked by every result that is added: so numbers are dense and
-- counts are exact for any number of writers.
CREATE TABLE benchmark_counter (
  counter_id  bigint PRIMARY KEY CHECK (counter_id = 1),
  last_number bigint NOT NULL,
  last_group  bigint NOT NULL,
  last_facet  bigint NOT NULL
);
INSERT INTO benchmark_counter (counter_id, last_number, last_group, last_facet) VALUES (1, 0, 0, 0);

-- A group is what is ranked together: the results of one GPU under equal
-- versions, or, with gpu_slug '', of all GPUs under them, which is called a board.
CREATE TABLE benchmark_group (
  group_id          bigint PRIMARY KEY,
  benchmark_version text NOT NULL,
  scene_version     text NOT NULL,
  scoring_version   text NOT NULL,
  gpu_slug          text NOT NULL,
  gpu_name          text NOT NULL,
  gpu_vendor        text NOT NULL,
  folded            text NOT NULL, -- what a search looks at, in lower case
  vram_gb           bigint NOT NULL DEFAULT 0, -- 0 = unknown
  results           bigint NOT NULL DEFAULT 0,
  synthetic         bigint NOT NULL DEFAULT 0, -- of the results
  score_sum         bigint NOT NULL DEFAULT 0, -- thousandths
  score_top         bigint NOT NULL DEFAULT 0,
  time_sum          bigint NOT NULL DEFAULT 0, -- milliseconds
  time_best         bigint NOT NULL DEFAULT 0,
  updated_at        bigint NOT NULL DEFAULT 0,
  UNIQUE (benchmark_version, scene_version, scoring_version, gpu_slug)
);
CREATE INDEX benchmark_group_by_results ON benchmark_group (benchmark_version, scene_version, scoring_version, results DESC, gpu_slug);
CREATE INDEX benchmark_group_by_slug ON benchmark_group (gpu_slug);

-- How many results of a group have a value in a bucket. A bucket of level l holds
-- the 64^l values from bucket * 64^l on; so whatever is asked of the order is
-- answered by at most 64 rows of each of five levels.
CREATE TABLE benchmark_tally (
  group_id bigint NOT NULL,
  measure  bigint NOT NULL CHECK (measure IN (0, 1)), -- 0: score in thousandths, 1: render time in milliseconds
  level    bigint NOT NULL CHECK (level BETWEEN 0 AND 4),
  bucket   bigint NOT NULL,
  results  bigint NOT NULL,
  PRIMARY KEY (group_id, measure, level, bucket)
);

-- What is shown. A CPU's result has group_id 0 and is in no tally.
CREATE TABLE benchmark_result (
  number      bigint PRIMARY KEY,
  result_id   text NOT NULL UNIQUE, -- of an accepted benchmark_receipt
  receipt_id  text NOT NULL,
  board_id    bigint NOT NULL REFERENCES benchmark_group (group_id),
  group_id    bigint NOT NULL,
  device_name text NOT NULL, -- as the worker named it
  gpu_name    text NOT NULL, -- 'unknown' of a CPU
  gpu_slug    text NOT NULL,
  vram_gb     bigint NOT NULL, -- 0 = unknown
  score       bigint NOT NULL, -- thousandths
  time_ms     bigint NOT NULL,
  synthetic   bigint NOT NULL CHECK (synthetic IN (0, 1)),
  created_at  bigint NOT NULL
);
CREATE INDEX benchmark_result_by_score ON benchmark_result (board_id, score DESC, number) WHERE group_id > 0;
CREATE INDEX benchmark_result_by_group ON benchmark_result (group_id, number);

-- A facet is one value of a public member; a posting names a result that has it.
CREATE TABLE benchmark_facet (
  facet_id bigint PRIMARY KEY,
  field    text NOT NULL,
  value    text NOT NULL,
  folded   text NOT NULL, -- what a search looks at, in lower case
  UNIQUE (field, value)
);
CREATE TABLE benchmark_posting (
  facet_id bigint NOT NULL,
  number   bigint NOT NULL,
  PRIMARY KEY (facet_id, number)
);

-- +goose Down
DROP TABLE benchmark_posting;
DROP TABLE benchmark_facet;
DROP TABLE benchmark_result;
DROP TABLE benchmark_tally;
DROP TABLE benchmark_group;
DROP TABLE benchmark_counter;
DROP TABLE benchmark_receipt;
DROP TABLE node_signing_key;
