-- A job can be paused, and it has a priority among its workspace's jobs.

-- +goose Up
ALTER TABLE turn ADD COLUMN paused text NOT NULL DEFAULT '';     -- of a job: by whom, 'workspace' or 'operator'; '' = it is not
ALTER TABLE turn ADD COLUMN paused_at bigint NOT NULL DEFAULT 0; -- 0 = it is not
ALTER TABLE turn ADD COLUMN priority bigint NOT NULL DEFAULT 50; -- of a job, 1 to 100; a higher one is served first
DROP INDEX turn_next;
CREATE INDEX turn_next ON turn (within, priority DESC, served_us, party) WHERE waiting > 0;

-- +goose Down
DROP INDEX turn_next;
CREATE INDEX turn_next ON turn (within, served_us, party) WHERE waiting > 0;
ALTER TABLE turn DROP COLUMN priority;
ALTER TABLE turn DROP COLUMN paused_at;
ALTER TABLE turn DROP COLUMN paused;
