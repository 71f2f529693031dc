-- name: NodeSigningKeyBind :exec
INSERT INTO node_signing_key (key_id, public_pem, bound_at, row_sum) VALUES (@key_id, @public_pem, @bound_at, @row_sum)
ON CONFLICT (key_id) DO NOTHING;

-- name: NodeSigningKeyGet :one
SELECT public_pem FROM node_signing_key WHERE key_id = @key_id;

-- name: BenchmarkReceiptOf :one
SELECT * FROM benchmark_receipt WHERE payload_sha256 = @payload_sha256;

-- name: BenchmarkReceiptGet :one
SELECT * FROM benchmark_receipt WHERE result_id = @result_id;

-- name: BenchmarkReceiptAdd :exec
INSERT INTO benchmark_receipt (result_id, payload_sha256, node_key_id, worker_id, worker_envelope, status, reason, detail, receipt_id, envelope, created_at, row_sum)
VALUES (@result_id, @payload_sha256, @node_key_id, @worker_id, @worker_envelope, @status, @reason, @detail, @receipt_id, @envelope, @created_at, @row_sum);

-- name: BenchmarkRejectedForget :execrows
DELETE FROM benchmark_receipt WHERE result_id IN (
  SELECT b.result_id FROM benchmark_receipt b WHERE b.status = 'rejected' AND b.created_at < @before LIMIT CAST(@max AS bigint));

-- name: BenchmarkLock :one
SELECT last_number, last_group, last_facet FROM benchmark_counter WHERE counter_id = 1 FOR UPDATE;

-- name: BenchmarkAdvance :exec
UPDATE benchmark_counter SET last_number = @last_number, last_group = @last_group, last_facet = @last_facet WHERE counter_id = 1;

-- name: BenchmarkGroupFind :one
SELECT * FROM benchmark_group
WHERE benchmark_version = @benchmark_version AND scene_version = @scene_version AND scoring_version = @scoring_version AND gpu_slug = @gpu_slug;

-- name: BenchmarkGroupGet :one
SELECT * FROM benchmark_group WHERE group_id = @group_id;

-- name: BenchmarkGroupsOfSlug :many
SELECT * FROM benchmark_group WHERE gpu_slug = @gpu_slug ORDER BY updated_at DESC;

-- name: BenchmarkGroupsCommon :many
-- The GPUs of a board with the most results.
SELECT * FROM benchmark_group
WHERE benchmark_version = @benchmark_version AND scene_version = @scene_version AND scoring_version = @scoring_version AND gpu_slug <> ''
ORDER BY results DESC, gpu_slug LIMIT @most;

-- name: BenchmarkGroupsCount :one
SELECT count(*) FROM benchmark_group
WHERE benchmark_version = @benchmark_version AND scene_version = @scene_version AND scoring_version = @scoring_version AND gpu_slug <> '';

-- name: BenchmarkGroupsLike :many
SELECT * FROM benchmark_group
WHERE benchmark_version = @benchmark_version AND scene_version = @scene_version AND scoring_version = @scoring_version AND gpu_slug <> ''
  AND folded LIKE CAST(@word1 AS text) ESCAPE '\' AND folded LIKE CAST(@word2 AS text) ESCAPE '\' AND folded LIKE CAST(@word3 AS text) ESCAPE '\' AND folded LIKE CAST(@word4 AS text) ESCAPE '\'
ORDER BY results DESC, gpu_slug LIMIT @most;

-- name: BenchmarkGroupAdd :exec
INSERT INTO benchmark_group (group_id, benchmark_version, scene_version, scoring_version, gpu_slug, gpu_name, gpu_vendor, folded)
VALUES (@group_id, @benchmark_version, @scene_version, @scoring_version, @gpu_slug, @gpu_name, @gpu_vendor, @folded);

-- name: BenchmarkGroupCount :exec
UPDATE benchmark_group SET results = results + 1, synthetic = synthetic + @synthetic, score_sum = score_sum + @score, time_sum = time_sum + @time_ms,
  score_top = CASE WHEN results = 0 OR score_top < @score THEN @score ELSE score_top END,
  time_best = CASE WHEN results = 0 OR time_best > @time_ms THEN @time_ms ELSE time_best END,
  vram_gb = CASE WHEN CAST(@vram_gb AS bigint) > 0 THEN @vram_gb ELSE vram_gb END, updated_at = @now
