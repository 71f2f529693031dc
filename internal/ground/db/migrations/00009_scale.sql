-- +goose Up

-- What renders: 'blender' or 'synthetic', which renders nothing. One synthetic
-- frame makes its whole job synthetic; '' while a job has no frame.
ALTER TABLE worker ADD COLUMN renderer text NOT NULL DEFAULT 'blender' CHECK (renderer IN ('blender', 'synthetic'));
ALTER TABLE frame ADD COLUMN renderer text NOT NULL DEFAULT 'blender' CHECK (renderer IN ('blender', 'synthetic'));
ALTER TABLE job ADD COLUMN renderer text NOT NULL DEFAULT '' CHECK (renderer IN ('', 'blender', 'synthetic'));

-- A watched job of 10,000 frames is read many times a second: for what came
-- since, when its last frames came, and what is being rendered.
CREATE INDEX frame_by_seq ON frame (job_id, seq, accepted_at);
CREATE INDEX lease_held_of ON lease (queue, subject) WHERE state = 'held';

-- +goose Down
DROP INDEX lease_held_of;
DROP INDEX frame_by_seq;
ALTER TABLE job DROP COLUMN renderer;
ALTER TABLE frame DROP COLUMN renderer;
ALTER TABLE worker DROP COLUMN renderer;
