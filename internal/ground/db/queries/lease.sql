-- name: LeaseAdd :execrows
INSERT INTO lease (lease_id, queue, subject, item, state, due_at)
VALUES (@lease_id, @queue, @subject, @item, 'waiting', @due_at)
ON CONFLICT DO NOTHING; -- the id is made of queue, subject and item: either may meet first

-- name: LeaseAddSpan :execrows
-- One row an item: first, first+step, ... (count rows).
WITH RECURSIVE n (i) AS (
  SELECT CAST(0 AS bigint)
  UNION ALL
  SELECT i + 1 FROM n WHERE i + 1 < CAST(@count AS bigint)
)
INSERT INTO lease (lease_id, queue, subject, item, state, due_at)
SELECT CAST(@queue AS text) || ':' || CAST(@subject AS text) || ':' || CAST(CAST(@first AS bigint) + i * CAST(@step AS bigint) AS text),
       CAST(@queue AS text), CAST(@subject AS text), CAST(@first AS bigint) + i * CAST(@step AS bigint), 'waiting', CAST(@due_at AS bigint)
FROM n
WHERE true
ON CONFLICT DO NOTHING; -- the id is made of queue, subject and item: either may meet first

-- name: LeaseAddItems :execrows
-- One row an item; items is a JSON array.
INSERT INTO lease (lease_id, queue, subject, item, state, due_at)
SELECT CAST(@queue AS text) || ':' || CAST(@subject AS text) || ':' || i.value, CAST(@queue AS text), CAST(@subject AS text), CAST(i.value AS bigint), 'waiting', CAST(@due_at AS bigint)
FROM json_array_elements_text(CAST(CAST(@items AS text) AS json)) AS i
WHERE true
ON CONFLICT DO NOTHING;

-- name: LeaseClaim :many
-- The rows are picked in a WITH: PostgreSQL may run a subquery of IN again for
-- every row that it compares, each time skipping what is locked by now, and so
-- claim more than max.
WITH picked AS (
  SELECT l.lease_id FROM lease l
  WHERE l.queue = @queue AND l.state = 'waiting' AND l.due_at <= @now
  ORDER BY l.due_at, l.subject, l.item
  LIMIT CAST(@max AS bigint)
  FOR UPDATE SKIP LOCKED
)
UPDATE lease
SET state = 'held', attempt = attempt + 1, holder = @holder, lapses_at = @lapses_at, progress = 0,
  guard = CAST(attempt + 1 AS text) || ' ' || CAST(failures AS text) || ' ' || CAST(@holder AS text)
WHERE lease_id IN (SELECT p.lease_id FROM picked p)
RETURNING *;

-- name: LeaseClaimOf :many
-- The rows of one subject, the lowest items first; skipped is a JSON array of items.
-- It is one statement, because claims are frequent, and on PostgreSQL a second
-- statement cuts the rate of claims by a third. For a held row, due_at is when it
-- was taken.
WITH picked AS (
  SELECT l.lease_id FROM lease l
  WHERE l.queue = @queue AND l.subject = @subject AND l.state = 'waiting' AND l.due_at <= @now
    AND l.item <> ALL (ARRAY(SELECT CAST(json_array_elements_text(CAST(CAST(@skipped AS text) AS json)) AS bigint)))
  ORDER BY l.item
  LIMIT CAST(@max AS bigint)
  FOR UPDATE SKIP LOCKED
)
UPDATE lease
SET state = 'held', attempt = attempt + 1, holder = @holder, lapses_at = @lapses_at, due_at = @now, progress = 0,
  guard = CAST(attempt + 1 AS text) || ' ' || CAST(failures AS text) || ' ' || CAST(@holder AS text)
WHERE lease_id IN (SELECT p.lease_id FROM picked p)
RETURNING *;

-- name: LeaseClaimIDs :many
-- ids is a JSON array. Rows that another transaction holds, or is about to hold,
-- are skipped without waiting. The rows are picked by their ids alone: with state
-- and due_at in the condition PostgreSQL walks every waiting row. For a held row,
-- due_at is when it was taken.
WITH picked AS (
  SELECT l.lease_id FROM lease l
  WHERE l.lease_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(CAST(@ids AS text) AS json))))
  FOR UPDATE SKIP LOCKED
)
UPDATE lease
SET state = 'held', attempt = attempt + 1, holder = @holder, lapses_at = @lapses_at, due_at = @now, progress = 0,
  guard = CAST(attempt + 1 AS text) || ' ' || CAST(failures AS text) || ' ' || CAST(@holder AS text)