WHERE group_id = @group_id;

-- name: BenchmarkTallyAdd :exec
INSERT INTO benchmark_tally (group_id, measure, level, bucket, results) VALUES (@group_id, @measure, @level, @bucket, 1)
ON CONFLICT (group_id, measure, level, bucket) DO UPDATE SET results = benchmark_tally.results + 1;

-- name: BenchmarkAbove :one
-- How many results of a group have a greater value: of each level the buckets
-- that are behind the value's own, within the value's own bucket one level up.
SELECT CAST(coalesce(sum(results), 0) AS bigint) AS above FROM (
  SELECT t0.results FROM benchmark_tally AS t0 WHERE t0.group_id = @group_id AND t0.measure = @measure AND t0.level = 0
    AND t0.bucket > CAST(@value AS bigint) AND t0.bucket < (((CAST(@value AS bigint) >> 6) + 1) << 6)
  UNION ALL
  SELECT t1.results FROM benchmark_tally AS t1 WHERE t1.group_id = @group_id AND t1.measure = @measure AND t1.level = 1
    AND t1.bucket > (CAST(@value AS bigint) >> 6) AND t1.bucket < (((CAST(@value AS bigint) >> 12) + 1) << 6)
  UNION ALL
  SELECT t2.results FROM benchmark_tally AS t2 WHERE t2.group_id = @group_id AND t2.measure = @measure AND t2.level = 2
    AND t2.bucket > (CAST(@value AS bigint) >> 12) AND t2.bucket < (((CAST(@value AS bigint) >> 18) + 1) << 6)
  UNION ALL
  SELECT t3.results FROM benchmark_tally AS t3 WHERE t3.group_id = @group_id AND t3.measure = @measure AND t3.level = 3
    AND t3.bucket > (CAST(@value AS bigint) >> 18) AND t3.bucket < (((CAST(@value AS bigint) >> 24) + 1) << 6)
  UNION ALL
  SELECT t4.results FROM benchmark_tally AS t4 WHERE t4.group_id = @group_id AND t4.measure = @measure AND t4.level = 4
    AND t4.bucket > (CAST(@value AS bigint) >> 24)
) AS behind;

-- name: BenchmarkBuckets :many
-- The greatest first.
SELECT bucket, results FROM benchmark_tally
WHERE group_id = @group_id AND measure = @measure AND level = @level AND bucket >= @first AND bucket < @behind
ORDER BY bucket DESC;

-- name: BenchmarkResultAdd :exec
INSERT INTO benchmark_result (number, result_id, receipt_id, board_id, group_id, device_name, gpu_name, gpu_slug, vram_gb, score, time_ms, synthetic, created_at)
VALUES (@number, @result_id, @receipt_id, @board_id, @group_id, @device_name, @gpu_name, @gpu_slug, @vram_gb, @score, @time_ms, @synthetic, @created_at);

-- name: BenchmarkResultGet :one
SELECT * FROM benchmark_result WHERE result_id = @result_id;

-- name: BenchmarkResultOfReceipt :one
SELECT result_id FROM benchmark_receipt WHERE receipt_id = @receipt_id AND receipt_id <> '';

-- name: BenchmarkTop :many
SELECT * FROM benchmark_result WHERE board_id = @board_id AND group_id > 0 ORDER BY score DESC, number LIMIT @most;

-- name: BenchmarkLatest :many
SELECT * FROM benchmark_result ORDER BY number DESC LIMIT @most;

-- name: BenchmarkLatestOf :many
SELECT * FROM benchmark_result WHERE group_id = @group_id ORDER BY number DESC LIMIT @most;

-- name: BenchmarkFacetFind :one
SELECT facet_id FROM benchmark_facet WHERE field = @field AND value = @value;

-- name: BenchmarkFacetAdd :exec
INSERT INTO benchmark_facet (facet_id, field, value, folded) VALUES (@facet_id, @field, @value, @folded);

-- name: BenchmarkPostingAdd :exec
INSERT INTO benchmark_posting (facet_id, number) VALUES (@facet_id, @number);

