-- name: QuoteLatest :one
SELECT quote_id FROM quote WHERE upload_id = @upload_id AND workspace_id = @workspace_id ORDER BY quote_id DESC LIMIT 1;

-- name: JobSubmitted :exec
UPDATE job SET submitted_at = @now WHERE job_id = @job_id;

-- name: JobsOfWorkspace :many
-- Newest first; a status of '' means any.
SELECT * FROM job
WHERE workspace_id = @workspace_id AND job_id < @before AND (CAST(@status AS text) = '' OR status = CAST(@status AS text))
ORDER BY job_id DESC
LIMIT CAST(@max AS bigint);

-- name: AuditAwaiting :many
-- Jobs that wait for their submit and that nobody will ever expire.
SELECT j.job_id FROM job j
WHERE j.status = 'awaiting_submit' AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.queue = 'expire' AND l.subject = 'submit/' || j.job_id)
  AND NOT EXISTS (SELECT 1 FROM dead_letter g WHERE g.lease_id = 'expire:submit/' || j.job_id || ':0');
