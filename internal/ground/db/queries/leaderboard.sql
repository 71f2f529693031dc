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
SELECT last_number, last_group, last_facet, stale FROM benchmark_counter WHERE counter_id = 1 FOR UPDATE;

-- name: BenchmarkAdvance :exec
UPDATE benchmark_counter SET last_number = @last_number, last_group = @last_group, last_facet = @last_facet, stale = 0 WHERE counter_id = 1;

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
WHERE benchmark_version = @benchmark_version AND scene_version = @scene_version AND scoring_version = @scoring_version AND gpu_slug <> '' AND results > 0
ORDER BY results DESC, gpu_slug LIMIT @most;

-- name: BenchmarkGroupsCount :one
SELECT count(*) FROM benchmark_group
WHERE benchmark_version = @benchmark_version AND scene_version = @scene_version AND scoring_version = @scoring_version AND gpu_slug <> '' AND results > 0;

-- name: BenchmarkGroupsLike :many
SELECT * FROM benchmark_group
WHERE benchmark_version = @benchmark_version AND scene_version = @scene_version AND scoring_version = @scoring_version AND gpu_slug <> '' AND results > 0
  AND folded LIKE CAST(@word1 AS text) ESCAPE '\' AND folded LIKE CAST(@word2 AS text) ESCAPE '\' AND folded LIKE CAST(@word3 AS text) ESCAPE '\' AND folded LIKE CAST(@word4 AS text) ESCAPE '\'
ORDER BY results DESC, gpu_slug LIMIT @most;

-- name: BenchmarkGroupAdd :exec
INSERT INTO benchmark_group (group_id, benchmark_version, scene_version, scoring_version, gpu_slug, gpu_name, gpu_vendor, folded)
VALUES (@group_id, @benchmark_version, @scene_version, @scoring_version, @gpu_slug, @gpu_name, @gpu_vendor, @folded);

-- name: BenchmarkGroupCount :exec
UPDATE benchmark_group SET results = results + @results, synthetic = synthetic + @synthetic WHERE group_id = @group_id;

-- name: BenchmarkGroupChanged :exec
UPDATE benchmark_group SET updated_at = CASE WHEN updated_at < @now THEN @now ELSE updated_at END,
  vram_gb = CASE WHEN CAST(@vram_gb AS bigint) > 0 THEN @vram_gb ELSE vram_gb END
WHERE group_id = @group_id;

-- name: BenchmarkGroupFigures :exec
UPDATE benchmark_group SET score_top = @score_top, score_mean = @score_mean, score_median = @score_median,
  time_best = @time_best, time_mean = @time_mean, time_median = @time_median
WHERE group_id = @group_id;

-- name: BenchmarkGroupDescribe :exec
UPDATE benchmark_group SET gpu_name = @gpu_name, folded = @folded, vram_gb = @vram_gb WHERE group_id = @group_id;

-- name: BenchmarkTallyAdd :exec
INSERT INTO benchmark_tally (group_id, measure, level, bucket, results, total) VALUES (@group_id, @measure, @level, @bucket, 1, @value)
ON CONFLICT (group_id, measure, level, bucket) DO UPDATE SET results = benchmark_tally.results + 1, total = benchmark_tally.total + excluded.total;

-- name: BenchmarkTallyTake :exec
UPDATE benchmark_tally SET results = results - 1, total = total - @value
WHERE group_id = @group_id AND measure = @measure AND level = @level AND bucket = @bucket;

-- name: BenchmarkTallyClear :exec
DELETE FROM benchmark_tally WHERE group_id = @group_id AND measure = @measure AND level = @level AND bucket = @bucket AND results = 0;

-- name: BenchmarkAbove :one
-- How many results of a group have a greater value: at each level, the buckets
-- after the value's own within its bucket one level up.
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
SELECT bucket, results, total FROM benchmark_tally
WHERE group_id = @group_id AND measure = @measure AND level = @level AND bucket >= @first AND bucket < @behind
ORDER BY bucket DESC;

