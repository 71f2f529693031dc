-- Comments of visitors on frames of a shared job.

-- +goose Up
ALTER TABLE share ADD COLUMN comments bigint NOT NULL DEFAULT 0; -- 1: visitors may comment on frames

CREATE TABLE share_comment (
  comment_id   text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  job_id       text NOT NULL REFERENCES job (job_id),
  link         text NOT NULL, -- token_sha256 of the link that it came by, which shows it
  frame        bigint NOT NULL,
  author       text NOT NULL, -- what the visitor typed as a name; '' = nothing
  body         text NOT NULL,
  created_at   bigint NOT NULL,
  done_at      bigint NOT NULL, -- 0 = it is open
  row_sum      text NOT NULL
);
CREATE INDEX share_comment_of_job ON share_comment (job_id, comment_id);
CREATE INDEX share_comment_of_workspace ON share_comment (workspace_id, comment_id);
CREATE INDEX share_comment_open ON share_comment (workspace_id, comment_id) WHERE done_at = 0;
CREATE INDEX share_comment_by_time ON share_comment (created_at);

-- +goose Down
DROP TABLE share_comment;
ALTER TABLE share DROP COLUMN comments;
