-- name: WorkerCreate :one
INSERT INTO worker (worker_id, key_id, name, renderer, blender_version, build_hash, device, device_name, denoise, kind, sandbox, colors, lacks, strips, registered_at, seen_at, suspended_until, tags, reserved, pools, rows_sha256)
VALUES (@worker_id, @key_id, @name, @renderer, @blender_version, @build_hash, @device, @device_name, @denoise, @kind, @sandbox, @colors, @lacks, @strips, @registered_at, @seen_at, @suspended_until, @tags, @reserved, @pools, @rows_sha256)
RETURNING *;

-- name: WorkerGet :one
SELECT * FROM worker WHERE worker_id = @worker_id;

-- name: WorkersReference :many
-- The reference rows of workers of a kind of machine, the newest first.
SELECT w.key_id, w.name, w.rows_sha256 FROM worker w JOIN node_key k ON k.key_id = w.key_id AND k.revoked_at = 0
WHERE w.rows_sha256 <> '' AND w.device = @device AND w.device_name = @device_name AND w.renderer = @renderer
  AND w.blender_version = @blender_version AND w.build_hash = @build_hash
ORDER BY w.registered_at DESC, w.worker_id DESC LIMIT CAST(@max AS bigint);

-- name: WorkerSeen :exec
UPDATE worker SET seen_at = @now WHERE worker_id = @worker_id AND seen_at < CAST(@before AS bigint) AND left_at = 0;

-- name: WorkerMarkOffline :exec
-- It counts as one that was last heard then, and stays so.
UPDATE worker SET seen_at = CASE WHEN seen_at > CAST(@seen_at AS bigint) THEN CAST(@seen_at AS bigint) ELSE seen_at END, left_at = @now
WHERE worker_id = @worker_id AND left_at = 0;

-- name: WorkerPredecessor :one
-- The newest of a key's workers of that name, but for one.
SELECT faults, suspensions, suspended_until, unable FROM worker
WHERE seen_at >= @since AND key_id = @key_id AND name = @name AND worker_id <> @worker_id
ORDER BY registered_at DESC, worker_id DESC LIMIT 1;

-- name: WorkersOnline :one
-- A suspended worker renders nothing.
SELECT count(*) FROM worker WHERE seen_at >= @since AND suspended_until <= @now;

-- name: TurnLock :one
SELECT * FROM turn WHERE party = @party FOR UPDATE;

-- name: TurnNow :one
-- Where a newcomer of within begins: level with the one of its priority that is served next,
-- or, when none waits, with the one that was served most.
SELECT CAST(coalesce(
  (SELECT min(t.served_us) FROM turn t WHERE t.within = @within AND t.waiting > 0 AND t.paused = '' AND t.priority = @priority),
  (SELECT max(t.served_us) FROM turn t WHERE t.within = @within AND t.priority = @priority),
  0) AS bigint) AS served_us;

-- name: TurnEnter :exec
-- A party gets work. One that had none waiting has saved up no claim meanwhile.
INSERT INTO turn (party, within, waiting, served_us)
VALUES (@party, @within, @waiting, CAST(@served_us AS bigint))
ON CONFLICT (party) DO UPDATE SET
  served_us = CASE WHEN turn.waiting = 0 AND turn.served_us < excluded.served_us THEN excluded.served_us ELSE turn.served_us END,
  waiting = turn.waiting + excluded.waiting;

-- name: TurnMove :one
-- The one statement that changes what waits and what was served.
UPDATE turn SET waiting = waiting + CAST(@waiting AS bigint), served_us = served_us + CAST(@served_us AS bigint),
  counted_us = counted_us + CAST(@counted_us AS bigint)
WHERE party = @party
RETURNING paused;

-- name: TurnPause :exec
UPDATE turn SET paused = @paused, paused_at = CASE WHEN paused = '' THEN CAST(@now AS bigint) ELSE paused_at END WHERE party = @party;

-- name: TurnPaused :one
SELECT paused, paused_at FROM turn WHERE party = @job_id AND within <> '';

-- name: TurnResume :exec
-- A job that was paused has saved up no claim meanwhile.
UPDATE turn SET paused = '', paused_at = 0, served_us = CASE WHEN served_us < CAST(@served_us AS bigint) THEN CAST(@served_us AS bigint) ELSE served_us END
WHERE party = @party;

-- name: TurnRank :exec
-- Nor has one that gets another priority saved up any against those that have it already.
UPDATE turn SET priority = @priority, served_us = CASE WHEN served_us < CAST(@served_us AS bigint) THEN CAST(@served_us AS bigint) ELSE served_us END
WHERE party = @party;

-- name: TurnNeeds :exec
-- What a worker's Blender must be built with for a job.
UPDATE turn SET needs = @needs WHERE party = @party;

-- name: TurnKeep :exec
-- From now on only workers of a kind render a job.
UPDATE turn SET kind = @kind WHERE party = @party;

-- name: TurnFree :exec
-- A job of which all frames wait again stays with no kind of workers. The caller holds the
-- lock of its turn.
UPDATE turn SET kind = '' WHERE party = @party AND waiting = CAST(@frames AS bigint) AND kind NOT IN ('', 'any')
  AND NOT EXISTS (SELECT 1 FROM candidate c WHERE c.job_id = turn.party);

-- name: TurnAllow :execrows
UPDATE turn SET kind = @kind WHERE party = @job_id AND within <> '';

-- name: TurnKind :one
SELECT kind FROM turn WHERE party = @job_id AND within <> '';

-- name: FrameKinds :many
-- The kinds of workers that rendered a job's accepted frames.
SELECT DISTINCT w.kind FROM frame f JOIN worker w ON w.worker_id = f.worker_id WHERE f.job_id = @job_id;

-- name: TurnPlays :exec
-- The frames of a job depend on those before.
UPDATE turn SET plays = 1, plays_from = @plays_from WHERE party = @party;

