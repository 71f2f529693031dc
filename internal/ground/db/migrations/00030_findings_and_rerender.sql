-- What a person should look at in a job, and orders of single frames of a job that ended.

-- +goose Up

-- JSON: the frames of each finding, by code, such as {"black":"3,7-9"}. '-' is of a
-- version that looked for none.
ALTER TABLE job ADD COLUMN findings text NOT NULL DEFAULT '-';

-- The frames, such as 3,7-9, where they are more than one range; '' for the range.
ALTER TABLE job ADD COLUMN frames text NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN rerender_of text NOT NULL DEFAULT ''; -- the job whose frames these are once more
ALTER TABLE quote ADD COLUMN frames text NOT NULL DEFAULT '';
ALTER TABLE quote ADD COLUMN rerender_of text NOT NULL DEFAULT '';
UPDATE quote SET row_sum = '';
INSERT INTO unsummed (relation) SELECT 'quote' WHERE EXISTS (SELECT 1 FROM quote) ON CONFLICT DO NOTHING;

-- +goose Down
ALTER TABLE quote DROP COLUMN rerender_of;
ALTER TABLE quote DROP COLUMN frames;
ALTER TABLE job DROP COLUMN rerender_of;
ALTER TABLE job DROP COLUMN frames;
ALTER TABLE job DROP COLUMN findings;
