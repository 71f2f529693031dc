-- A job stays with the Blender version and denoising of its first frame. kind is both, as
-- dispatch writes it.

-- +goose Up
ALTER TABLE worker ADD COLUMN kind text NOT NULL DEFAULT '';
UPDATE worker SET kind = blender_version || CASE WHEN denoise = 'off' THEN ' without denoising' ELSE '' END;
ALTER TABLE turn ADD COLUMN kind text NOT NULL DEFAULT ''; -- of a job; '' = none yet, 'any' = an operator allows all
UPDATE turn SET kind = coalesce((
  SELECT w.kind FROM frame f JOIN worker w ON w.worker_id = f.worker_id WHERE f.job_id = turn.party ORDER BY f.ordinal LIMIT 1), '')
WHERE within <> '';

-- +goose Down
ALTER TABLE turn DROP COLUMN kind;
ALTER TABLE worker DROP COLUMN kind;
