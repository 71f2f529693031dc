-- What a worker's Blender has for colour management.

-- +goose Up

-- JSON of package colour; '' where the worker did not tell.
ALTER TABLE worker ADD COLUMN colors text NOT NULL DEFAULT '';
UPDATE worker SET row_sum = '';
INSERT INTO unsummed (relation) SELECT 'worker' WHERE EXISTS (SELECT 1 FROM worker) ON CONFLICT DO NOTHING;

-- +goose Down
ALTER TABLE worker DROP COLUMN colors;