-- name: TurnPlayed :exec
UPDATE turn SET played = played + CAST(@played AS bigint), play_us = play_us + CAST(@play_us AS bigint) WHERE party = @party;

-- name: TurnPlay :one
-- What a job whose frames depend on those before has taken so far.
SELECT t.needs, t.kind, t.pools, t.plays_from, t.played, t.play_us, j.frame_step, CAST(j.frames_completed - j.frames_reused AS bigint) AS frames_completed, j.render_us
FROM turn t JOIN job j ON j.job_id = t.party WHERE t.party = @job_id;

-- name: FramesQueued :many
-- The frames of a job that are not accepted.
SELECT item, state, holder, due_at FROM lease WHERE queue = 'frame' AND subject = @job_id ORDER BY item;

-- name: FramesPlaying :many
-- The frames of a workspace's rendering jobs that are not accepted, oldest job first, for
-- jobs whose frames depend on earlier ones. For a frame that is held, it also gives the last
-- earlier frame that its holder rendered; 0 for none. A worker that takes a lost frame
-- starts from the beginning: often it is the worker that lost it, along with everything it
-- had.
SELECT l.subject, l.item, l.state, l.holder, l.due_at, l.progress, CAST(CASE WHEN l.state = 'held' AND l.attempt = 1 THEN coalesce((
    SELECT f.frame FROM frame f WHERE f.job_id = l.subject AND f.worker_id = l.holder AND f.frame < l.item ORDER BY f.frame DESC LIMIT 1), 0) ELSE 0 END AS bigint) AS after
FROM turn t JOIN job j ON j.job_id = t.party JOIN lease l ON l.queue = 'frame' AND l.subject = t.party
WHERE t.within = @workspace_id AND t.plays = 1 AND t.party >= @oldest AND t.party <= @newest AND j.status = 'rendering'
ORDER BY l.subject, l.item;

-- name: TurnDelete :exec
DELETE FROM turn WHERE party = @party;

-- name: TurnsWaitingMost :many
-- Workspaces with frames that wait, those with the most first, and all their frames.
SELECT t.party, t.waiting, CAST((sum(t.waiting) OVER ()) AS bigint) AS total
FROM turn t WHERE t.within = '' AND t.waiting > 0 ORDER BY t.waiting DESC, t.party LIMIT CAST(@max AS bigint);

-- name: TurnAnyWaiting :one
SELECT count(*) FROM (SELECT t.party FROM turn t WHERE t.within = '' AND t.waiting > 0 LIMIT 1) AS waits;

-- name: TurnsOf :many
-- The queues of within that have waiting frames and are not paused, those of the highest
-- priority first and of these the least served, after a place. Small statements that walk an index: PostgreSQL plans a combined one
-- over jobs and frames badly as long as it has not counted new rows.
SELECT party, served_us, priority, most_held FROM turn
WHERE within = @within AND waiting > 0 AND paused = ''
  AND (priority < @priority OR (priority = @priority AND (served_us > @served_us OR (served_us = @served_us AND party > @party))))
ORDER BY priority DESC, served_us, party
LIMIT CAST(@max AS bigint);

-- name: TurnOpen :one
-- What a job has for holder. The first member: a frame that is due and that neither holder has
-- failed, nor its key while a worker of another key is available for it. Holder must also have all
-- that the job needs, and its key must not await the result of another. Next: whether its key has
-- failed any of the job's frames, or a picture of one is to be confirmed; a frame that awaits the
-- result of its key, '' if none does; and whether the job's frames depend on earlier ones. A worker
-- is incapable of a job when it is of another kind than the job stays with, when its Blender was built without something the job needs (lacks says
-- what), or when it has failed for that reason. The plus keeps SQLite from using the index by
-- due_at, which would walk other jobs' frames.
SELECT count(*) AS frames,
  CAST(coalesce((
    SELECT v.lease_id FROM failed_attempt v JOIN lease w ON w.lease_id = v.lease_id
    WHERE v.subject = @job_id AND v.undecided = 1 AND v.key_id <> @key_id AND w.state = 'waiting' AND w.due_at <= CAST(@now AS bigint)
      AND NOT EXISTS (SELECT 1 FROM failed_attempt i WHERE i.key_id = @key_id AND i.subject = @job_id AND (i.item = v.item OR (i.holder = @holder AND i.incapable = 1)))
      AND NOT EXISTS (SELECT 1 FROM turn n WHERE n.party = @job_id AND ((n.needs & CAST(@lacks AS bigint)) <> 0 OR (n.pools & CAST(@pools AS bigint)) <> n.pools OR n.kind NOT IN ('', 'any', CAST(@kind AS text))))
    LIMIT 1), '') AS text) AS asked,
  CAST(CASE WHEN EXISTS (SELECT 1 FROM failed_attempt e WHERE e.key_id = @key_id AND e.subject = @job_id)
    OR EXISTS (SELECT 1 FROM candidate d WHERE d.job_id = @job_id) THEN 1 ELSE 0 END AS bigint) AS failed_before,
  CAST(coalesce((SELECT t.plays FROM turn t WHERE t.party = @job_id), 0) AS bigint) AS plays
