-- What a worker's Blender was built without, and what jobs and previews need of it: sets of
-- package buildoption. A worker may take what needs nothing that it lacks.

-- +goose Up
ALTER TABLE worker ADD COLUMN lacks bigint NOT NULL DEFAULT 0;
UPDATE worker SET row_sum = '';
INSERT INTO unsummed (relation) SELECT 'worker' WHERE EXISTS (SELECT 1 FROM worker) ON CONFLICT DO NOTHING;
ALTER TABLE turn ADD COLUMN needs bigint NOT NULL DEFAULT 0; -- of a job
ALTER TABLE preview ADD COLUMN needs bigint NOT NULL DEFAULT 0;
UPDATE preview SET row_sum = '';
INSERT INTO unsummed (relation) SELECT 'preview' WHERE EXISTS (SELECT 1 FROM preview) ON CONFLICT DO NOTHING;

-- +goose Down
ALTER TABLE preview DROP COLUMN needs;
ALTER TABLE turn DROP COLUMN needs;
ALTER TABLE worker DROP COLUMN lacks;
