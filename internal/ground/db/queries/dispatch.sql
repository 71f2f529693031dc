-- name: WorkerCreate :exec
INSERT INTO worker (worker_id, key_id, name, renderer, blender_version, build_hash, device, device_name, denoise, sandbox, registered_at, seen_at)
VALUES (@worker_id, @key_id, @name, @renderer, @blender_version, @build_hash, @device, @device_name, @denoise, @sandbox, @registered_at, @seen_at);

-- name: WorkerGet :one
SELECT * FROM worker WHERE worker_id = @worker_id;

-- name: WorkerSeen :exec
UPDATE worker SET seen_at = @now WHERE worker_id = @worker_id AND seen_at < CAST(@before AS bigint);

-- name: WorkerMarkOffline :exec
-- It counts as one that was last heard then.
UPDATE worker SET seen_at = CAST(@seen_at AS bigint) WHERE worker_id = @worker_id AND seen_at > CAST(@seen_at AS bigint);

-- name: WorkerPredecessor :one
-- The newest of a key's workers of that name, but for one.
SELECT faults, suspensions, suspended_until FROM worker
WHERE seen_at >= @since AND key_id = @key_id AND name = @name AND worker_id <> @worker_id
ORDER BY registered_at DESC, worker_id DESC LIMIT 1;

-- name: WorkersOnline :one
-- A suspended worker renders nothing.
SELECT count(*) FROM worker WHERE seen_at >= @since AND suspended_until <= @now;

-- name: TurnLock :one
SELECT * FROM turn WHERE party = @party FOR UPDATE;

-- name: TurnNow :one
-- Where a newcomer of within begins: beside the one who is served next, or, when
-- nobody waits, beside the one who was served most.
SELECT CAST(coalesce(
  (SELECT min(t.served_us) FROM turn t WHERE t.within = @within AND t.waiting > 0),
  (SELECT max(t.served_us) FROM turn t WHERE t.within = @within),
  0) AS bigint) AS served_us;

-- name: TurnEnter :exec
-- A party gets work. One that had none waiting has saved up no claim meanwhile.
INSERT INTO turn (party, within, waiting, served_us)
VALUES (@party, @within, @waiting, CAST(@served_us AS bigint))
ON CONFLICT (party) DO UPDATE SET
  served_us = CASE WHEN turn.waiting = 0 AND turn.served_us < excluded.served_us THEN excluded.served_us ELSE turn.served_us END,
  waiting = turn.waiting + excluded.waiting;

-- name: TurnMove :execrows
-- The one statement that changes what waits and what was served.
UPDATE turn SET waiting = waiting + CAST(@waiting AS bigint), served_us = served_us + CAST(@served_us AS bigint),
  counted_us = counted_us + CAST(@counted_us AS bigint)
WHERE party = @party;

-- name: TurnDelete :exec
DELETE FROM turn WHERE party = @party;

-- name: TurnAnyWaiting :one
SELECT count(*) FROM (SELECT t.party FROM turn t WHERE t.within = '' AND t.waiting > 0 LIMIT 1) AS waits;

-- name: TurnsOf :many
-- Who of within has frames waiting, the least served first, behind a place. Small
-- statements that walk an index: one that looks for jobs and frames at once is
-- planned badly as long as PostgreSQL has not counted new rows.
SELECT party, served_us FROM turn
WHERE within = @within AND waiting > 0 AND (served_us > @served_us OR (served_us = @served_us AND party > @party))
ORDER BY served_us, party
LIMIT CAST(@max AS bigint);

-- name: TurnOpen :one
-- Whether a job has a frame for holder: one that is due and that holder has not
-- failed, when holder has all that the job needs; and whether holder has failed
-- any of the job's frames. The plus keeps SQLite from the index by due_at, which
-- would walk other jobs' frames.
SELECT count(*) AS frames,
  CAST(CASE WHEN EXISTS (SELECT 1 FROM failed_attempt e WHERE e.holder = @holder AND e.subject = @job_id) THEN 1 ELSE 0 END AS bigint) AS failed_before
FROM (
  SELECT l.lease_id FROM lease l
  WHERE l.queue = 'frame' AND l.subject = @job_id AND l.state = 'waiting' AND +l.due_at <= CAST(@now AS bigint)
    AND NOT EXISTS (SELECT 1 FROM failed_attempt g WHERE g.holder = @holder AND g.subject = @job_id AND g.incapable = 1)
    AND NOT EXISTS (SELECT 1 FROM failed_attempt f WHERE f.holder = @holder AND f.subject = l.subject AND f.item = l.item)
  LIMIT 1) AS open;

-- name: FailedItems :many
-- The frames of a job that failed on holder.
SELECT DISTINCT item FROM failed_attempt WHERE holder = @holder AND subject = @job_id;

