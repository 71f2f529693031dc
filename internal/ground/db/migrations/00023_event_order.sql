-- The order of a workspace's events, for who follows them.

-- +goose Up

-- The job events of a workspace are numbered 1, 2, 3…; the test of an endpoint has 0.
ALTER TABLE webhook_event ADD COLUMN seq bigint NOT NULL DEFAULT 0;
UPDATE webhook_event SET seq = n.seq
FROM (SELECT event_id, row_number() OVER (PARTITION BY workspace_id ORDER BY created_at, event_id) AS seq FROM webhook_event WHERE job_id <> '') n
WHERE n.event_id = webhook_event.event_id;
CREATE UNIQUE INDEX webhook_event_order ON webhook_event (workspace_id, seq) WHERE job_id <> '';
CREATE INDEX webhook_event_followed ON webhook_event (workspace_id, seq) WHERE job_id <> '' AND forgotten_at = 0;

-- +goose Down
DROP INDEX webhook_event_followed;
DROP INDEX webhook_event_order;
ALTER TABLE webhook_event DROP COLUMN seq;