-- name: BenchmarkResultAdd :exec
INSERT INTO benchmark_result (number, result_id, receipt_id, board_id, group_id, device_name, gpu_name, gpu_slug, vram_gb, score, time_ms, synthetic, created_at, worker_key_id, standing, speaks)
VALUES (@number, @result_id, @receipt_id, @board_id, @group_id, @device_name, @gpu_name, @gpu_slug, @vram_gb, @score, @time_ms, @synthetic, @created_at, @worker_key_id, @standing, 0);

-- name: BenchmarkSpeak :exec
UPDATE benchmark_result SET speaks = @speaks WHERE number = @number;

-- name: BenchmarkVoice :one
-- The newest ranked result of a key before another.
SELECT * FROM benchmark_result WHERE board_id = @board_id AND worker_key_id = @worker_key_id AND group_id > 0 AND number < @before ORDER BY number DESC LIMIT 1;

-- name: BenchmarkStand :exec
UPDATE benchmark_result SET standing = @standing, group_id = @group_id WHERE number = @number;

-- name: BenchmarkFirstOf :one
SELECT * FROM benchmark_result WHERE group_id = @group_id ORDER BY number LIMIT 1;

-- name: BenchmarkVRAMOf :one
-- The newest result whose memory is known.
SELECT CAST(coalesce(max(CASE WHEN vram_gb > 0 THEN number ELSE 0 END), 0) AS bigint) AS number FROM benchmark_result WHERE group_id = @group_id;

-- name: BenchmarkResultGet :one
SELECT * FROM benchmark_result WHERE result_id = @result_id;

-- name: BenchmarkResultOfReceipt :one
SELECT result_id FROM benchmark_receipt WHERE receipt_id = @receipt_id AND receipt_id <> '';

-- name: BenchmarkTop :many
SELECT * FROM benchmark_result WHERE board_id = @board_id AND speaks = 1 ORDER BY score DESC, number LIMIT @most;

-- name: BenchmarkLatest :many
SELECT * FROM benchmark_result WHERE standing <> 'refuted' ORDER BY number DESC LIMIT @most;

-- name: BenchmarkLatestOf :many
SELECT * FROM benchmark_result WHERE group_id = @group_id ORDER BY number DESC LIMIT @most;

-- name: BenchmarkLatestApart :many
-- The newest results of a GPU that are not ranked.
SELECT * FROM benchmark_result WHERE gpu_slug = @gpu_slug AND group_id = 0 AND standing <> 'refuted' ORDER BY number DESC LIMIT @most;

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
WHERE p.facet_id = @facet_id AND r.standing <> 'refuted' ORDER BY p.number DESC LIMIT @most;

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
-- A page of groups, each with what its voices sum up to, and with the numbers of the first
-- ranked result and of the last one whose memory is known; 0 for none.
SELECT sqlc.embed(g), CAST(coalesce(r.counted, 0) AS bigint) AS counted, CAST(coalesce(r.synthetic, 0) AS bigint) AS synthetic_sum,
  CAST(coalesce(r.first_number, 0) AS bigint) AS first_number, CAST(coalesce(r.updated_at, 0) AS bigint) AS changed_at,
  CAST(coalesce(r.vram_number, 0) AS bigint) AS vram_number
FROM benchmark_group g LEFT JOIN (
  SELECT v.group_id, sum(v.speaks) AS counted, sum(v.speaks * v.synthetic) AS synthetic, min(v.number) AS first_number, max(v.created_at) AS updated_at,
    max(CASE WHEN v.vram_gb > 0 THEN v.number ELSE 0 END) AS vram_number
  FROM (
    SELECT b.board_id AS group_id, b.number, b.speaks, b.synthetic, b.vram_gb, b.created_at FROM benchmark_result b WHERE b.group_id > 0 AND b.board_id > @after
    UNION ALL SELECT s.group_id, s.number, s.speaks, s.synthetic, s.vram_gb, s.created_at FROM benchmark_result s WHERE s.group_id > 0 AND s.group_id > @after
  ) AS v
  GROUP BY v.group_id
) AS r ON r.group_id = g.group_id
WHERE g.group_id > @after ORDER BY g.group_id LIMIT 500;