FROM (
  SELECT l.lease_id FROM lease l
  WHERE l.queue = 'frame' AND l.subject = @job_id AND l.state = 'waiting' AND +l.due_at <= CAST(@now AS bigint)
    AND NOT EXISTS (SELECT 1 FROM turn n WHERE n.party = @job_id AND ((n.needs & CAST(@lacks AS bigint)) <> 0 OR (n.pools & CAST(@pools AS bigint)) <> n.pools OR n.kind NOT IN ('', 'any', CAST(@kind AS text))))
    AND NOT EXISTS (SELECT 1 FROM failed_attempt u WHERE u.subject = @job_id AND u.key_id = @key_id AND u.undecided = 1)
    AND NOT EXISTS (SELECT 1 FROM failed_attempt g WHERE g.key_id = @key_id AND g.subject = @job_id AND g.holder = @holder AND g.incapable = 1)
    AND NOT EXISTS (SELECT 1 FROM candidate c WHERE c.job_id = l.subject AND c.frame = l.item AND (c.worker_id = @holder OR c.class <> CAST(@class AS text) OR (c.key_id = @key_id AND c.other_key = 1)))
    AND NOT EXISTS (
      SELECT 1 FROM failed_attempt f WHERE f.key_id = @key_id AND f.subject = l.subject AND f.item = l.item
        AND (f.holder = @holder OR EXISTS (
          SELECT 1 FROM worker o
          WHERE o.seen_at >= CAST(@since AS bigint) AND o.suspended_until <= CAST(@now AS bigint) AND o.key_id <> @key_id
            AND NOT EXISTS (SELECT 1 FROM turn n WHERE n.party = l.subject AND ((n.needs & o.lacks) <> 0 OR (n.pools & o.pools) <> n.pools OR n.kind NOT IN ('', 'any', o.kind)))
            AND NOT EXISTS (SELECT 1 FROM failed_attempt h WHERE h.key_id = o.key_id AND h.subject = l.subject
              AND (h.item = l.item OR (h.holder = o.worker_id AND h.incapable = 1))))))
  LIMIT 1) AS open;

-- name: FailedItems :many
-- The frames of a job that holder does not get for now: those that it failed, those
-- that its key failed and that a worker of another key is there for, and those whose
-- picture another must confirm.
SELECT DISTINCT f.item FROM failed_attempt f
WHERE f.key_id = @key_id AND f.subject = @job_id
  AND (f.holder = @holder OR EXISTS (
    SELECT 1 FROM worker o
    WHERE o.seen_at >= CAST(@since AS bigint) AND o.suspended_until <= CAST(@now AS bigint) AND o.key_id <> @key_id
      AND NOT EXISTS (SELECT 1 FROM turn n WHERE n.party = f.subject AND ((n.needs & o.lacks) <> 0 OR (n.pools & o.pools) <> n.pools OR n.kind NOT IN ('', 'any', o.kind)))
      AND NOT EXISTS (SELECT 1 FROM failed_attempt h WHERE h.key_id = o.key_id AND h.subject = f.subject
        AND (h.item = f.item OR (h.holder = o.worker_id AND h.incapable = 1)))))
UNION
SELECT c.frame FROM candidate c WHERE c.job_id = @job_id AND (c.worker_id = @holder OR c.class <> CAST(@class AS text) OR (c.key_id = @key_id AND c.other_key = 1));

-- name: TurnOfJob :one
-- How much its workspace was served, and how far a job is ahead of its workspace's
-- next one of its priority. None for a job that is paused or that one of a higher priority
-- comes before.
SELECT w.served_us AS workspace_served_us, w.party AS workspace_id, w.most_held, j.plays, j.plays_from, j.played, j.play_us,
  CAST(j.served_us - coalesce((SELECT min(t.served_us) FROM turn t WHERE t.within = j.within AND t.waiting > 0 AND t.paused = '' AND t.priority = j.priority), j.served_us) AS bigint) AS ahead_us
FROM turn j JOIN turn w ON w.party = j.within
WHERE j.party = @job_id AND j.waiting > 0 AND j.paused = ''
  AND NOT EXISTS (SELECT 1 FROM turn h WHERE h.within = j.within AND h.waiting > 0 AND h.paused = '' AND h.priority > j.priority);

-- name: TurnsWaiting :many
-- Every job with waiting frames that is not paused, by workspace and then by turn, with what
-- a claim of one of its frames is charged by.
SELECT t.party, t.within, t.served_us, t.waiting, t.priority, t.needs, t.kind, t.pools, w.served_us AS workspace_served_us, w.most_held, j.status, CAST(j.frames_completed - j.frames_reused AS bigint) AS frames_completed, j.render_us
FROM turn t JOIN turn w ON w.party = t.within JOIN job j ON j.job_id = t.party
WHERE t.within <> '' AND t.waiting > 0 AND t.paused = ''
ORDER BY t.within, t.priority DESC, t.served_us, t.party;

-- name: WorkersIdle :many
-- How many workers are online, not suspended and able to work, and how many of those hold no
-- frame and no strip, by their kind, by what their Blenders were built without and by their pools.
SELECT o.lacks, o.kind, o.pools, count(*) AS online,
  CAST(coalesce(sum(CASE WHEN EXISTS (SELECT 1 FROM lease h WHERE h.holder = o.worker_id AND h.state = 'held' AND h.queue IN ('frame', 'strip')) THEN 0 ELSE 1 END), 0) AS bigint) AS idle
FROM worker o WHERE o.seen_at >= @since AND o.suspended_until <= @now AND o.unable = '' GROUP BY o.lacks, o.kind, o.pools;

-- name: WorkersUnable :one
-- How many workers are online that cannot work.
SELECT count(*) FROM worker WHERE seen_at >= @since AND unable <> '' AND suspended_until < @drained;

-- name: TurnsStranded :one
-- Jobs with waiting frames of which each online worker is of another kind, or lacks a tag or something else,
-- while some are online.
-- untagged counts those that a worker could take but for its tags.
SELECT count(*) AS jobs,
  CAST(coalesce(sum(CASE WHEN EXISTS (SELECT 1 FROM worker u
    WHERE u.seen_at >= @since AND u.suspended_until <= @now AND (t.needs & u.lacks) = 0 AND t.kind IN ('', 'any', u.kind)) THEN 1 ELSE 0 END), 0) AS bigint) AS untagged
FROM turn t WHERE t.within <> '' AND t.waiting > 0 AND t.paused = ''
  AND EXISTS (SELECT 1 FROM worker a WHERE a.seen_at >= @since AND a.suspended_until <= @now)
  AND NOT EXISTS (SELECT 1 FROM worker o
    WHERE o.seen_at >= @since AND o.suspended_until <= @now AND (t.needs & o.lacks) = 0 AND (t.pools & o.pools) = t.pools AND t.kind IN ('', 'any', o.kind));

