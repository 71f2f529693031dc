-- Pictures that the service draws for benchmark runs, what confirmed them, and one voice a key.

-- +goose Up

-- A picture that a run must render, and the reference render that confirms it.
CREATE TABLE benchmark_challenge (
  challenge_id    text PRIMARY KEY,
  node_key_id     text NOT NULL REFERENCES node_key (key_id),
  worker_id       text NOT NULL,
  scene           text NOT NULL,
  seed            bigint NOT NULL,
  shift_x         bigint NOT NULL, -- of the camera, in thousandths
  shift_y         bigint NOT NULL,
  samples         bigint NOT NULL,
  created_at      bigint NOT NULL,
  expires_at      bigint NOT NULL,
  ended_at        bigint NOT NULL DEFAULT 0, -- answered, or the worker asked for another one; 0 = open
  result_id       text NOT NULL DEFAULT '',  -- that answered it, accepted or not
  frame_key       text NOT NULL DEFAULT '',  -- blob of the picture; '' where it was not accepted
  frame_sha256    text NOT NULL DEFAULT '',
  frame_bytes     bigint NOT NULL DEFAULT 0,
  device          text NOT NULL DEFAULT '',  -- that rendered it
  blender_version text NOT NULL DEFAULT '',
  reference       text NOT NULL DEFAULT '',  -- '' = none is asked for; waiting, rendering, confirmed, refuted
  reference_key   text NOT NULL DEFAULT '',  -- node key of the worker that renders it, or has
  differs_key     text NOT NULL DEFAULT '',  -- node key of the first one whose picture differs
  difference      bigint NOT NULL DEFAULT 0, -- of the last reference's picture, in millionths
  decided_at      bigint NOT NULL DEFAULT 0,
  row_sum         text NOT NULL -- of the row's content; see package rowsum
);
CREATE INDEX benchmark_challenge_of_key ON benchmark_challenge (node_key_id, created_at);
CREATE INDEX benchmark_challenge_of_result ON benchmark_challenge (result_id) WHERE result_id <> '';
CREATE INDEX benchmark_challenge_waiting ON benchmark_challenge (ended_at) WHERE reference = 'waiting';

-- The board is recounted from the signed receipts when the service starts.
ALTER TABLE benchmark_counter ADD COLUMN stale bigint NOT NULL DEFAULT 0;
UPDATE benchmark_counter SET last_number = 0, last_group = 0, last_facet = 0,
  stale = CASE WHEN EXISTS (SELECT 1 FROM benchmark_result) THEN 1 ELSE 0 END;
DELETE FROM benchmark_posting;
DELETE FROM benchmark_facet;
DELETE FROM benchmark_tally;
DELETE FROM benchmark_result;
DELETE FROM benchmark_group;

ALTER TABLE benchmark_result ADD COLUMN worker_key_id text NOT NULL DEFAULT ''; -- that signed the receipt
ALTER TABLE benchmark_result ADD COLUMN standing text NOT NULL DEFAULT 'unverified';
-- 1: it is its key's voice, the newest ranked result of the key under its versions. Only
-- voices are counted and ranked.
ALTER TABLE benchmark_result ADD COLUMN speaks bigint NOT NULL DEFAULT 0;
DROP INDEX benchmark_result_by_score;
CREATE INDEX benchmark_result_by_score ON benchmark_result (board_id, score DESC, number) WHERE speaks = 1;
CREATE INDEX benchmark_result_of_key ON benchmark_result (board_id, worker_key_id, number) WHERE group_id > 0;
-- Results that are not ranked, of a GPU; what is ranked has a group.
CREATE INDEX benchmark_result_apart ON benchmark_result (gpu_slug, number) WHERE group_id = 0;

ALTER TABLE benchmark_tally ADD COLUMN total bigint NOT NULL DEFAULT 0; -- of the values in the bucket
ALTER TABLE benchmark_group ADD COLUMN score_mean bigint NOT NULL DEFAULT 0; -- trimmed, thousandths
ALTER TABLE benchmark_group ADD COLUMN score_median bigint NOT NULL DEFAULT 0;
ALTER TABLE benchmark_group ADD COLUMN time_mean bigint NOT NULL DEFAULT 0; -- trimmed, milliseconds
ALTER TABLE benchmark_group ADD COLUMN time_median bigint NOT NULL DEFAULT 0;
ALTER TABLE benchmark_group DROP COLUMN score_sum;
ALTER TABLE benchmark_group DROP COLUMN time_sum;

-- +goose Down
DELETE FROM lease WHERE queue = 'reference';
DELETE FROM benchmark_posting;
DELETE FROM benchmark_facet;
DELETE FROM benchmark_tally;
DELETE FROM benchmark_result;
DELETE FROM benchmark_group;
UPDATE benchmark_counter SET last_number = 0, last_group = 0, last_facet = 0;
ALTER TABLE benchmark_group ADD COLUMN score_sum bigint NOT NULL DEFAULT 0;
ALTER TABLE benchmark_group ADD COLUMN time_sum bigint NOT NULL DEFAULT 0;
ALTER TABLE benchmark_group DROP COLUMN score_mean;
ALTER TABLE benchmark_group DROP COLUMN score_median;
ALTER TABLE benchmark_group DROP COLUMN time_mean;
ALTER TABLE benchmark_group DROP COLUMN time_median;
ALTER TABLE benchmark_tally DROP COLUMN total;
DROP INDEX benchmark_result_apart;
DROP INDEX benchmark_result_of_key;
DROP INDEX benchmark_result_by_score;
CREATE INDEX benchmark_result_by_score ON benchmark_result (board_id, score DESC, number) WHERE group_id > 0;
ALTER TABLE benchmark_result DROP COLUMN speaks;
ALTER TABLE benchmark_result DROP COLUMN standing;
ALTER TABLE benchmark_result DROP COLUMN worker_key_id;
ALTER TABLE benchmark_counter DROP COLUMN stale;
DROP TABLE benchmark_challenge;
