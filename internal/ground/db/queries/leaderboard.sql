-- name: NodeSigningKeyBind :exec
INSERT INTO node_signing_key (key_id, public_pem, bound_at) VALUES (@key_id, @public_pem, @bound_at)
ON CONFLICT (key_id) DO NOTHING;

-- name: NodeSigningKeyGet :one
SELECT public_pem FROM node_signing_key WHERE key_id = @key_id;

-- name: BenchmarkReceiptOf :one
SELECT * FROM benchmark_receipt WHERE payload_sha256 = @payload_sha256;

-- name: BenchmarkReceiptGet :one
SELECT * FROM benchmark_receipt WHERE result_id = @result_id;

-- name: BenchmarkReceiptAdd :exec
INSERT INTO benchmark_receipt (result_id, payload_sha256, node_key_id, worker_id, worker_envelope, status, reason, detail, receipt_id, envelope, created_at)
VALUES (@result_id, @payload_sha256, @node_key_id, @worker_id, @worker_envelope, @status, @reason, @detail, @receipt_id, @envelope, @created_at);

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

-- name: BenchmarkReceiptsAfter :many
SELECT * FROM benchmark_receipt WHERE result_id > @after ORDER BY result_id LIMIT 500;

-- name: AuditBenchmarkGroups :many
-- Groups whose sums are not those of their results.
SELECT g.group_id, g.gpu_slug, g.results, count(r.number) AS counted
FROM benchmark_group g
LEFT JOIN (
  SELECT b.board_id AS group_id, b.number, b.score, b.time_ms, b.synthetic FROM benchmark_result b WHERE b.group_id > 0
  UNION ALL SELECT s.group_id, s.number, s.score, s.time_ms, s.synthetic FROM benchmark_result s WHERE s.group_id > 0
) AS r ON r.group_id = g.group_id
GROUP BY g.group_id, g.gpu_slug, g.results, g.score_sum, g.time_sum, g.synthetic, g.score_top, g.time_best
HAVING coalesce(max(r.score), 0) <> g.score_top OR coalesce(min(r.time_ms), 0) <> g.time_best OR count(r.number) <> g.results OR coalesce(sum(r.score), 0) <> g.score_sum OR coalesce(sum(r.time_ms), 0) <> g.time_sum
  OR coalesce(sum(r.synthetic), 0) <> g.synthetic;

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
  (SELECT CAST(coalesce(sum(results), 0) AS bigint) FROM benchmark_tally) AS tallied,
  (SELECT CAST(coalesce(sum(CASE WHEN gpu_slug = '' THEN 5 * results ELSE 10 * results END), 0) AS bigint) FROM benchmark_group) AS expected;
