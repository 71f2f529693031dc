-- Jobs and top-ups say who began them: the person, and for a key the person who made it.
-- '' = nobody: a row from before, a key that an operator made, or a person who was erased.

-- +goose Up
ALTER TABLE job ADD COLUMN started_by text NOT NULL DEFAULT '';
CREATE INDEX job_by_person ON job (started_by, workspace_id, created_at) WHERE started_by <> '';
ALTER TABLE top_up ADD COLUMN started_by text NOT NULL DEFAULT '';
ALTER TABLE top_up ADD COLUMN key_id text NOT NULL DEFAULT ''; -- '' = in the browser, or from before
CREATE INDEX top_up_by_person ON top_up (started_by) WHERE started_by <> '';

-- +goose Down
DROP INDEX top_up_by_person;
ALTER TABLE top_up DROP COLUMN key_id;
ALTER TABLE top_up DROP COLUMN started_by;
DROP INDEX job_by_person;
ALTER TABLE job DROP COLUMN started_by;
