-- Test mode: every workspace that uses it has a test world, which is a store of its own
-- (docs/test-mode.md).

-- +goose Up

-- Which workspaces have a test world. It is in the real store, and names nothing that is
-- in the worlds.
CREATE TABLE test_world (
  workspace_id text PRIMARY KEY,
  created_at   bigint NOT NULL,
  used_at      bigint NOT NULL,           -- exact to some minutes
  ended_at     bigint NOT NULL,           -- when it stops opening and is removed; 0 while it lives
  row_sum      text NOT NULL
);
CREATE INDEX test_world_by_use ON test_world (used_at);

-- By how much the clock of a test world is ahead: one row, or none if it was not moved.
-- The real store has none.
CREATE TABLE moved_clock (
  id       bigint PRIMARY KEY,
  moved_us bigint NOT NULL
);

-- +goose Down
DROP TABLE moved_clock;
DROP TABLE test_world;
