-- A free look at a scene before its price is accepted.

-- +goose Up

-- One frame of an upload, small and coarse. It is no job: no money, no receipt.
CREATE TABLE preview (
  preview_id   text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  upload_id    text NOT NULL REFERENCES upload (upload_id),
  frame        bigint NOT NULL,
  status       text NOT NULL, -- queued, rendering, ready, failed, expired
  ordinal      bigint NOT NULL, -- 1 for the first one of its workspace within a day
  created_at   bigint NOT NULL,
  begun_at     bigint NOT NULL DEFAULT 0, -- the first claim; 0 = no worker has begun it
  claimed_at   bigint NOT NULL DEFAULT 0, -- the last claim
  ended_at     bigint NOT NULL DEFAULT 0, -- when the status became ready, failed, or expired without a picture
  worker_id    text NOT NULL DEFAULT '', -- that rendered it
  device       text NOT NULL DEFAULT '',
  device_name  text NOT NULL DEFAULT '',
  blob_key     text NOT NULL DEFAULT '', -- of the JPEG; '' = there is none, or no more
  sha256       text NOT NULL DEFAULT '', -- of the JPEG
  size_bytes   bigint NOT NULL DEFAULT 0,
  width        bigint NOT NULL DEFAULT 0,
  height       bigint NOT NULL DEFAULT 0,
  finding      text NOT NULL DEFAULT '', -- what the picture shows that may be wrong
  render_us    bigint NOT NULL DEFAULT 0, -- that the picture took
  frame_low_us bigint NOT NULL DEFAULT 0, -- that a frame of the scene may take, by this picture
  frame_us     bigint NOT NULL DEFAULT 0,
  frame_high_us bigint NOT NULL DEFAULT 0,
  fault_code   text NOT NULL DEFAULT '',
  fault_text   text NOT NULL DEFAULT '',
  row_sum      text NOT NULL -- of the row's content; see package rowsum
);
CREATE INDEX preview_of_upload ON preview (upload_id, preview_id);
CREATE INDEX preview_of_workspace ON preview (workspace_id, created_at);
CREATE INDEX preview_waiting ON preview (ordinal, preview_id) WHERE status = 'queued';
CREATE INDEX preview_held ON preview (worker_id) WHERE status = 'rendering';

-- +goose Down
DELETE FROM lease WHERE queue = 'preview' OR (queue = 'expire' AND subject LIKE 'preview/%');
DROP TABLE preview;