-- name: BenchmarkFacetsLike :many
-- The newest first.
SELECT facet_id FROM benchmark_facet
WHERE folded LIKE CAST(@word1 AS text) ESCAPE '\' AND folded LIKE CAST(@word2 AS text) ESCAPE '\' AND folded LIKE CAST(@word3 AS text) ESCAPE '\' AND folded LIKE CAST(@word4 AS text) ESCAPE '\'
ORDER BY facet_id DESC LIMIT @most;

-- name: BenchmarkPostings :many
-- The newest results that have a value.
SELECT r.* FROM benchmark_posting p JOIN benchmark_result r ON r.number = p.number
WHERE p.facet_id = @facet_id ORDER BY p.number DESC LIMIT @most;

-- name: AuditBenchmarkUnshown :many
SELECT r.result_id FROM benchmark_receipt r
WHERE r.status = 'accepted' AND NOT EXISTS (SELECT 1 FROM benchmark_result s WHERE s.result_id = r.result_id)
  AND NOT EXISTS (SELECT 1 FROM benchmark_hidden h WHERE h.result_id = r.result_id);

-- name: AuditBenchmarkResults :many
-- A page of results, each with its receipt; '' and 0 where there is none.
SELECT sqlc.embed(s), CAST(coalesce(r.envelope, '') AS text) AS envelope, CAST(coalesce(r.worker_envelope, '') AS text) AS worker_envelope,
  CAST(coalesce(r.created_at, 0) AS bigint) AS received_at
FROM benchmark_result s LEFT JOIN benchmark_receipt r ON r.result_id = s.result_id AND r.receipt_id = s.receipt_id
WHERE s.number > @after ORDER BY s.number LIMIT 500;

-- name: AuditBenchmarkGroups :many
-- A page of groups, each with the sums of its results and the numbers of the first, of the
-- last and of the last one whose memory is known; 0 for none.
SELECT sqlc.embed(g), CAST(coalesce(r.counted, 0) AS bigint) AS counted, CAST(coalesce(r.synthetic, 0) AS bigint) AS synthetic_sum,
  CAST(coalesce(r.score_sum, 0) AS bigint) AS scores, CAST(coalesce(r.score_top, 0) AS bigint) AS best_score,
  CAST(coalesce(r.time_sum, 0) AS bigint) AS times, CAST(coalesce(r.time_best, 0) AS bigint) AS best_time,
  CAST(coalesce(r.first_number, 0) AS bigint) AS first_number, CAST(coalesce(r.last_number, 0) AS bigint) AS last_number,
  CAST(coalesce(r.vram_number, 0) AS bigint) AS vram_number
FROM benchmark_group g LEFT JOIN (
  SELECT v.group_id, count(*) AS counted, sum(v.synthetic) AS synthetic, sum(v.score) AS score_sum, max(v.score) AS score_top,
    sum(v.time_ms) AS time_sum, min(v.time_ms) AS time_best, min(v.number) AS first_number, max(v.number) AS last_number,
    max(CASE WHEN v.vram_gb > 0 THEN v.number ELSE 0 END) AS vram_number
  FROM (
    SELECT b.board_id AS group_id, b.number, b.score, b.time_ms, b.synthetic, b.vram_gb FROM benchmark_result b WHERE b.group_id > 0 AND b.board_id > @after
    UNION ALL SELECT s.group_id, s.number, s.score, s.time_ms, s.synthetic, s.vram_gb FROM benchmark_result s WHERE s.group_id > 0 AND s.group_id > @after
  ) AS v
  GROUP BY v.group_id
) AS r ON r.group_id = g.group_id
WHERE g.group_id > @after ORDER BY g.group_id LIMIT 500;

-- name: AuditBenchmarkFacets :many
-- A page of facets, each with the number of the first result that has it; 0 for none.
SELECT sqlc.embed(f), CAST(coalesce((SELECT min(p.number) FROM benchmark_posting p WHERE p.facet_id = f.facet_id), 0) AS bigint) AS first_number
FROM benchmark_facet f WHERE f.facet_id > @after ORDER BY f.facet_id LIMIT 500;

-- name: AuditBenchmarkPostings :many
SELECT number FROM benchmark_posting WHERE facet_id = @facet_id AND number > @behind AND number <= @last ORDER BY number;

-- name: BenchmarkResultNumbered :one
SELECT * FROM benchmark_result WHERE number = @number;

