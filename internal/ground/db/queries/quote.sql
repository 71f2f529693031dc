-- name: QuoteCreate :exec
INSERT INTO quote (quote_id, upload_id, workspace_id, frame_start, frame_end, frame_step, frame_count,
  price_cents, pricing_version, qualified, warnings, created_at, expires_at)
VALUES (@quote_id, @upload_id, @workspace_id, @frame_start, @frame_end, @frame_step, @frame_count,
  @price_cents, @pricing_version, @qualified, @warnings, @created_at, @expires_at);

-- name: QuoteLock :one
SELECT * FROM quote WHERE quote_id = @quote_id AND workspace_id = @workspace_id FOR UPDATE;

-- name: QuoteAccept :execrows
UPDATE quote SET accepted_at = @now, job_id = @job_id WHERE quote_id = @quote_id AND job_id = '';

-- name: QuoteLatest :one
SELECT quote_id FROM quote WHERE upload_id = @upload_id AND workspace_id = @workspace_id ORDER BY quote_id DESC LIMIT 1;
