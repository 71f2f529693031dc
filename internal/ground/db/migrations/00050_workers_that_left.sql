-- A worker that has left stays offline, whatever call of its arrives late.

-- +goose Up
ALTER TABLE worker ADD COLUMN left_at bigint NOT NULL DEFAULT 0; -- 0 = it has not

-- +goose Down
ALTER TABLE worker DROP COLUMN left_at;
