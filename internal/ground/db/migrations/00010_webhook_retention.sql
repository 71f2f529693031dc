-- +goose Up

-- When an event's body and the log of its deliveries were removed, since their
-- time was over; 0 = they are kept. The row stays: a job that has ended has one.
ALTER TABLE webhook_event ADD COLUMN forgotten_at bigint NOT NULL DEFAULT 0;
UPDATE webhook_event SET forgotten_at = created_at WHERE body = '';

-- For who looks for what is over.
CREATE INDEX webhook_event_kept ON webhook_event (created_at, event_id) WHERE forgotten_at = 0;
CREATE INDEX webhook_secret_over ON webhook_secret (expires_at) WHERE expires_at <> 0;
CREATE INDEX webhook_endpoint_deleted ON webhook_endpoint (deleted_at) WHERE deleted_at <> 0 AND job_id = '';

-- +goose Down
DROP INDEX webhook_endpoint_deleted;
DROP INDEX webhook_secret_over;
DROP INDEX webhook_event_kept;
ALTER TABLE webhook_event DROP COLUMN forgotten_at;
