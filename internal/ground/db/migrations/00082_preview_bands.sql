-- What the bands of a preview took, as JSON: frames are cut by it.

-- +goose Up
ALTER TABLE preview ADD COLUMN bands text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE preview DROP COLUMN bands;