-- name: AuditBenchmarkTallies :many
-- Buckets whose count is not that of the results: those that results give and
-- that are not kept so.
SELECT counted.group_id, counted.measure, counted.level, counted.bucket, counted.results FROM (
  SELECT v.group_id, v.measure, l.level, CAST(v.value >> CAST(6 * l.level AS int) AS bigint) AS bucket, count(*) AS results
  FROM (
    SELECT b.board_id AS group_id, CAST(0 AS bigint) AS measure, b.score AS value FROM benchmark_result b WHERE b.group_id > 0
    UNION ALL SELECT s.group_id, CAST(0 AS bigint), s.score FROM benchmark_result s WHERE s.group_id > 0
    UNION ALL SELECT t.group_id, CAST(1 AS bigint), t.time_ms FROM benchmark_result t WHERE t.group_id > 0
  ) AS v, (
    SELECT CAST(0 AS bigint) AS level UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
  ) AS l
  GROUP BY v.group_id, v.measure, l.level, v.value >> CAST(6 * l.level AS int)
) AS counted
LEFT JOIN benchmark_tally kept ON kept.group_id = counted.group_id AND kept.measure = counted.measure
  AND kept.level = counted.level AND kept.bucket = counted.bucket
WHERE kept.results IS NULL OR kept.results <> counted.results;

-- name: AuditBenchmarkCounts :one
SELECT (SELECT count(*) FROM benchmark_result) AS shown, (SELECT count(*) FROM benchmark_receipt WHERE status = 'accepted') AS accepted,
  (SELECT count(*) FROM benchmark_hidden) AS hidden,
  (SELECT count(*) FROM benchmark_posting) AS postings,
  (SELECT CAST(coalesce(sum(results), 0) AS bigint) FROM benchmark_tally) AS tallied,
  (SELECT CAST(coalesce(sum(CASE WHEN gpu_slug = '' THEN 5 * results ELSE 10 * results END), 0) AS bigint) FROM benchmark_group) AS expected;

-- name: AuditBenchmarkCounter :many
SELECT * FROM benchmark_counter;

-- name: NodeSigningKeyAfter :many
SELECT * FROM node_signing_key WHERE key_id > @after ORDER BY key_id LIMIT 500;

-- name: NodeSigningKeySum :exec
UPDATE node_signing_key SET row_sum = @row_sum WHERE key_id = @key_id;

-- name: BenchmarkReceiptAfter :many
SELECT * FROM benchmark_receipt WHERE result_id > @after ORDER BY result_id LIMIT 500;

-- name: BenchmarkReceiptSum :exec
UPDATE benchmark_receipt SET row_sum = @row_sum WHERE result_id = @result_id;

-- name: BenchmarkHide :execrows
INSERT INTO benchmark_hidden (result_id, reason, hidden_at, row_sum) VALUES (@result_id, @reason, @hidden_at, @row_sum)
ON CONFLICT (result_id) DO NOTHING;

-- name: BenchmarkUnhide :execrows
DELETE FROM benchmark_hidden WHERE result_id = @result_id;

-- name: BenchmarkHiddenGet :one
SELECT * FROM benchmark_hidden WHERE result_id = @result_id;

-- name: BenchmarkHiddenLast :many
SELECT * FROM benchmark_hidden ORDER BY hidden_at DESC, result_id LIMIT CAST(@max AS bigint);

-- name: BenchmarkHiddenAfter :many
SELECT * FROM benchmark_hidden WHERE result_id > @after ORDER BY result_id LIMIT 500;

-- name: BenchmarkHiddenSum :exec
UPDATE benchmark_hidden SET row_sum = @row_sum WHERE result_id = @result_id;

-- name: BenchmarkOfNode :many
-- The accepted results of a node key.
SELECT result_id FROM benchmark_receipt WHERE node_key_id = @node_key_id AND status = 'accepted' ORDER BY result_id;

-- name: BenchmarkClearPostings :exec
DELETE FROM benchmark_posting;

-- name: BenchmarkClearFacets :exec
DELETE FROM benchmark_facet;

-- name: BenchmarkClearTallies :exec
DELETE FROM benchmark_tally;

-- name: BenchmarkClearResults :exec
DELETE FROM benchmark_result;

-- name: BenchmarkClearGroups :exec
DELETE FROM benchmark_group;
