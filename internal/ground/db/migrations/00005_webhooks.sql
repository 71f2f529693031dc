-- +goose Up

-- What a job's end tells, in words that never change again: a job that has ended
-- has exactly one. Tests of an endpoint have events too, without a job.
CREATE TABLE webhook_event (
  event_id     text PRIMARY KEY, -- msg_…, the webhook-id of every delivery
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  job_id       text NOT NULL DEFAULT '',
  type         text NOT NULL,
  body         text NOT NULL, -- JSON, byte for byte as it is signed and sent; '' if it was not kept
  created_at   bigint NOT NULL
);
CREATE UNIQUE INDEX webhook_event_of_job ON webhook_event (job_id) WHERE job_id <> '';
CREATE INDEX webhook_event_by_workspace ON webhook_event (workspace_id, created_at);

-- Jobs that ended before events were kept.
INSERT INTO webhook_event (event_id, workspace_id, job_id, type, body, created_at)
SELECT 'msg_' || substr(job_id, 5), workspace_id, job_id, 'render.' || status, '', updated_at FROM job
WHERE status IN ('completed', 'failed', 'cancelled');

-- Whom events are delivered to: one of a workspace's (job_id ''), which hears of
-- every job, or the target of one job.
CREATE TABLE webhook_endpoint (
  endpoint_id     text PRIMARY KEY,
  workspace_id    text NOT NULL REFERENCES workspace (workspace_id),
  job_id          text NOT NULL DEFAULT '',
  url             text NOT NULL,
  description     text NOT NULL DEFAULT '',
  lane            text NOT NULL, -- deliveries of one lane share a bound of open calls
  failing_since   bigint NOT NULL DEFAULT 0, -- first failure after the last success
  last_failed_at  bigint NOT NULL DEFAULT 0,
  disabled_at     bigint NOT NULL DEFAULT 0,
  disabled_reason text NOT NULL DEFAULT '',
  created_at      bigint NOT NULL,
  deleted_at      bigint NOT NULL DEFAULT 0
);
CREATE INDEX webhook_endpoint_by_workspace ON webhook_endpoint (workspace_id) WHERE job_id = '' AND deleted_at = 0;
CREATE UNIQUE INDEX webhook_endpoint_of_job ON webhook_endpoint (job_id) WHERE job_id <> '';

-- What deliveries are signed with: the current secret (expires_at 0), and during
-- a rotation the one before.
CREATE TABLE webhook_secret (
  secret_id   text PRIMARY KEY,
  endpoint_id text NOT NULL REFERENCES webhook_endpoint (endpoint_id),
  sealed      text NOT NULL, -- see package seal; its place is "webhook_secret/<secret_id>"
  created_at  bigint NOT NULL,
  expires_at  bigint NOT NULL DEFAULT 0
);
CREATE INDEX webhook_secret_by_endpoint ON webhook_secret (endpoint_id);

-- An event on its way to an endpoint.
CREATE TABLE webhook_delivery (
  delivery_id  text PRIMARY KEY, -- made of both ids: an event goes to an endpoint once
  event_id     text NOT NULL REFERENCES webhook_event (event_id),
  endpoint_id  text NOT NULL REFERENCES webhook_endpoint (endpoint_id),
  workspace_id text NOT NULL,
  job_id       text NOT NULL DEFAULT '',
  lane         text NOT NULL,
  status       text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  reason       text NOT NULL DEFAULT '', -- why it failed for good
  round        bigint NOT NULL DEFAULT 0, -- tries since it was asked for, which the schedule counts
  tries        bigint NOT NULL DEFAULT 0, -- tries in all
  created_at   bigint NOT NULL,
  next_at      bigint NOT NULL, -- when it is tried next; of a pending one only
  ended_at     bigint NOT NULL DEFAULT 0
);
CREATE INDEX webhook_delivery_due ON webhook_delivery (lane, next_at, delivery_id) WHERE status = 'pending';
CREATE INDEX webhook_delivery_by_job ON webhook_delivery (job_id) WHERE job_id <> '';
CREATE INDEX webhook_delivery_by_endpoint ON webhook_delivery (endpoint_id, delivery_id);
CREATE INDEX webhook_delivery_by_event ON webhook_delivery (event_id);

-- A try that was made.
CREATE TABLE webhook_attempt (
  delivery_id text NOT NULL REFERENCES webhook_delivery (delivery_id),
  number      bigint NOT NULL, -- from 1
  started_at  bigint NOT NULL,
  duration_us bigint NOT NULL,
  status      bigint NOT NULL, -- HTTP status; 0 when no answer came
  error       text NOT NULL,   -- why none came
  answer      text NOT NULL,   -- the first bytes of the answer's body
  next_at     bigint NOT NULL, -- when the next try was due; 0 = none
  PRIMARY KEY (delivery_id, number)
);

-- +goose Down
DROP TABLE webhook_attempt;
DROP TABLE webhook_delivery;
DROP TABLE webhook_secret;
DROP TABLE webhook_endpoint;
DROP TABLE webhook_event;
