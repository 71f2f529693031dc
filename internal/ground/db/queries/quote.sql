-- name: QuoteCreate :exec
INSERT INTO quote (quote_id, upload_id, workspace_id, frame_start, frame_end, frame_step, frame_count, frames, rerender_of, settings, scene, reused, reused_cents,
  price_cents, pricing_version, qualified, warnings, created_at, expires_at, row_sum)
VALUES (@quote_id, @upload_id, @workspace_id, @frame_start, @frame_end, @frame_step, @frame_count, @frames, @rerender_of, @settings, @scene, @reused, @reused_cents,
  @price_cents, @pricing_version, @qualified, @warnings, @created_at, @expires_at, @row_sum);

-- name: QuoteLock :one
SELECT * FROM quote WHERE quote_id = @quote_id AND workspace_id = @workspace_id FOR UPDATE;

-- name: QuoteGet :one
SELECT settings, scene, reused FROM quote WHERE quote_id = @quote_id;

-- name: QuoteNewest :one
-- Sorting whole rows would copy the scenes of all quotes. With || PostgreSQL does not search the
-- quotes of all uploads from the newest on.
SELECT * FROM quote WHERE quote_id = (SELECT CAST(coalesce(max(n.quote_id || ''), '') AS text) FROM quote n WHERE n.upload_id = @upload_id AND n.workspace_id = @workspace_id);

-- name: QuoteAccept :execrows
UPDATE quote SET accepted_at = @now, job_id = @job_id WHERE quote_id = @quote_id AND job_id = '';

-- name: QuoteLatest :one
SELECT quote_id FROM quote WHERE upload_id = @upload_id AND workspace_id = @workspace_id ORDER BY quote_id DESC LIMIT 1;

-- name: QuotesUnstarted :many
-- The newest quotes of a workspace's uploads that are open, the newest first. An upload whose
-- newest quote was started or has expired has none.
SELECT q.quote_id, q.upload_id, u.filename, q.frame_count, CAST(q.price_cents - q.reused_cents AS bigint) AS price_cents, q.expires_at
FROM quote q JOIN upload u ON u.upload_id = q.upload_id
WHERE q.workspace_id = @workspace_id AND q.job_id = '' AND q.expires_at > @now AND u.removed_at = 0
  AND NOT EXISTS (SELECT 1 FROM quote n WHERE n.upload_id = q.upload_id AND n.quote_id > q.quote_id)
ORDER BY q.quote_id DESC LIMIT CAST(@max AS bigint);

-- name: QuoteScene :one
-- The scene of an upload as settings chose it before; no row where nobody has.
SELECT scene FROM quote WHERE quote_id = (
  SELECT CAST(coalesce(max(n.quote_id || ''), '') AS text) FROM quote n
  WHERE n.upload_id = @upload_id AND n.workspace_id = @workspace_id AND n.settings = @settings AND n.scene NOT IN ('', '{}'));

-- name: QuotesDropScenes :many
UPDATE quote SET scene = '{}' WHERE upload_id = @upload_id AND scene <> '' RETURNING *;

-- name: QuotesDrop :exec
DELETE FROM quote WHERE upload_id = @upload_id AND job_id = '';

-- name: AuditQuotes :many
-- A page of quotes, each with what its upload and its job say; '' and 0 where there is none.
-- The bound is repeated in the join: otherwise a merge would read everything before the
-- page.
SELECT sqlc.embed(q), CAST(coalesce(u.workspace_id, '') AS text) AS upload_workspace_id, CAST(coalesce(u.created_at, 0) AS bigint) AS uploaded_at,
  CAST(coalesce(j.job_id, '') AS text) AS taken_by,
  CAST(coalesce(f.upload_id, '') AS text) AS first_upload_id, CAST(coalesce(f.workspace_id, '') AS text) AS first_workspace_id
FROM quote q LEFT JOIN upload u ON u.upload_id = q.upload_id LEFT JOIN job j ON j.quote_id = q.quote_id AND j.quote_id > @after
  LEFT JOIN job f ON f.job_id = q.rerender_of AND q.rerender_of <> ''
WHERE q.quote_id > @after ORDER BY q.quote_id LIMIT 500;

-- name: QuotesErase :many
UPDATE quote SET warnings = '[]', settings = '', scene = '' WHERE workspace_id = @workspace_id RETURNING *;