-- name: AuditBenchmarkVoices :many
-- Results that speak and should not, or the reverse.
SELECT s.result_id FROM benchmark_result s
WHERE s.speaks <> CASE WHEN s.group_id > 0 AND NOT EXISTS (
  SELECT 1 FROM benchmark_result n WHERE n.board_id = s.board_id AND n.worker_key_id = s.worker_key_id AND n.group_id > 0 AND n.number > s.number) THEN 1 ELSE 0 END
ORDER BY s.number LIMIT 500;

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
SELECT counted.group_id, counted.measure, counted.level, counted.bucket, counted.results, counted.total FROM (
  SELECT v.group_id, v.measure, l.level, CAST(v.value >> CAST(6 * l.level AS int) AS bigint) AS bucket, count(*) AS results, CAST(sum(v.value) AS bigint) AS total
  FROM (
    SELECT b.board_id AS group_id, CAST(0 AS bigint) AS measure, b.score AS value FROM benchmark_result b WHERE b.speaks = 1
    UNION ALL SELECT s.group_id, CAST(0 AS bigint), s.score FROM benchmark_result s WHERE s.speaks = 1
    UNION ALL SELECT t.group_id, CAST(1 AS bigint), t.time_ms FROM benchmark_result t WHERE t.speaks = 1
  ) AS v, (
    SELECT CAST(0 AS bigint) AS level UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
  ) AS l
  GROUP BY v.group_id, v.measure, l.level, v.value >> CAST(6 * l.level AS int)
) AS counted
LEFT JOIN benchmark_tally kept ON kept.group_id = counted.group_id AND kept.measure = counted.measure
  AND kept.level = counted.level AND kept.bucket = counted.bucket
WHERE kept.results IS NULL OR kept.results <> counted.results OR kept.total <> counted.total;

-- name: AuditBenchmarkCounts :one
SELECT (SELECT count(*) FROM benchmark_result) AS shown, (SELECT count(*) FROM benchmark_receipt WHERE status = 'accepted') AS accepted,
  (SELECT count(*) FROM benchmark_hidden) AS hidden,
  (SELECT count(*) FROM benchmark_challenge) AS challenges,
  (SELECT count(*) FROM benchmark_posting) AS postings,
  (SELECT CAST(coalesce(sum(results), 0) AS bigint) FROM benchmark_tally) AS tallied,
  (SELECT CAST(coalesce(sum(CASE WHEN gpu_slug = '' THEN 5 * results ELSE 10 * results END), 0) AS bigint) FROM benchmark_group) AS expected;

-- name: AuditBenchmarkCounter :many
SELECT * FROM benchmark_counter;

-- name: BenchmarkReceiptAfter :many
SELECT * FROM benchmark_receipt WHERE result_id > @after ORDER BY result_id LIMIT 500;

-- name: BenchmarkHide :execrows
INSERT INTO benchmark_hidden (result_id, reason, hidden_at, row_sum) VALUES (@result_id, @reason, @hidden_at, @row_sum)
ON CONFLICT (result_id) DO NOTHING;

-- name: BenchmarkUnhide :execrows
DELETE FROM benchmark_hidden WHERE result_id = @result_id;

-- name: BenchmarkHiddenGet :one
SELECT * FROM benchmark_hidden WHERE result_id = @result_id;

-- name: BenchmarkHiddenLast :many
SELECT * FROM benchmark_hidden ORDER BY hidden_at DESC, result_id LIMIT CAST(@max AS bigint);

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

