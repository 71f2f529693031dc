-- name: LogLock :one
SELECT size, peaks FROM receipt_log WHERE log_id = 1 FOR UPDATE;

-- name: LogHead :one
SELECT origin, size, peaks FROM receipt_log WHERE log_id = 1;

-- name: LogName :exec
UPDATE receipt_log SET origin = @origin, row_sum = @row_sum WHERE log_id = 1 AND size = 0;

-- name: LogAdvance :exec
UPDATE receipt_log SET size = @size, peaks = @peaks WHERE log_id = 1;

-- name: LogLeafAdd :exec
INSERT INTO receipt_log_leaf (log_index, entry) VALUES (@log_index, @entry);

-- name: LogNodeAdd :exec
INSERT INTO receipt_log_node (tile_level, number, hash) VALUES (@tile_level, @number, @hash);

-- name: LogLeaves :many
SELECT log_index, entry FROM receipt_log_leaf WHERE log_index >= @first AND log_index < @behind ORDER BY log_index;

-- name: LogNodes :many
SELECT number, hash FROM receipt_log_node
WHERE tile_level = @tile_level AND number >= @first AND number < @behind ORDER BY number;

-- name: LogCounts :one
SELECT (SELECT count(*) FROM receipt_log_leaf) AS leaves, (SELECT count(*) FROM receipt_log_node) AS nodes;

-- name: LogLeavesFrom :many
SELECT * FROM receipt_log_leaf WHERE log_index >= @first ORDER BY log_index LIMIT 500;