-- name: WorkersFor :many
-- Of the rendering jobs of a workspace from oldest to newest: how many online workers may
-- take a waiting frame of each, and how many of those hold none. It combines TurnOpen,
-- FrameFailedBefore and JobFailedBefore for all workers and jobs at once, and also counts
-- a frame whose next attempt is due later. A job without such frames has no row.
SELECT s.job_id, count(*) AS able, CAST(sum(s.idle) AS bigint) AS idle FROM (
  SELECT j.job_id, CASE WHEN EXISTS (SELECT 1 FROM lease h WHERE h.holder = o.worker_id AND h.state = 'held' AND h.queue IN ('frame', 'strip')) THEN 0 ELSE 1 END AS idle
  FROM job j CROSS JOIN worker o
  WHERE j.workspace_id = @workspace_id AND j.status = 'rendering' AND j.job_id >= @oldest AND j.job_id <= @newest
    AND o.seen_at >= CAST(@since AS bigint) AND o.suspended_until <= CAST(@now AS bigint)
    AND NOT EXISTS (SELECT 1 FROM turn n WHERE n.party = j.job_id AND ((n.needs & o.lacks) <> 0 OR (n.pools & o.pools) <> n.pools OR n.kind NOT IN ('', 'any', o.kind))) AND (
    EXISTS (
      SELECT 1 FROM failed_attempt v JOIN lease w ON w.lease_id = v.lease_id
      WHERE v.subject = j.job_id AND v.undecided = 1 AND v.key_id <> o.key_id AND w.state = 'waiting'
        AND NOT EXISTS (SELECT 1 FROM failed_attempt i WHERE i.key_id = o.key_id AND i.subject = j.job_id AND (i.item = v.item OR (i.holder = o.worker_id AND i.incapable = 1))))
    OR (NOT EXISTS (SELECT 1 FROM failed_attempt u WHERE u.subject = j.job_id AND u.key_id = o.key_id AND u.undecided = 1) AND (
      EXISTS (
        SELECT 1 FROM lease l
        WHERE l.queue = 'frame' AND l.subject = j.job_id AND l.state = 'waiting'
          AND NOT EXISTS (SELECT 1 FROM failed_attempt g WHERE g.key_id = o.key_id AND g.subject = j.job_id AND g.holder = o.worker_id AND g.incapable = 1)
          AND NOT EXISTS (SELECT 1 FROM candidate c WHERE c.job_id = l.subject AND c.frame = l.item AND (c.worker_id = o.worker_id
            OR c.class <> o.device || '|' || o.device_name || '|' || o.renderer || '|' || o.blender_version || '|' || o.build_hash
            OR (c.key_id = o.key_id AND c.other_key = 1)))
          AND NOT EXISTS (
            SELECT 1 FROM failed_attempt f WHERE f.key_id = o.key_id AND f.subject = l.subject AND f.item = l.item
              AND (f.holder = o.worker_id OR EXISTS (
                SELECT 1 FROM worker p
                WHERE p.seen_at >= CAST(@since AS bigint) AND p.suspended_until <= CAST(@now AS bigint) AND p.key_id <> o.key_id
                  AND NOT EXISTS (SELECT 1 FROM turn n WHERE n.party = l.subject AND ((n.needs & p.lacks) <> 0 OR (n.pools & p.pools) <> n.pools OR n.kind NOT IN ('', 'any', p.kind)))
                  AND NOT EXISTS (SELECT 1 FROM failed_attempt k WHERE k.key_id = p.key_id AND k.subject = l.subject
                    AND (k.item = l.item OR (k.holder = p.worker_id AND k.incapable = 1)))))))
      OR EXISTS (
        SELECT 1 FROM failed_attempt f JOIN lease l ON l.lease_id = f.lease_id
        WHERE f.key_id = o.key_id AND f.holder = o.worker_id AND f.subject = j.job_id AND l.state = 'waiting'
          AND NOT EXISTS (
            SELECT 1 FROM worker p
            WHERE p.seen_at >= CAST(@since AS bigint) AND p.suspended_until <= CAST(@now AS bigint) AND p.worker_id <> o.worker_id
              AND NOT EXISTS (SELECT 1 FROM turn n WHERE n.party = j.job_id AND ((n.needs & p.lacks) <> 0 OR (n.pools & p.pools) <> n.pools OR n.kind NOT IN ('', 'any', p.kind)))
              AND NOT EXISTS (SELECT 1 FROM failed_attempt k WHERE k.key_id = p.key_id AND k.holder = p.worker_id AND k.subject = l.subject AND (k.item = l.item OR k.incapable = 1))))
      OR EXISTS (
        SELECT 1 FROM failed_attempt f
        WHERE f.key_id = o.key_id AND f.holder = o.worker_id AND f.subject = j.job_id AND f.incapable = 1
          AND NOT EXISTS (
            SELECT 1 FROM worker p
            WHERE p.seen_at >= CAST(@since AS bigint) AND p.suspended_until <= CAST(@now AS bigint) AND p.worker_id <> o.worker_id
              AND NOT EXISTS (SELECT 1 FROM turn n WHERE n.party = j.job_id AND ((n.needs & p.lacks) <> 0 OR (n.pools & p.pools) <> n.pools OR n.kind NOT IN ('', 'any', p.kind)))
              AND NOT EXISTS (SELECT 1 FROM failed_attempt k WHERE k.key_id = p.key_id AND k.holder = p.worker_id AND k.subject = j.job_id AND k.incapable = 1)))))
  )
) AS s
GROUP BY s.job_id;

