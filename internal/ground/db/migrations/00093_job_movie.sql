-- Whether the output of a completed job's scene is a movie, which a worker then encodes of the
-- frames without being asked. Jobs of before say 0: theirs are made when somebody asks.

-- +goose Up
ALTER TABLE job ADD COLUMN movie bigint NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE job DROP COLUMN movie;
