-- +goose Up

-- For who looks for holds that a dead process left.
CREATE INDEX idempotency_lapsing ON idempotency (lapses_at) WHERE status = 0;

-- +goose Down
DROP INDEX idempotency_lapsing;