-- name: FrameFailedBefore :one
-- A frame that holder failed before and that no other worker is available for, of a workspace
-- with fewer frames in workers' hands than it may have at once.
-- Frames whose job awaits the result of another key are left out.
SELECT l.lease_id, l.subject FROM failed_attempt f JOIN lease l ON l.lease_id = f.lease_id
WHERE f.key_id = @key_id AND f.holder = @holder AND l.state = 'waiting' AND l.due_at <= @now
  AND NOT EXISTS (SELECT 1 FROM turn j JOIN turn w ON w.party = j.within AND w.most_held > 0 WHERE j.party = l.subject AND w.most_held <= (
    SELECT count(*) FROM turn m JOIN lease h ON h.subject = m.party AND h.queue IN ('frame', 'strip') AND h.state = 'held' AND h.holder <> 'service' WHERE m.within = j.within))
  AND NOT EXISTS (SELECT 1 FROM turn k WHERE k.party = l.subject AND ((k.pools & CAST(@pools AS bigint)) <> k.pools OR k.kind NOT IN ('', 'any', CAST(@kind AS text)) OR k.paused <> ''))
  AND NOT EXISTS (SELECT 1 FROM failed_attempt u WHERE u.subject = f.subject AND u.key_id = @key_id AND u.undecided = 1)
  AND NOT EXISTS (
    SELECT 1 FROM worker o
    WHERE o.seen_at >= @since AND o.suspended_until <= @now AND o.worker_id <> @holder
      AND NOT EXISTS (SELECT 1 FROM turn n WHERE n.party = l.subject AND ((n.needs & o.lacks) <> 0 OR (n.pools & o.pools) <> n.pools OR n.kind NOT IN ('', 'any', o.kind)))
      AND NOT EXISTS (SELECT 1 FROM failed_attempt g WHERE g.key_id = o.key_id AND g.holder = o.worker_id AND g.subject = l.subject AND (g.item = l.item OR g.incapable = 1)))
LIMIT 1;

-- name: JobFailedBefore :one
-- A job that holder cannot render and that no other worker is available for, of such a workspace.
SELECT f.subject FROM failed_attempt f JOIN turn t ON t.party = f.subject
WHERE f.key_id = @key_id AND f.holder = @holder AND f.incapable = 1 AND t.waiting > 0 AND t.paused = '' AND (t.pools & CAST(@pools AS bigint)) = t.pools AND t.kind IN ('', 'any', CAST(@kind AS text))
  AND NOT EXISTS (SELECT 1 FROM turn j JOIN turn w ON w.party = j.within AND w.most_held > 0 WHERE j.party = f.subject AND w.most_held <= (
    SELECT count(*) FROM turn m JOIN lease h ON h.subject = m.party AND h.queue IN ('frame', 'strip') AND h.state = 'held' AND h.holder <> 'service' WHERE m.within = j.within))
  AND NOT EXISTS (SELECT 1 FROM failed_attempt u WHERE u.subject = f.subject AND u.key_id = @key_id AND u.undecided = 1)
  AND NOT EXISTS (
    SELECT 1 FROM worker o
    WHERE o.seen_at >= @since AND o.suspended_until <= @now AND o.worker_id <> @holder
      AND (t.needs & o.lacks) = 0 AND (t.pools & o.pools) = t.pools AND t.kind IN ('', 'any', o.kind)
      AND NOT EXISTS (SELECT 1 FROM failed_attempt g WHERE g.key_id = o.key_id AND g.holder = o.worker_id AND g.subject = f.subject AND g.incapable = 1))
LIMIT 1;

-- name: OthersFor :one
-- Whether a worker other than holder is available that has not failed this
-- frame and can render its job.
SELECT count(*) FROM (
  SELECT o.worker_id FROM worker o
  WHERE o.seen_at >= @since AND o.suspended_until <= @now AND o.worker_id <> @holder
    AND NOT EXISTS (SELECT 1 FROM turn n WHERE n.party = @subject AND ((n.needs & o.lacks) <> 0 OR (n.pools & o.pools) <> n.pools OR n.kind NOT IN ('', 'any', o.kind)))
    AND NOT EXISTS (SELECT 1 FROM failed_attempt g WHERE g.key_id = o.key_id AND g.holder = o.worker_id AND g.subject = @subject AND (g.item = @item OR g.incapable = 1))
  LIMIT 1) AS others;

-- name: OtherKeySeen :one
-- Whether a worker of a key other than this one was seen since then that may be
-- able to render a job: its key is neither revoked nor paused.
SELECT count(*) FROM (
  SELECT o.worker_id FROM worker o JOIN node_key k ON k.key_id = o.key_id
  WHERE o.seen_at >= @since AND o.key_id <> @key_id AND k.revoked_at = 0
    AND NOT EXISTS (SELECT 1 FROM turn n WHERE n.party = @subject AND ((n.needs & o.lacks) <> 0 OR (n.pools & o.pools) <> n.pools OR n.kind NOT IN ('', 'any', o.kind)))
    AND NOT EXISTS (SELECT 1 FROM key_standing s WHERE s.key_id = o.key_id AND s.paused_until > @now)
    AND NOT EXISTS (SELECT 1 FROM failed_attempt g WHERE g.key_id = o.key_id AND g.subject = @subject AND g.holder = o.worker_id AND g.incapable = 1)
  LIMIT 1) AS others;

-- name: FailedAttemptCreate :one
INSERT INTO failed_attempt (lease_id, attempt, subject, item, holder, key_id, code, message, log, incapable, final, pixel_sha256, failed_at)
VALUES (@lease_id, @attempt, @subject, @item, @holder, coalesce((SELECT w.key_id FROM worker w WHERE w.worker_id = @holder), ''),
  @code, @message, @log, @incapable, @final, @pixel_sha256, @failed_at)
ON CONFLICT (lease_id, attempt) DO NOTHING
RETURNING *;

-- name: FailedAttemptsOfFrame :many
-- An attempt is void, and counts for no key, when its key is revoked by now, or was
-- paused then or since.
SELECT sqlc.embed(f), CAST(CASE
  WHEN EXISTS (SELECT 1 FROM node_key k WHERE k.key_id = f.key_id AND k.revoked_at <> 0) THEN 1
  WHEN EXISTS (SELECT 1 FROM key_standing s WHERE s.key_id = f.key_id AND s.paused_until > f.failed_at) THEN 1
  ELSE 0 END AS bigint) AS void
