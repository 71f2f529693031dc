-- name: TestWorldGet :one
SELECT * FROM test_world WHERE workspace_id = @workspace_id;

-- name: TestWorldAdd :exec
-- Nothing where it is listed already.
INSERT INTO test_world (workspace_id, created_at, used_at, ended_at, row_sum) VALUES (@workspace_id, @created_at, @used_at, @ended_at, @row_sum)
ON CONFLICT (workspace_id) DO NOTHING;

-- name: TestWorldUse :one
-- Writes that a world is used. One that has ended stays as it is, and no row is changed.
UPDATE test_world SET used_at = @now WHERE workspace_id = @workspace_id AND ended_at = 0 RETURNING *;

-- name: TestWorldCount :one
SELECT count(*) FROM test_world WHERE workspace_id <> @but;

-- name: TestWorldOldest :one
-- The world that was not used for the longest time.
SELECT * FROM test_world WHERE ended_at = 0 ORDER BY used_at, workspace_id LIMIT 1;

-- name: TestWorldEnd :one
UPDATE test_world SET ended_at = @now WHERE workspace_id = @workspace_id AND ended_at = 0 RETURNING *;

-- name: TestWorldsUnused :many
SELECT workspace_id FROM test_world WHERE ended_at = 0 AND used_at < @before ORDER BY used_at, workspace_id LIMIT 100;

-- name: TestWorldsAfter :many
SELECT * FROM test_world WHERE workspace_id > @after ORDER BY workspace_id LIMIT 500;

-- name: TestWorldsEnded :many
SELECT workspace_id FROM test_world WHERE ended_at > 0 AND ended_at <= @before ORDER BY ended_at LIMIT 100;

-- name: TestWorldRemove :exec
DELETE FROM test_world WHERE workspace_id = @workspace_id AND ended_at > 0;

-- name: ClockMoved :one
-- By how much the clock is moved, in microseconds.
SELECT CAST(coalesce(sum(moved_us), 0) AS bigint) AS moved_us FROM moved_clock;

-- name: ClockMove :exec
INSERT INTO moved_clock (id, moved_us) VALUES (1, @by_us)
ON CONFLICT (id) DO UPDATE SET moved_us = moved_clock.moved_us + excluded.moved_us;

-- name: TestFrames :one
-- How many frames the jobs of a test world have.
SELECT CAST(coalesce(sum(frame_count), 0) AS bigint) AS frames FROM job;