-- name: TurnOfJob :one
-- How much its workspace was served, and how far a job is ahead of its workspace's
-- next one.
SELECT w.served_us AS workspace_served_us,
  CAST(j.served_us - coalesce((SELECT min(t.served_us) FROM turn t WHERE t.within = j.within AND t.waiting > 0), j.served_us) AS bigint) AS ahead_us
FROM turn j JOIN turn w ON w.party = j.within
WHERE j.party = @job_id AND j.waiting > 0;

-- name: FrameFailedBefore :one
-- A frame that holder failed before and that nobody else is there for.
SELECT l.lease_id, l.subject FROM failed_attempt f JOIN lease l ON l.lease_id = f.lease_id
WHERE f.holder = @holder AND l.state = 'waiting' AND l.due_at <= @now
  AND NOT EXISTS (
    SELECT 1 FROM worker o
    WHERE o.seen_at >= @since AND o.suspended_until <= @now AND o.worker_id <> @holder
      AND NOT EXISTS (SELECT 1 FROM failed_attempt g WHERE g.holder = o.worker_id AND g.subject = l.subject AND (g.item = l.item OR g.incapable = 1)))
LIMIT 1;

-- name: JobFailedBefore :one
-- A job that holder cannot render and that nobody else is there for.
SELECT f.subject FROM failed_attempt f JOIN turn t ON t.party = f.subject
WHERE f.holder = @holder AND f.incapable = 1 AND t.waiting > 0
  AND NOT EXISTS (
    SELECT 1 FROM worker o
    WHERE o.seen_at >= @since AND o.suspended_until <= @now AND o.worker_id <> @holder
      AND NOT EXISTS (SELECT 1 FROM failed_attempt g WHERE g.holder = o.worker_id AND g.subject = f.subject AND g.incapable = 1))
LIMIT 1;

-- name: OthersFor :one
-- Whether a worker is there, besides holder, that has neither failed this frame
-- nor cannot render its job at all.
SELECT count(*) FROM (
  SELECT o.worker_id FROM worker o
  WHERE o.seen_at >= @since AND o.suspended_until <= @now AND o.worker_id <> @holder
    AND NOT EXISTS (SELECT 1 FROM failed_attempt g WHERE g.holder = o.worker_id AND g.subject = @subject AND (g.item = @item OR g.incapable = 1))
  LIMIT 1) AS others;

-- name: FailedAttemptCreate :exec
INSERT INTO failed_attempt (lease_id, attempt, subject, item, holder, code, message, log, incapable, pixel_sha256, failed_at)
VALUES (@lease_id, @attempt, @subject, @item, @holder, @code, @message, @log, @incapable, @pixel_sha256, @failed_at)
ON CONFLICT (lease_id, attempt) DO NOTHING;

-- name: FailedAttemptsOfFrame :many
SELECT * FROM failed_attempt WHERE lease_id = @lease_id ORDER BY attempt;

-- name: FailedAttemptsAlike :one
SELECT count(*) AS attempts, count(DISTINCT holder) AS holders FROM failed_attempt WHERE subject = @job_id AND code = @code;

-- name: WorkerSuspend :execrows
UPDATE worker SET faults = @faults, suspensions = @suspensions, suspended_until = @suspended_until WHERE worker_id = @worker_id;

-- name: WorkerLock :one
SELECT * FROM worker WHERE worker_id = @worker_id FOR UPDATE;

-- name: WorkersSeen :many
SELECT * FROM worker WHERE seen_at >= @since ORDER BY seen_at DESC, worker_id LIMIT 1000;

-- name: WorkersHold :many
SELECT holder, count(*) AS frames FROM lease WHERE queue = 'frame' AND state = 'held' GROUP BY holder;

-- name: AuditTurns :many
-- Turns that do not say what waits.
SELECT t.party, t.waiting, count(l.lease_id) AS leases
FROM turn t LEFT JOIN lease l ON l.subject = t.party AND l.queue = 'frame' AND l.state = 'waiting'
WHERE t.within <> ''
GROUP BY t.party, t.waiting
HAVING count(l.lease_id) <> t.waiting
UNION ALL
SELECT w.party, w.waiting, CAST(coalesce(sum(j.waiting), 0) AS bigint) AS leases
FROM turn w LEFT JOIN turn j ON j.within = w.party
WHERE w.within = ''
GROUP BY w.party, w.waiting
HAVING coalesce(sum(j.waiting), 0) <> w.waiting
UNION ALL
SELECT j.job_id, CAST(0 AS bigint) AS waiting, CAST(1 AS bigint) AS leases FROM job j
WHERE (j.status IN ('queued', 'rendering')) <> EXISTS (SELECT 1 FROM turn t WHERE t.party = j.job_id);