WHERE lease.lease_id IN (SELECT p.lease_id FROM picked p) AND lease.state = 'waiting' AND lease.due_at <= @now
RETURNING *;

-- name: LeaseReopen :exec
-- Finished work is to be done again; its attempts keep counting.
INSERT INTO lease (lease_id, queue, subject, item, state, due_at, attempt, guard)
VALUES (@lease_id, @queue, @subject, @item, 'waiting', @due_at, @attempt, CAST(CAST(@attempt AS bigint) AS text) || ' 0 ');

-- name: LeaseBeat :execrows
UPDATE lease SET lapses_at = @lapses_at, progress = @progress
WHERE lease_id = @lease_id AND state = 'held' AND holder = @holder AND attempt = @attempt;

-- name: LeaseFinish :execrows
DELETE FROM lease
WHERE lease_id = @lease_id AND state = 'held' AND holder = @holder AND attempt = @attempt;

-- name: LeaseFail :one
UPDATE lease
SET state = 'waiting', failures = failures + 1, holder = '', lapses_at = 0, progress = 0,
    due_at = @due_at, last_code = @code, last_error = @error, guard = CAST(attempt AS text) || ' ' || CAST(failures + 1 AS text) || ' ' || ''
WHERE lease_id = @lease_id AND state = 'held' AND holder = @holder AND attempt = @attempt
RETURNING *;

-- name: LeaseRelease :execrows
UPDATE lease
SET state = 'waiting', holder = '', lapses_at = 0, progress = 0,
  guard = CAST(attempt AS text) || ' ' || CAST(failures AS text) || ' ' || ''
WHERE lease_id = @lease_id AND state = 'held' AND holder = @holder AND attempt = @attempt;

-- name: LeaseReschedule :execrows
UPDATE lease
SET state = 'waiting', failures = 0, holder = '', lapses_at = 0, progress = 0, due_at = @due_at,
  guard = CAST(attempt AS text) || ' 0 '
WHERE lease_id = @lease_id AND state = 'held' AND holder = @holder AND attempt = @attempt;

-- name: LeaseAdvance :execrows
-- Also locks a row that is held: the transaction that ends it sees what came
-- before.
UPDATE lease SET due_at = CASE WHEN due_at > CAST(@due_at AS bigint) THEN CAST(@due_at AS bigint) ELSE due_at END WHERE lease_id = @lease_id;

-- name: LeaseLock :one
SELECT lease_id FROM lease WHERE lease_id = @lease_id FOR UPDATE;

-- name: LeaseNextDue :one
SELECT due_at FROM lease WHERE queue = @queue AND state = 'waiting' ORDER BY due_at, subject, item LIMIT 1;

-- name: LeaseLapsed :many
SELECT * FROM lease
WHERE queue = @queue AND state = 'held' AND lapses_at <= @now
ORDER BY lapses_at
LIMIT 1000;

-- name: LeaseAhead :one
-- How many held leases of a queue lapse, and how much of its waiting work is due,
-- later than anything put there by the clock as it is now.
SELECT CAST((SELECT count(*) FROM lease h WHERE h.queue = @queue AND h.state = 'held' AND h.lapses_at > @lapses_at)
          + (SELECT count(*) FROM lease w WHERE w.queue = @queue AND w.state = 'waiting' AND w.due_at > @due_at) AS bigint) AS ahead;

-- name: LeaseRepairHeld :exec
UPDATE lease SET lapses_at = @lapses_at WHERE queue = @queue AND state = 'held' AND lapses_at > @lapses_at;

-- name: LeaseRepairWaiting :exec
UPDATE lease SET due_at = @now WHERE queue = @queue AND state = 'waiting' AND due_at > @due_at;

-- name: LeaseAnyHeld :one
SELECT count(*) FROM (SELECT lease_id FROM lease WHERE state = 'held' LIMIT 1) AS held;

-- name: LeaseSilence :one
-- The holders of a queue's leases; how many of them were silent for so long that their
-- leases lapse soon; and how many leases have lapsed.
SELECT count(DISTINCT holder) AS holders,
  CAST(count(DISTINCT CASE WHEN lapses_at <= CAST(@soon AS bigint) THEN holder END) AS bigint) AS silent,
  CAST(count(CASE WHEN lapses_at <= CAST(@now AS bigint) THEN 1 END) AS bigint) AS lapsed
FROM lease WHERE queue = @queue AND state = 'held';

-- name: LeaseProlong :execrows
-- Time did not run for the held leases of a queue: none lapses before a time.
UPDATE lease SET lapses_at = CAST(@lapses_at AS bigint)
WHERE queue = @queue AND state = 'held' AND lapses_at < CAST(@lapses_at AS bigint);

