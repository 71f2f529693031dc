-- Accepted word for word by SQLite and PostgreSQL: text and bigint only, times
-- in microseconds since 1970 UTC, money in cents, '' and 0 where there is
-- nothing.

-- +goose Up

CREATE TABLE workspace (
  workspace_id text PRIMARY KEY,
  name         text NOT NULL,
  created_at   bigint NOT NULL
);

CREATE TABLE person (
  person_id    text PRIMARY KEY,
  email        text NOT NULL UNIQUE,
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  created_at   bigint NOT NULL
);

CREATE TABLE sign_in_link (
  token_sha256 text PRIMARY KEY,
  email        text NOT NULL,
  created_at   bigint NOT NULL,
  expires_at   bigint NOT NULL,
  used_at      bigint NOT NULL DEFAULT 0
);

CREATE TABLE session (
  token_sha256 text PRIMARY KEY,
  person_id    text NOT NULL REFERENCES person (person_id),
  created_at   bigint NOT NULL,
  expires_at   bigint NOT NULL
);

-- Three kinds of key in three stores (spec 5): none can stand in for another.
CREATE TABLE account_key (
  key_id        text PRIMARY KEY,
  workspace_id  text NOT NULL REFERENCES workspace (workspace_id),
  name          text NOT NULL,
  secret_sha256 text NOT NULL UNIQUE,
  masked_prefix text NOT NULL,
  created_at    bigint NOT NULL,
  last_used_at  bigint NOT NULL DEFAULT 0,
  revoked_at    bigint NOT NULL DEFAULT 0
);
CREATE INDEX account_key_by_workspace ON account_key (workspace_id);

CREATE TABLE agent_key (
  key_id            text PRIMARY KEY,
  workspace_id      text NOT NULL REFERENCES workspace (workspace_id),
  name              text NOT NULL,
  secret_sha256     text NOT NULL UNIQUE,
  masked_prefix     text NOT NULL,
  spend_limit_cents bigint NOT NULL DEFAULT -1, -- a month; -1 = none
  created_at        bigint NOT NULL,
  last_used_at      bigint NOT NULL DEFAULT 0,
  revoked_at        bigint NOT NULL DEFAULT 0
);
CREATE INDEX agent_key_by_workspace ON agent_key (workspace_id);

CREATE TABLE node_key (
  key_id        text PRIMARY KEY,
  name          text NOT NULL,
  secret_sha256 text NOT NULL UNIQUE,
  masked_prefix text NOT NULL,
  created_at    bigint NOT NULL,
  last_used_at  bigint NOT NULL DEFAULT 0,
  revoked_at    bigint NOT NULL DEFAULT 0
);

-- The wallet row caches what the postings say; the audit adds them up again.
CREATE TABLE wallet (
  workspace_id    text PRIMARY KEY REFERENCES workspace (workspace_id),
  available_cents bigint NOT NULL DEFAULT 0 CHECK (available_cents >= 0),
  reserved_cents  bigint NOT NULL DEFAULT 0 CHECK (reserved_cents >= 0)
);

-- The ledger is append-only and double-entry: the postings of a transaction add
-- up to zero, and a reference makes it happen once.
CREATE TABLE ledger_transaction (
  transaction_id text PRIMARY KEY,
  kind           text NOT NULL CHECK (kind IN ('credit', 'reserve', 'capture', 'release', 'refund')),
  reference      text NOT NULL,
  workspace_id   text NOT NULL REFERENCES workspace (workspace_id),
  job_id         text NOT NULL DEFAULT '',
  amount_cents   bigint NOT NULL CHECK (amount_cents > 0),
  created_at     bigint NOT NULL,
  UNIQUE (kind, reference)
);
CREATE INDEX ledger_transaction_by_workspace ON ledger_transaction (workspace_id, transaction_id);
CREATE INDEX ledger_transaction_by_job ON ledger_transaction (job_id) WHERE job_id <> '';

