-- Frames of a workspace go only to workers with the tags that it requires, and only so many of
-- them are rendered at once. Each required tag has a bit. pools are the bits that a worker has,
-- and those that a workspace and its jobs ask for. The bit 1 is that of workspaces without tags:
-- a reserved worker lacks it.

-- +goose Up
ALTER TABLE workspace ADD COLUMN tags text NOT NULL DEFAULT '';              -- that its workers must have, sorted, each after a space
ALTER TABLE workspace ADD COLUMN frames_at_once bigint NOT NULL DEFAULT 0;   -- 0 = no limit
ALTER TABLE worker ADD COLUMN tags text NOT NULL DEFAULT '';                 -- as it registered with, like those of a workspace
ALTER TABLE worker ADD COLUMN reserved bigint NOT NULL DEFAULT 0;            -- 1 = it takes nothing of workspaces that require no tag
ALTER TABLE worker ADD COLUMN pools bigint NOT NULL DEFAULT 1;
ALTER TABLE turn ADD COLUMN pools bigint NOT NULL DEFAULT 1;
ALTER TABLE turn ADD COLUMN most_held bigint NOT NULL DEFAULT 0;             -- of a workspace: its frames_at_once
CREATE TABLE pool (
  tag text PRIMARY KEY, -- '' = that of workspaces without tags
  bit bigint NOT NULL UNIQUE
);
INSERT INTO pool (tag, bit) VALUES ('', 1);

-- +goose Down
DROP TABLE pool;
ALTER TABLE turn DROP COLUMN most_held;
ALTER TABLE turn DROP COLUMN pools;
ALTER TABLE worker DROP COLUMN pools;
ALTER TABLE worker DROP COLUMN reserved;
ALTER TABLE worker DROP COLUMN tags;
ALTER TABLE workspace DROP COLUMN frames_at_once;
ALTER TABLE workspace DROP COLUMN tags;
