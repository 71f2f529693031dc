-- +goose Up

-- Bytes that a workspace has sent, kept once within it, never across workspaces:
-- a shared row would tell one workspace what another has.
CREATE TABLE content (
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  sha256       text NOT NULL,
  size_bytes   bigint NOT NULL,
  blob_key     text NOT NULL UNIQUE,
  created_at   bigint NOT NULL,
  PRIMARY KEY (workspace_id, sha256)
);

-- What a job renders: the files of an upload, until the upload is removed.
CREATE TABLE project (
  upload_id    text PRIMARY KEY REFERENCES upload (upload_id),
  workspace_id text NOT NULL,
  manifest     text NOT NULL, -- JSON
  created_at   bigint NOT NULL
);

-- Which content a project is made of. Content that no row names is removed.
CREATE TABLE project_content (
  upload_id    text NOT NULL REFERENCES project (upload_id),
  workspace_id text NOT NULL,
  sha256       text NOT NULL,
  PRIMARY KEY (upload_id, sha256),
  FOREIGN KEY (workspace_id, sha256) REFERENCES content (workspace_id, sha256)
);
CREATE INDEX project_content_used ON project_content (workspace_id, sha256);

-- Each kept upload becomes a project of one file. Of uploads with the same bytes
-- the oldest one's blob stays; the sweep removes the others.
INSERT INTO content (workspace_id, sha256, size_bytes, blob_key, created_at)
SELECT workspace_id, sha256, size_bytes, blob_key, created_at FROM upload
WHERE upload_id IN (SELECT min(upload_id) FROM upload WHERE removed_at = 0 GROUP BY workspace_id, sha256);

INSERT INTO project (upload_id, workspace_id, manifest, created_at)
SELECT upload_id, workspace_id,
  '{"main":"' || name || '","files":[{"path":"' || name || '","sha256":"' || sha256 || '","size_bytes":' || CAST(size_bytes AS text) || ',"parts":["' || sha256 || '"]}]}',
  created_at
FROM (
  SELECT upload_id, workspace_id, sha256, size_bytes, created_at, replace(replace(filename, '\', '\\'), '"', '\"') AS name
  FROM upload WHERE removed_at = 0
) AS kept;

INSERT INTO project_content (upload_id, workspace_id, sha256)
SELECT upload_id, workspace_id, sha256 FROM upload WHERE removed_at = 0;

ALTER TABLE job DROP COLUMN input_key;
ALTER TABLE upload DROP COLUMN blob_key;

-- +goose Down
ALTER TABLE upload ADD COLUMN blob_key text NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN input_key text NOT NULL DEFAULT '';
UPDATE upload SET blob_key = COALESCE(
  (SELECT blob_key FROM content WHERE content.workspace_id = upload.workspace_id AND content.sha256 = upload.sha256), '');
UPDATE job SET input_key = COALESCE((SELECT blob_key FROM upload WHERE upload.upload_id = job.upload_id), '');
DROP TABLE project_content;
DROP TABLE project;
DROP TABLE content;
