-- +goose Up

-- What renders: 'blender' or 'synthetic', which renders nothing. One synthetic
-- frame makes its whole job synthetic; '' while a job has no frame.
ALTER TABLE worker ADD COLUMN renderer text NOT NULL DEFAULT 'blender' CHECK (renderer IN ('blender', 'synthetic'));
ALTER TABLE frame ADD COLUMN renderer text NOT NULL DEFAULT 'blender' CHECK (renderer IN ('blender', 'synthetic'));
ALTER TABLE job ADD COLUMN renderer text NOT NULL DEFAULT '' CHECK (renderer IN ('', 'blender', 'synthetic'));

-- +goose Down
ALTER TABLE job DROP COLUMN renderer;
ALTER TABLE frame DROP COLUMN renderer;
ALTER TABLE worker DROP COLUMN renderer;