FROM failed_attempt f WHERE f.lease_id = @lease_id ORDER BY f.attempt;

-- name: FailedAttemptsAlike :one
SELECT count(*) AS attempts, count(DISTINCT f.holder) AS holders, count(DISTINCT f.key_id) AS keys FROM failed_attempt f
WHERE f.subject = @job_id AND f.code = @code
  AND NOT EXISTS (SELECT 1 FROM node_key k WHERE k.key_id = f.key_id AND k.revoked_at <> 0)
  AND NOT EXISTS (SELECT 1 FROM key_standing s WHERE s.key_id = f.key_id AND s.paused_until > f.failed_at);

-- name: FailedAttemptUndecided :one
UPDATE failed_attempt SET undecided = @undecided WHERE lease_id = @lease_id AND attempt = @attempt RETURNING *;

-- name: FailedAttemptForget :execrows
-- The worker of an attempt that counted as lost is back with it.
DELETE FROM failed_attempt WHERE lease_id = @lease_id AND attempt = @attempt AND holder = @holder;

-- name: FailedAttemptsUndecided :many
SELECT * FROM failed_attempt f WHERE f.undecided = 1 ORDER BY f.failed_at, f.lease_id LIMIT CAST(@max AS bigint);

-- name: KeysFailing :many
-- The keys whose workers failed at least so many attempts since, and since their last
-- pause. A missing capability is no attempt, and a picture that the store lost is not
-- their failure.
SELECT f.key_id, count(*) AS failed FROM failed_attempt f LEFT JOIN key_standing s ON s.key_id = f.key_id
WHERE f.failed_at >= @since AND f.failed_at >= coalesce(s.paused_until, 0) AND f.incapable = 0 AND f.code <> 'packaging_failed' AND f.key_id <> ''
GROUP BY f.key_id HAVING count(*) >= CAST(@least AS bigint);

-- name: KeysRendering :many
-- How many frames of each key's workers were accepted since, and since its last pause.
SELECT w.key_id, count(*) AS rendered
FROM frame r JOIN worker w ON w.worker_id = r.worker_id LEFT JOIN key_standing s ON s.key_id = w.key_id
WHERE r.accepted_at >= @since AND r.accepted_at >= coalesce(s.paused_until, 0)
GROUP BY w.key_id;

-- name: KeyStanding :one
SELECT k.key_id, k.name, k.revoked_at, coalesce(s.pauses, 0) AS pauses, coalesce(s.paused_until, 0) AS paused_until
FROM node_key k LEFT JOIN key_standing s ON s.key_id = k.key_id WHERE k.key_id = @key_id;

-- name: KeyPause :one
INSERT INTO key_standing (key_id, pauses, paused_until, failed, attempts) VALUES (@key_id, @pauses, @paused_until, @failed, @attempts)
ON CONFLICT (key_id) DO UPDATE SET pauses = excluded.pauses, paused_until = excluded.paused_until, failed = excluded.failed, attempts = excluded.attempts
RETURNING *;

-- name: KeyCompared :one
-- One picture of a key was compared: confirmed or refuted is 1.
INSERT INTO key_standing (key_id, confirmed, refuted) VALUES (@key_id, @confirmed, @refuted)
ON CONFLICT (key_id) DO UPDATE SET confirmed = key_standing.confirmed + excluded.confirmed, refuted = key_standing.refuted + excluded.refuted
RETURNING *;

-- name: KeysRefuted :many
SELECT k.key_id, k.name, s.confirmed, s.refuted FROM key_standing s JOIN node_key k ON k.key_id = s.key_id
WHERE s.refuted > 0 AND k.revoked_at = 0 ORDER BY s.refuted DESC, k.key_id;

-- name: KeysPaused :many
SELECT k.key_id, k.name, s.pauses, s.paused_until, s.failed, s.attempts FROM key_standing s JOIN node_key k ON k.key_id = s.key_id
WHERE s.paused_until > @now AND k.revoked_at = 0 ORDER BY s.paused_until DESC, k.key_id;

-- name: WorkersOfKeySuspend :many
UPDATE worker SET suspended_until = CAST(@until AS bigint) WHERE key_id = @key_id AND seen_at >= @since AND suspended_until < CAST(@until AS bigint) RETURNING *;

-- name: WorkerSuspend :one
UPDATE worker SET faults = @faults, suspensions = @suspensions, suspended_until = @suspended_until WHERE worker_id = @worker_id RETURNING *;

-- name: WorkerSetUnable :one
-- A worker says why it cannot work; '' when it has worked again.
UPDATE worker SET unable = @unable, suspensions = @suspensions, suspended_until = @suspended_until WHERE worker_id = @worker_id RETURNING *;

-- name: WorkerSetLacks :one
UPDATE worker SET lacks = @lacks WHERE worker_id = @worker_id RETURNING *;

-- name: WorkerLock :one
SELECT * FROM worker WHERE worker_id = @worker_id FOR UPDATE;

-- name: WorkersForget :execrows
-- A page of workers that were last seen before. A worker that holds a frame or has
-- submitted a benchmark stays.
DELETE FROM worker WHERE worker_id IN (
  SELECT w.worker_id FROM worker w
  WHERE w.seen_at < @before
    AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.holder = w.worker_id AND l.state = 'held')
    AND NOT EXISTS (SELECT 1 FROM benchmark_receipt b WHERE b.worker_id = w.worker_id)
  LIMIT CAST(@max AS bigint));

-- name: FailedAttemptsForget :execrows
-- A page of the failed attempts of jobs that ended before.
DELETE FROM failed_attempt WHERE (lease_id, attempt) IN (
  SELECT f.lease_id, f.attempt FROM failed_attempt f JOIN job j ON j.job_id = f.subject
  WHERE f.failed_at < @before AND j.updated_at < @before AND j.status IN ('completed', 'failed', 'cancelled')
  LIMIT CAST(@max AS bigint));

