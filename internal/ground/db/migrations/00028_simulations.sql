-- Frames of a job whose simulations run from frame to frame are given out in long runs,
-- because a worker has to play what comes before a run.

-- +goose Up
ALTER TABLE turn ADD COLUMN plays bigint NOT NULL DEFAULT 0 CHECK (plays IN (0, 1)); -- of a job: frames depend on the frames before
ALTER TABLE turn ADD COLUMN plays_from bigint NOT NULL DEFAULT 0; -- the first frame that is played
ALTER TABLE turn ADD COLUMN played bigint NOT NULL DEFAULT 0; -- frames that were played for accepted ones
ALTER TABLE turn ADD COLUMN play_us bigint NOT NULL DEFAULT 0; -- what that took

-- +goose Down
ALTER TABLE turn DROP COLUMN play_us;
ALTER TABLE turn DROP COLUMN played;
ALTER TABLE turn DROP COLUMN plays_from;
ALTER TABLE turn DROP COLUMN plays;
