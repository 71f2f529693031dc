-- An operator takes benchmark results off the leaderboard; the log keeps them.

-- +goose Up

-- A result that is on no page and in no count. Its receipt stays as it was accepted.
CREATE TABLE benchmark_hidden (
  result_id text PRIMARY KEY REFERENCES benchmark_receipt (result_id),
  reason    text NOT NULL,
  hidden_at bigint NOT NULL,
  row_sum   text NOT NULL -- of the row's content; see package rowsum
);

-- +goose Down
DROP TABLE benchmark_hidden;