-- name: WorkersSeen :many
SELECT * FROM worker WHERE seen_at >= @since ORDER BY seen_at DESC, worker_id LIMIT 1000;

-- name: WorkersOffer :many
-- What the workers of some pools that are online would do to a scene.
SELECT blender_version, denoise, count(*) AS workers FROM worker WHERE seen_at >= @since AND (CAST(@pools AS bigint) & pools) = CAST(@pools AS bigint) GROUP BY blender_version, denoise;

-- name: WorkersColors :many
-- What the Blenders of workers that are online have for colour management; the most common
-- ones, so that a key with many workers makes no quote slow.
SELECT colors, count(*) AS workers FROM worker WHERE seen_at >= @since AND colors <> '' AND (CAST(@pools AS bigint) & pools) = CAST(@pools AS bigint) GROUP BY colors ORDER BY workers DESC, colors LIMIT 8;

-- name: WorkersLack :many
-- What the Blenders of workers that are online were built without.
SELECT DISTINCT lacks FROM worker WHERE seen_at >= @since AND (CAST(@pools AS bigint) & pools) = CAST(@pools AS bigint);

-- name: WorkersByState :many
-- How many workers are online, by how long they are suspended and whether they hold a
-- frame. The states are those of viewOf.
SELECT s.state, count(*) AS workers FROM (
  SELECT CAST(CASE
    WHEN o.suspended_until = @drained AND EXISTS (SELECT 1 FROM lease h WHERE h.holder = o.worker_id AND h.state = 'held' AND h.queue IN ('frame', 'strip')) THEN 'draining'
    WHEN o.suspended_until = @drained THEN 'drained'
    WHEN o.unable <> '' THEN 'unable'
    WHEN o.suspended_until > @now THEN 'set_aside'
    WHEN EXISTS (SELECT 1 FROM lease h WHERE h.holder = o.worker_id AND h.state = 'held' AND h.queue IN ('frame', 'strip')) THEN 'rendering'
    ELSE 'idle' END AS text) AS state
  FROM worker o WHERE o.seen_at >= @since
) AS s GROUP BY s.state;

-- name: WorkersHold :many
SELECT holder, count(*) AS frames FROM lease WHERE queue IN ('frame', 'strip') AND state = 'held' GROUP BY holder;

-- name: DemandOfJobs :many
-- What each job under way has waiting, and in workers' hands, by workspace, with what its
-- finished frames took.
SELECT t.party, t.within, t.needs, t.pools, w.most_held, CAST(CASE WHEN t.paused = '' THEN t.waiting ELSE 0 END AS bigint) AS waiting, CAST(j.frames_completed - j.frames_reused AS bigint) AS frames_completed, j.render_us,
  CAST((SELECT count(*) FROM lease l WHERE l.subject = t.party AND l.queue = 'frame' AND l.state = 'held') AS bigint) AS held
FROM turn t JOIN turn w ON w.party = t.within JOIN job j ON j.job_id = t.party
WHERE t.within <> '' ORDER BY t.within, t.party;

-- name: AuditTurns :many
-- Queue positions that no longer match what waits.
SELECT t.party, t.waiting, count(l.lease_id) AS leases
FROM turn t LEFT JOIN lease l ON l.subject = t.party AND l.queue = 'frame' AND l.state = 'waiting'
WHERE t.within <> ''
GROUP BY t.party, t.waiting
HAVING count(l.lease_id) <> t.waiting
UNION ALL
SELECT w.party, w.waiting, CAST(coalesce(sum(j.waiting), 0) AS bigint) AS leases
FROM turn w LEFT JOIN turn j ON j.within = w.party AND j.paused = ''
WHERE w.within = ''
GROUP BY w.party, w.waiting
HAVING coalesce(sum(j.waiting), 0) <> w.waiting
UNION ALL
SELECT j.job_id, CAST(0 AS bigint) AS waiting, CAST(1 AS bigint) AS leases FROM job j
WHERE (j.status IN ('queued', 'rendering')) <> EXISTS (SELECT 1 FROM turn t WHERE t.party = j.job_id);

-- name: AuditTurnOwners :many
-- Turns that are no workspace's and no job's of their workspace, or whose times, pause or
-- priority cannot be: a job's time counts for it and for its workspace, and begins at that of a rival.
SELECT t.* FROM turn t
WHERE t.paused NOT IN ('', 'workspace', 'operator') OR (t.paused = '') <> (t.paused_at = 0) OR t.priority < 1 OR t.priority > 100
   OR (t.within = '' AND (t.paused <> '' OR t.priority <> 50 OR t.counted_us <> 0 OR t.served_us < 0 OR NOT EXISTS (SELECT 1 FROM workspace w WHERE w.workspace_id = t.party)))
   OR (t.within <> '' AND (t.most_held <> 0 OR t.counted_us < 0 OR t.served_us < t.counted_us
     OR NOT EXISTS (SELECT 1 FROM job j WHERE j.job_id = t.party AND j.workspace_id = t.within)));

-- name: WorkerDelete :execrows
-- Workers that hold a frame, have submitted a benchmark or are online stay.
DELETE FROM worker WHERE worker.worker_id = @worker_id AND worker.seen_at < @online_since
  AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.holder = worker.worker_id AND l.state = 'held')
  AND NOT EXISTS (SELECT 1 FROM benchmark_receipt b WHERE b.worker_id = worker.worker_id);

-- name: FramesHeld :many
-- The frames that a worker holds, or that are held of a job.
SELECT subject, item, holder, attempt, progress, lapses_at FROM lease
WHERE queue = 'frame' AND state = 'held' AND (lease.holder = @worker_id OR lease.subject = @job_id)
ORDER BY subject, item LIMIT 1000;

-- name: FailedAttemptsOf :many
-- Attempts of a worker, or of a job; the newest first.
SELECT * FROM failed_attempt WHERE failed_attempt.holder = @worker_id OR failed_attempt.subject = @job_id ORDER BY failed_at DESC, lease_id LIMIT CAST(@max AS bigint);

