-- +goose Up

-- An upload whose id is known before its file has arrived: its owner uploads
-- the file by a link, or the service fetches it. What was wrong with the last
-- file is in fault_code and the columns after it; '' = nothing was.
CREATE TABLE awaited_upload (
  upload_id    text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  source       text NOT NULL, -- the address to fetch from; '' = sent by a link
  created_at   bigint NOT NULL,
  expires_at   bigint NOT NULL,
  fault_code   text NOT NULL DEFAULT '',
  fault_text   text NOT NULL DEFAULT '',
  fault_action text NOT NULL DEFAULT '',
  fault_detail text NOT NULL DEFAULT 'null' -- JSON
);
CREATE INDEX awaited_upload_by_end ON awaited_upload (expires_at);
CREATE INDEX awaited_upload_of_workspace ON awaited_upload (workspace_id);

-- +goose Down
DROP TABLE awaited_upload;
