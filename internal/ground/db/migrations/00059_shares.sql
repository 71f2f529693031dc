-- Public pages of jobs, each opened by a secret link.

-- +goose Up

CREATE TABLE share (
  job_id       text PRIMARY KEY REFERENCES job (job_id),
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  token_sha256 text NOT NULL UNIQUE,
  download     bigint NOT NULL, -- 1: visitors may download the files
  proof        bigint NOT NULL, -- 1: the page has the proof of the job, with its price
  created_at   bigint NOT NULL,
  expires_at   bigint NOT NULL,
  views        bigint NOT NULL,
  viewed_at    bigint NOT NULL, -- the last view; 0: never
  row_sum      text NOT NULL
);
CREATE INDEX share_by_workspace ON share (workspace_id, created_at);

-- +goose Down
DROP TABLE share;