-- name: LeaseShiftClaims :exec
-- The held leases of a queue were claimed later by so much, though not in the future.
UPDATE lease SET due_at = CASE WHEN due_at + CAST(@by AS bigint) < CAST(@now AS bigint) THEN due_at + CAST(@by AS bigint) ELSE CAST(@now AS bigint) END
WHERE queue = @queue AND state = 'held' AND due_at < CAST(@now AS bigint);

-- name: LeaseRememberLapse :exec
UPDATE lease SET lapsed_holder = @holder WHERE lease_id = @lease_id AND state = 'waiting' AND attempt = @attempt;

-- name: LeaseResume :execrows
-- The holder of the last claim, which lapsed, has it again. A lapse that counted as a
-- failure counts no more.
UPDATE lease
SET state = 'held', holder = @holder, lapsed_holder = '', lapses_at = @lapses_at, progress = 0, due_at = @now,
  failures = failures - CAST(@failed AS bigint), guard = CAST(attempt AS text) || ' ' || CAST(failures - CAST(@failed AS bigint) AS text) || ' ' || @holder
WHERE lease_id = @lease_id AND state = 'waiting' AND attempt = @attempt AND lapsed_holder = @holder;

-- name: PulseLock :one
SELECT * FROM pulse FOR UPDATE;

-- name: PulseGet :one
SELECT * FROM pulse;

-- name: PulseSet :exec
INSERT INTO pulse (pulse_id, written_at, heard_at, together_until) VALUES (1, @written_at, @heard_at, @together_until)
ON CONFLICT (pulse_id) DO UPDATE SET written_at = excluded.written_at, heard_at = excluded.heard_at, together_until = excluded.together_until;

-- name: PulseProbe :exec
INSERT INTO pulse (pulse_id, written_at, heard_at, together_until, probed_at) VALUES (1, 0, 0, 0, @now)
ON CONFLICT (pulse_id) DO UPDATE SET probed_at = excluded.probed_at;

-- name: LeaseGet :one
SELECT * FROM lease WHERE lease_id = @lease_id;

-- name: LeaseDrop :execrows
DELETE FROM lease WHERE queue = @queue AND subject = @subject;

-- name: LeaseCountDue :one
SELECT count(*) FROM (
  SELECT l.lease_id FROM lease l WHERE l.queue = @queue AND l.state = 'waiting' AND l.due_at <= @now LIMIT CAST(@most AS bigint)
) AS counted;

-- name: LeaseRemove :exec
DELETE FROM lease WHERE lease_id = @lease_id;

-- name: DeadLetterAdd :exec
-- A piece of work that was added again and has died again is one dead letter.
INSERT INTO dead_letter (lease_id, queue, subject, item, attempt, failures, last_code, last_error, died_at, row_sum)
VALUES (@lease_id, @queue, @subject, @item, @attempt, @failures, @last_code, @last_error, @died_at, @row_sum)
ON CONFLICT (lease_id) DO UPDATE SET
  attempt = excluded.attempt, failures = excluded.failures, last_code = excluded.last_code, last_error = excluded.last_error, died_at = excluded.died_at,
  row_sum = excluded.row_sum;

-- name: DeadLetters :many
SELECT * FROM dead_letter WHERE queue = @queue OR CAST(@queue AS text) = '' ORDER BY died_at DESC, lease_id LIMIT CAST(@max AS bigint);

-- name: DeadLetterCount :one
SELECT count(*) FROM dead_letter;

-- name: DeadLetterRemove :one
DELETE FROM dead_letter WHERE lease_id = @lease_id RETURNING *;

-- name: LeaseRequeue :exec
-- Does nothing when the same work was added again meanwhile.
INSERT INTO lease (lease_id, queue, subject, item, state, due_at, attempt, last_code, last_error, guard)
VALUES (@lease_id, @queue, @subject, @item, 'waiting', @due_at, @attempt, @last_code, @last_error, CAST(CAST(@attempt AS bigint) AS text) || ' 0 ')
ON CONFLICT DO NOTHING;

-- name: DeadLetterDelete :execrows
DELETE FROM dead_letter WHERE queue = @queue AND died_at <= @before;

-- name: LeaseAfter :many
SELECT * FROM lease WHERE lease_id > @after ORDER BY lease_id LIMIT 500;

-- name: DeadLetterErase :exec
DELETE FROM dead_letter WHERE queue = @queue AND subject = @subject;
