-- name: MovieState :one
-- Whether the movie of a job is ordered, or failed too often, and why.
SELECT CAST(CASE WHEN EXISTS (SELECT 1 FROM lease l WHERE l.queue = 'movie' AND l.subject = @job_id) THEN 1 ELSE 0 END AS bigint) AS ordered,
  CAST(coalesce((SELECT count(*) FROM dead_letter d WHERE d.queue = 'movie' AND d.subject = @job_id), 0) AS bigint) AS failed,
  CAST(coalesce((SELECT max(d.last_error) FROM dead_letter d WHERE d.queue = 'movie' AND d.subject = @job_id), '') AS text) AS reason;

-- name: MoviesWaiting :one
-- How many movies of a workspace are ordered.
SELECT count(*) FROM lease l JOIN job j ON j.job_id = l.subject WHERE l.queue = 'movie' AND j.workspace_id = @workspace_id;

-- name: MoviesHeld :one
SELECT count(*) FROM lease WHERE queue = 'movie' AND state = 'held' AND holder = @holder;

-- name: MovieNext :one
-- The movie that waits longest of workspaces that require no tag that a worker lacks; none for a
-- worker whose Blender was built without what it takes.
SELECT lease_id FROM lease WHERE queue = 'movie' AND state = 'waiting' AND due_at <= CAST(@now AS bigint)
  AND NOT EXISTS (SELECT 1 FROM worker o JOIN job j ON j.job_id = lease.subject LEFT JOIN turn n ON n.party = j.workspace_id
    WHERE o.worker_id = @worker_id AND ((o.lacks & CAST(@lacks AS bigint)) <> 0 OR (coalesce(n.pools, 1) & o.pools) <> coalesce(n.pools, 1)))
ORDER BY due_at, subject LIMIT 1;

-- name: MovieHolder :one
SELECT holder FROM lease WHERE lease_id = @lease_id AND state = 'held';

-- name: MovieClaimed :one
-- When an order was claimed.
SELECT due_at FROM lease WHERE lease_id = @lease_id AND state = 'held';

-- name: MovieJobs :many
-- Jobs of a workspace whose movie is ordered, or failed too often.
SELECT j.job_id FROM job j WHERE j.workspace_id = @workspace_id
  AND (EXISTS (SELECT 1 FROM lease l WHERE l.queue = 'movie' AND l.subject = j.job_id)
    OR EXISTS (SELECT 1 FROM dead_letter d WHERE d.queue = 'movie' AND d.subject = j.job_id));
