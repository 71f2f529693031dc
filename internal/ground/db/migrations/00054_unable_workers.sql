-- A worker that cannot work says why, and gets no frames for a while.

-- +goose Up
ALTER TABLE worker ADD COLUMN unable text NOT NULL DEFAULT ''; -- its reason, until it has rendered a frame

-- +goose Down
ALTER TABLE worker DROP COLUMN unable;
