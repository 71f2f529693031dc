-- A job fails only when workers of two node keys agree, and a key whose workers fail far
-- more than others is paused.

-- +goose Up

ALTER TABLE failed_attempt ADD COLUMN key_id text NOT NULL DEFAULT ''; -- the holder's node key
ALTER TABLE failed_attempt ADD COLUMN final bigint NOT NULL DEFAULT 0; -- 1: as reported, no worker can render the frame
-- 1: it would end the job if a worker of another key agreed. Until then the job's frames
-- go to other keys only.
ALTER TABLE failed_attempt ADD COLUMN undecided bigint NOT NULL DEFAULT 0;
UPDATE failed_attempt SET key_id = coalesce((SELECT w.key_id FROM worker w WHERE w.worker_id = failed_attempt.holder), '');

DROP INDEX failed_try_by_holder;
CREATE INDEX failed_attempt_by_key ON failed_attempt (key_id, subject, item);
CREATE INDEX failed_attempt_undecided ON failed_attempt (subject, key_id) WHERE undecided = 1;
-- The attempts of the last hour, by key.
CREATE INDEX failed_attempt_by_time ON failed_attempt (failed_at, key_id);
CREATE INDEX frame_by_time ON frame (accepted_at, worker_id);

-- For who looks for what is over: logs of frames, rejected receipts, workers that left.
CREATE INDEX frame_logged ON frame (accepted_at) WHERE log <> '';
CREATE INDEX benchmark_receipt_by_worker ON benchmark_receipt (worker_id);
CREATE INDEX benchmark_receipt_rejected ON benchmark_receipt (created_at) WHERE status = 'rejected';

-- How far a node key is trusted. A key without a row was never paused.
CREATE TABLE key_standing (
  key_id       text PRIMARY KEY REFERENCES node_key (key_id),
  pauses       bigint NOT NULL DEFAULT 0, -- in a row
  paused_until bigint NOT NULL DEFAULT 0, -- earlier failures of the key's workers do not count
  failed       bigint NOT NULL DEFAULT 0, -- of attempts, when the key was paused last
  attempts     bigint NOT NULL DEFAULT 0
);

-- +goose Down
DROP TABLE key_standing;
DROP INDEX benchmark_receipt_rejected;
DROP INDEX benchmark_receipt_by_worker;
DROP INDEX frame_logged;
DROP INDEX frame_by_time;
DROP INDEX failed_attempt_by_time;
DROP INDEX failed_attempt_undecided;
DROP INDEX failed_attempt_by_key;
CREATE INDEX failed_try_by_holder ON failed_attempt (holder, subject, item);
ALTER TABLE failed_attempt DROP COLUMN undecided;
ALTER TABLE failed_attempt DROP COLUMN final;
ALTER TABLE failed_attempt DROP COLUMN key_id;