-- name: ChallengeAdd :exec
INSERT INTO benchmark_challenge (challenge_id, node_key_id, worker_id, scene, seed, shift_x, shift_y, samples, created_at, expires_at, row_sum)
VALUES (@challenge_id, @node_key_id, @worker_id, @scene, @seed, @shift_x, @shift_y, @samples, @created_at, @expires_at, @row_sum);

-- name: ChallengeGet :one
SELECT * FROM benchmark_challenge WHERE challenge_id = @challenge_id;

-- name: ChallengeOfResult :one
SELECT * FROM benchmark_challenge WHERE result_id = @result_id AND result_id <> '';

-- name: ChallengesOpen :many
SELECT * FROM benchmark_challenge WHERE node_key_id = @node_key_id AND ended_at = 0 AND created_at > @since;

-- name: ChallengesSince :one
-- How many a key has drawn, and when the first of them was.
SELECT count(*) AS drawn, CAST(coalesce(min(created_at), 0) AS bigint) AS first_at FROM benchmark_challenge WHERE node_key_id = @node_key_id AND created_at > @since;

-- name: ChallengeEnd :one
UPDATE benchmark_challenge SET ended_at = @now WHERE challenge_id = @challenge_id AND ended_at = 0 RETURNING *;

-- name: ChallengeAnswer :one
UPDATE benchmark_challenge SET ended_at = @now, result_id = @result_id, frame_key = @frame_key, frame_sha256 = @frame_sha256, frame_bytes = @frame_bytes,
  device = @device, blender_version = @blender_version, reference = @reference
WHERE challenge_id = @challenge_id AND ended_at = 0 RETURNING *;

-- name: ChallengeBlobs :many
SELECT frame_key FROM benchmark_challenge WHERE frame_key <> '';

-- name: AuditChallengePictures :many
-- A page of challenges with a picture.
SELECT challenge_id, frame_key, frame_sha256, frame_bytes FROM benchmark_challenge WHERE challenge_id > @after AND frame_key <> '' ORDER BY challenge_id LIMIT 500;

-- name: ChallengesForget :execrows
-- Those whose picture is not kept.
DELETE FROM benchmark_challenge WHERE challenge_id IN (
  SELECT c.challenge_id FROM benchmark_challenge c WHERE c.frame_key = '' AND c.created_at < @before LIMIT CAST(@max AS bigint));

-- name: ReferencesWaiting :one
SELECT count(*) FROM (SELECT 1 FROM benchmark_challenge WHERE reference = 'waiting' LIMIT 1) AS waiting;

-- name: ReferenceNext :one
-- The first that waits for such a worker of another key.
SELECT c.* FROM benchmark_challenge c JOIN worker w ON w.worker_id = @worker_id
WHERE c.reference = 'waiting' AND c.blender_version = w.blender_version AND c.device = w.device AND c.node_key_id <> w.key_id AND c.differs_key <> w.key_id AND w.renderer = @renderer
  AND EXISTS (SELECT 1 FROM lease l WHERE l.queue = 'reference' AND l.subject = c.challenge_id AND l.state = 'waiting' AND l.due_at <= @now)
ORDER BY c.ended_at LIMIT 1;

-- name: ReferenceClaim :one
UPDATE benchmark_challenge SET reference = 'rendering', reference_key = @reference_key WHERE challenge_id = @challenge_id AND reference = 'waiting' RETURNING *;

-- name: ReferenceRequeue :one
UPDATE benchmark_challenge SET reference = 'waiting', reference_key = '' WHERE challenge_id = @challenge_id AND reference = 'rendering' RETURNING *;

-- name: ReferenceDiffers :one
UPDATE benchmark_challenge SET reference = 'waiting', differs_key = @differs_key, difference = @difference, reference_key = ''
WHERE challenge_id = @challenge_id AND reference = 'rendering' RETURNING *;

-- name: ReferenceDecide :one
UPDATE benchmark_challenge SET reference = @reference, difference = @difference, decided_at = @now
WHERE challenge_id = @challenge_id AND reference = 'rendering' RETURNING *;
