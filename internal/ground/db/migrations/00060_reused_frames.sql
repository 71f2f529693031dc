-- Frames that a job takes over from an earlier job of its workspace, because they are the same
-- pictures. The rows' checksums leave empty columns out.

-- +goose Up
-- The keys of a completed job's frames, for as long as its ZIP is kept.
CREATE TABLE content_key (
  job_id       text PRIMARY KEY REFERENCES job (job_id),
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  keys         text NOT NULL, -- lines of frames with their keys, as package reuse writes them
  created_at   bigint NOT NULL,
  row_sum      text NOT NULL
);
CREATE INDEX content_key_by_workspace ON content_key (workspace_id, job_id);
ALTER TABLE quote ADD COLUMN reused text NOT NULL DEFAULT ''; -- JSON of package reuse; '' where nobody asked
ALTER TABLE quote ADD COLUMN reused_cents bigint NOT NULL DEFAULT 0; -- of price_cents, what those frames need not be paid
ALTER TABLE job ADD COLUMN frames_reused bigint NOT NULL DEFAULT 0; -- accepted frames that were taken over
ALTER TABLE frame ADD COLUMN origin text NOT NULL DEFAULT ''; -- the job from which it was taken over; '' for a rendered one
CREATE INDEX frame_by_origin ON frame (origin) WHERE origin <> '';

-- +goose Down
DROP INDEX frame_by_origin;
ALTER TABLE frame DROP COLUMN origin;
ALTER TABLE job DROP COLUMN frames_reused;
ALTER TABLE quote DROP COLUMN reused_cents;
ALTER TABLE quote DROP COLUMN reused;
DROP TABLE content_key;