CREATE TABLE ledger_posting (
  transaction_id text NOT NULL REFERENCES ledger_transaction (transaction_id),
  account        text NOT NULL,
  amount_cents   bigint NOT NULL,
  PRIMARY KEY (transaction_id, account)
);

CREATE TABLE upload (
  upload_id    text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  filename     text NOT NULL,
  sha256       text NOT NULL,
  size_bytes   bigint NOT NULL,
  blob_key     text NOT NULL,
  scene        text NOT NULL, -- JSON, what inspect read
  created_at   bigint NOT NULL,
  removed_at   bigint NOT NULL DEFAULT 0
);
CREATE INDEX upload_by_workspace ON upload (workspace_id, upload_id);

CREATE TABLE quote (
  quote_id        text PRIMARY KEY,
  upload_id       text NOT NULL REFERENCES upload (upload_id),
  workspace_id    text NOT NULL,
  frame_start     bigint NOT NULL CHECK (frame_start >= 1),
  frame_end       bigint NOT NULL,
  frame_step      bigint NOT NULL CHECK (frame_step >= 1),
  frame_count     bigint NOT NULL CHECK (frame_count BETWEEN 1 AND 10000),
  price_cents     bigint NOT NULL CHECK (price_cents > 0),
  pricing_version text NOT NULL,
  qualified       bigint NOT NULL CHECK (qualified IN (0, 1)),
  warnings        text NOT NULL, -- JSON
  created_at      bigint NOT NULL,
  expires_at      bigint NOT NULL,
  accepted_at     bigint NOT NULL DEFAULT 0,
  job_id          text NOT NULL DEFAULT ''
);
CREATE INDEX quote_by_upload ON quote (upload_id);

CREATE TABLE job (
  job_id            text PRIMARY KEY,
  workspace_id      text NOT NULL REFERENCES workspace (workspace_id),
  key_id            text NOT NULL DEFAULT '', -- the key that spent
  flow              text NOT NULL CHECK (flow IN ('job_api', 'public_v1')),
  status            text NOT NULL,
  seq               bigint NOT NULL DEFAULT 1, -- raised by every change a watcher can see
  upload_id         text NOT NULL REFERENCES upload (upload_id),
  quote_id          text NOT NULL UNIQUE REFERENCES quote (quote_id),
  filename          text NOT NULL,
  input_sha256      text NOT NULL,
  input_size_bytes  bigint NOT NULL,
  input_key         text NOT NULL,
  frame_start       bigint NOT NULL,
  frame_end         bigint NOT NULL,
  frame_step        bigint NOT NULL,
  frame_count       bigint NOT NULL,
  frames_completed  bigint NOT NULL DEFAULT 0,
  render_us         bigint NOT NULL DEFAULT 0, -- sum over accepted frames
  pricing_version   text NOT NULL,
  price_cents       bigint NOT NULL,
  charged_cents     bigint NOT NULL DEFAULT 0,
  render_device     text NOT NULL DEFAULT '',
  device_name       text NOT NULL DEFAULT '',
  blender_version   text NOT NULL DEFAULT '', -- what really rendered
  failure_code      text NOT NULL DEFAULT '',
  failure_message   text NOT NULL DEFAULT '',
  cancel_reason     text NOT NULL DEFAULT '',
  artifact_key      text NOT NULL DEFAULT '',
  artifact_filename text NOT NULL DEFAULT '',
  artifact_sha256   text NOT NULL DEFAULT '',
  artifact_size     bigint NOT NULL DEFAULT 0,
  artifact_removed_at bigint NOT NULL DEFAULT 0,
  created_at        bigint NOT NULL,
  submitted_at      bigint NOT NULL DEFAULT 0,
  claimed_at        bigint NOT NULL DEFAULT 0,
  completed_at      bigint NOT NULL DEFAULT 0,
  failed_at         bigint NOT NULL DEFAULT 0,
  cancelled_at      bigint NOT NULL DEFAULT 0,
  updated_at        bigint NOT NULL,
  CHECK (charged_cents <= price_cents),
  CHECK (frames_completed <= frame_count)
);
CREATE INDEX job_by_workspace ON job (workspace_id, job_id);
CREATE INDEX job_queued ON job (job_id) WHERE status = 'queued';
CREATE INDEX job_by_key ON job (key_id, created_at) WHERE key_id <> '';

