-- How many outputs a frame was accepted with, so that the audit misses one whose row is gone.
-- Frames of before say 0.

-- +goose Up
ALTER TABLE frame ADD COLUMN outputs bigint NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE frame DROP COLUMN outputs;
