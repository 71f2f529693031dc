-- name: MetricsFrames :one
-- How many frames wait and are held, and since when the oldest waits; 0 for none.
SELECT CAST(coalesce((SELECT sum(t.waiting) FROM turn t WHERE t.within = '' AND t.waiting > 0), 0) AS bigint) AS ready,
  (SELECT count(*) FROM lease h WHERE h.queue = 'frame' AND h.state = 'held') AS leased,
  CAST(coalesce((SELECT min(w.due_at) FROM lease w WHERE w.queue = 'frame' AND w.state = 'waiting'
    AND NOT EXISTS (SELECT 1 FROM turn p WHERE p.party = w.subject AND p.paused <> '')), 0) AS bigint) AS oldest;

-- name: MetricsJobs :many
-- Jobs that have not ended, and when the oldest of each state was started. The states are
-- those of the index job_live, word for word.
SELECT status, count(*) AS jobs, CAST(min(created_at) AS bigint) AS oldest FROM job
WHERE status IN ('awaiting_submit', 'queued', 'rendering', 'packaging') GROUP BY status;

-- name: MetricsWallets :one
SELECT CAST(coalesce(sum(available_cents), 0) AS bigint) AS available, CAST(coalesce(sum(reserved_cents), 0) AS bigint) AS reserved,
  CAST(coalesce(sum(owed_cents), 0) AS bigint) AS owed FROM wallet;

-- name: MetricsWebhooks :one
-- Deliveries that wait for their first or next attempt, and when the first was due; 0 for
-- none.
SELECT count(*) AS pending, CAST(coalesce(min(next_at), 0) AS bigint) AS due FROM webhook_delivery WHERE status = 'pending';
