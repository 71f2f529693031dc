-- name: SavedFiltersOf :many
SELECT * FROM saved_filter WHERE workspace_id = @workspace_id AND person_id = @person_id ORDER BY name;

-- name: SavedFilterGet :one
SELECT * FROM saved_filter WHERE filter_id = @filter_id AND workspace_id = @workspace_id AND person_id = @person_id;

-- name: SavedFilterCount :one
-- How many a member has, and how many of them have a name.
SELECT count(*) AS filters, CAST(coalesce(sum(CASE WHEN name = @name THEN 1 ELSE 0 END), 0) AS bigint) AS named
FROM saved_filter WHERE workspace_id = @workspace_id AND person_id = @person_id AND filter_id <> @but;

-- name: SavedFilterPut :exec
INSERT INTO saved_filter (filter_id, workspace_id, person_id, name, status, words, tag, from_day, to_day, person, frames, created_at, row_sum)
VALUES (@filter_id, @workspace_id, @person_id, @name, @status, @words, @tag, @from_day, @to_day, @person, @frames, @created_at, @row_sum)
ON CONFLICT (filter_id) DO UPDATE SET name = excluded.name, status = excluded.status, words = excluded.words, tag = excluded.tag,
  from_day = excluded.from_day, to_day = excluded.to_day, person = excluded.person, frames = excluded.frames, row_sum = excluded.row_sum;

-- name: SavedFilterDelete :execrows
DELETE FROM saved_filter WHERE filter_id = @filter_id AND workspace_id = @workspace_id AND person_id = @person_id;