-- A row is an accepted frame: the one winner of its number.
CREATE TABLE frame (
  job_id         text NOT NULL REFERENCES job (job_id),
  frame          bigint NOT NULL,
  seq            bigint NOT NULL, -- job.seq when it was accepted
  ordinal        bigint NOT NULL, -- job.frames_completed when it was accepted
  file           text NOT NULL,
  blob_key       text NOT NULL,
  sha256         text NOT NULL,
  pixel_sha256   text NOT NULL,
  size_bytes     bigint NOT NULL,
  width          bigint NOT NULL,
  height         bigint NOT NULL,
  render_us      bigint NOT NULL,
  worker_id      text NOT NULL,
  attempt        bigint NOT NULL,
  device         text NOT NULL,
  device_name    text NOT NULL,
  blender_version text NOT NULL,
  build_hash     text NOT NULL,
  switched       text NOT NULL, -- comma separated, sorted
  log            text NOT NULL,
  accepted_at    bigint NOT NULL,
  PRIMARY KEY (job_id, frame)
);

CREATE TABLE receipt (
  receipt_id   text PRIMARY KEY,
  job_id       text NOT NULL UNIQUE REFERENCES job (job_id),
  workspace_id text NOT NULL,
  key_id       text NOT NULL,
  envelope     text NOT NULL, -- the DSSE envelope, byte for byte as signed
  created_at   bigint NOT NULL
);

CREATE TABLE worker (
  worker_id       text PRIMARY KEY,
  key_id          text NOT NULL REFERENCES node_key (key_id),
  name            text NOT NULL,
  blender_version text NOT NULL,
  build_hash      text NOT NULL,
  device          text NOT NULL,
  device_name     text NOT NULL,
  denoise         text NOT NULL,
  registered_at   bigint NOT NULL,
  seen_at         bigint NOT NULL
);
CREATE INDEX worker_by_seen ON worker (seen_at);

-- Work in rows: one engine for frames and for the server's own work. A row is
-- work still to be done; finished work leaves.
CREATE TABLE lease (
  lease_id   text PRIMARY KEY,
  queue      text NOT NULL,
  subject    text NOT NULL,
  item       bigint NOT NULL,
  state      text NOT NULL CHECK (state IN ('waiting', 'held')),
  due_at     bigint NOT NULL,
  attempt    bigint NOT NULL DEFAULT 0, -- the fence: raised by every claim
  failures   bigint NOT NULL DEFAULT 0, -- tries that failed or lapsed
  holder     text NOT NULL DEFAULT '',
  lapses_at  bigint NOT NULL DEFAULT 0,
  progress   bigint NOT NULL DEFAULT 0, -- parts in a thousand
  last_code  text NOT NULL DEFAULT '',
  last_error text NOT NULL DEFAULT '',
  UNIQUE (queue, subject, item)
);
CREATE INDEX lease_waiting ON lease (queue, due_at, subject, item) WHERE state = 'waiting';
CREATE INDEX lease_waiting_of ON lease (queue, subject, item) WHERE state = 'waiting';
CREATE INDEX lease_held ON lease (lapses_at) WHERE state = 'held';
CREATE INDEX lease_by_holder ON lease (holder) WHERE state = 'held';

-- +goose Down
DROP TABLE lease;
DROP TABLE worker;
DROP TABLE receipt;
DROP TABLE frame;
DROP TABLE job;
DROP TABLE quote;
DROP TABLE upload;
DROP TABLE ledger_posting;
DROP TABLE ledger_transaction;
DROP TABLE wallet;
DROP TABLE node_key;
DROP TABLE agent_key;
DROP TABLE account_key;
DROP TABLE session;
DROP TABLE sign_in_link;
DROP TABLE person;
DROP TABLE workspace;