-- name: FailedAttemptsErase :many
UPDATE failed_attempt SET message = CAST(@message AS text), log = ''
WHERE subject IN (SELECT j.job_id FROM job j WHERE j.workspace_id = @workspace_id) RETURNING *;

-- name: OnlineKeys :one
-- The node keys with online workers that get frames.
SELECT count(DISTINCT key_id) FROM worker WHERE seen_at >= @since AND suspended_until <= @now;

-- name: KeyHolds :one
-- The frames that online workers of a node key hold.
SELECT count(*) FROM worker k JOIN lease h ON h.holder = k.worker_id AND h.state = 'held' AND h.queue = 'frame'
WHERE k.key_id = @key_id AND k.seen_at >= @since;

-- name: KeyProven :one
-- The online workers of a node key of whom a frame was accepted since a time.
SELECT count(DISTINCT f.worker_id) FROM frame f JOIN worker w ON w.worker_id = f.worker_id
WHERE f.accepted_at >= @proven AND w.key_id = @key_id AND w.seen_at >= @since;

-- name: FramesToShare :one
-- The frames that are held or wait. The turns of workspaces count those that wait.
SELECT CAST((SELECT count(*) FROM lease h WHERE h.queue = 'frame' AND h.state = 'held')
  + coalesce((SELECT sum(t.waiting) FROM turn t WHERE t.within = '' AND t.waiting > 0), 0) AS bigint);

-- name: WorkersRegistered :one
-- The workers that a node key registered since a time.
SELECT count(*) FROM worker WHERE seen_at >= @since AND key_id = @key_id AND registered_at >= @since;

-- name: PoolsLock :one
-- The lock of all pools. Giving a tag a bit needs it, and so does reading the bits of a new worker.
SELECT bit FROM pool WHERE bit = 1 FOR UPDATE;

-- name: Pools :many
SELECT * FROM pool WHERE tag <> '' ORDER BY bit;

-- name: PoolsFree :many
-- Tags that no workspace requires any more.
DELETE FROM pool WHERE tag <> '' AND NOT EXISTS (SELECT 1 FROM turn t WHERE (t.pools & pool.bit) <> 0) RETURNING bit;

-- name: PoolAdd :exec
INSERT INTO pool (tag, bit) VALUES (@tag, @bit);

-- name: WorkersInPool :exec
-- A tag has got a bit; '' takes the bit from all.
UPDATE worker SET pools = CASE WHEN tags || ' ' LIKE '% ' || CAST(@tag AS text) || ' %' THEN pools | CAST(@bit AS bigint) ELSE (pools | CAST(@bit AS bigint)) - CAST(@bit AS bigint) END
WHERE pools <> CASE WHEN tags || ' ' LIKE '% ' || CAST(@tag AS text) || ' %' THEN pools | CAST(@bit AS bigint) ELSE (pools | CAST(@bit AS bigint)) - CAST(@bit AS bigint) END;

-- name: TurnsRequire :exec
-- The jobs of a workspace require pools.
UPDATE turn SET pools = @pools WHERE within = @workspace_id AND pools <> @pools;

-- name: TurnRequire :exec
-- A workspace requires pools, also one that never had a job.
INSERT INTO turn (party, within, waiting, served_us, pools) VALUES (@workspace_id, '', 0, 0, @pools)
ON CONFLICT (party) DO UPDATE SET pools = excluded.pools;

-- name: TurnLimit :exec
-- So many frames of a workspace may be rendered at once.
INSERT INTO turn (party, within, waiting, served_us, most_held) VALUES (@workspace_id, '', 0, 0, @most_held)
ON CONFLICT (party) DO UPDATE SET most_held = excluded.most_held;

-- name: TurnJoinPools :exec
-- A job requires what its workspace does, whose turn is locked.
UPDATE turn SET pools = (SELECT w.pools FROM turn w WHERE w.party = turn.within)
WHERE turn.party = @job_id AND turn.pools <> (SELECT w.pools FROM turn w WHERE w.party = turn.within);

-- name: TurnPools :one
-- What a workspace requires.
SELECT pools, most_held FROM turn WHERE party = @workspace_id AND within = '';

-- name: WorkspaceHeld :one
-- The frames and strips of a workspace that workers have.
SELECT count(*) FROM turn t JOIN lease l ON l.subject = t.party AND l.queue IN ('frame', 'strip') AND l.state = 'held' AND l.holder <> 'service'
WHERE t.within = @workspace_id;

-- name: WorkspacesHeld :many
-- The workspaces with a limit that have frames in workers' hands.
SELECT w.party, count(*) AS held FROM turn w JOIN turn t ON t.within = w.party
JOIN lease l ON l.subject = t.party AND l.queue IN ('frame', 'strip') AND l.state = 'held' AND l.holder <> 'service'
WHERE w.within = '' AND w.most_held > 0 GROUP BY w.party;

-- name: AuditPoolBits :many
SELECT * FROM pool ORDER BY bit;

-- name: AuditPools :many
-- Jobs that require something else than their workspace does.
SELECT t.party FROM turn t JOIN turn w ON w.party = t.within WHERE t.within <> '' AND t.pools <> w.pools;

-- name: AuditRequired :many
-- What workspaces require of workers, by their rows and by their turns.
SELECT w.workspace_id, w.tags, w.frames_at_once, CAST(coalesce(t.pools, 1) AS bigint) AS pools, CAST(coalesce(t.most_held, 0) AS bigint) AS most_held
FROM workspace w LEFT JOIN turn t ON t.party = w.workspace_id
WHERE w.tags <> '' OR w.frames_at_once <> 0 OR t.pools <> 1 OR t.most_held <> 0;

-- name: TurnWorkspace :one
-- The turn of the workspace of a job.
SELECT w.* FROM turn j JOIN turn w ON w.party = j.within WHERE j.party = @job_id;
