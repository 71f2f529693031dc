-- name: ContentKeep :one
-- The key under which the workspace keeps these bytes: this one, or an older one.
-- The row is locked either way, so that it is not removed before a project uses it.
INSERT INTO content (workspace_id, sha256, size_bytes, blob_key, created_at, row_sum)
VALUES (@workspace_id, @sha256, @size_bytes, @blob_key, @created_at, @row_sum)
ON CONFLICT (workspace_id, sha256) DO UPDATE SET size_bytes = content.size_bytes
RETURNING blob_key;

-- name: ContentOfProject :one
SELECT c.* FROM project_content p JOIN content c ON c.workspace_id = p.workspace_id AND c.sha256 = p.sha256
WHERE p.upload_id = @upload_id AND p.sha256 = @sha256;

-- name: ContentLock :many
-- In one order, so that two that remove projects do not wait for each other.
SELECT c.* FROM content c
WHERE (c.workspace_id, c.sha256) IN (SELECT p.workspace_id, p.sha256 FROM project_content p WHERE p.upload_id = @upload_id)
ORDER BY c.sha256 FOR UPDATE;

-- name: ContentsRemoveUnused :many
-- Removes those of some contents that no project has, in one statement: a project may have
-- ten thousand. hashes is a JSON array.
DELETE FROM content WHERE content.workspace_id = @workspace_id
  AND content.sha256 = ANY (ARRAY(SELECT json_array_elements_text(CAST(CAST(@hashes AS text) AS json))))
  AND NOT EXISTS (SELECT 1 FROM project_content p WHERE p.workspace_id = content.workspace_id AND p.sha256 = content.sha256)
RETURNING blob_key;

-- name: ContentKey :one
SELECT blob_key FROM content WHERE workspace_id = @workspace_id AND sha256 = @sha256;

-- name: ContentUnstarted :one
-- The bytes of a workspace that it does not pay for: no job uses them, or only jobs that
-- failed or were cancelled, which cost nothing. Each counts 4 KiB more than its size, for its
-- row and the rest of its last block on a disk. loose is how many of them no project has. For
-- each content it looks for one use that counts, and stops there. OFFSET 0 keeps PostgreSQL
-- from joining all uses of the workspace instead. BETWEEN, which means =, keeps it from
-- reading the table from its start where a few contents have most of the uses.
SELECT CAST(coalesce(sum(c.size_bytes + 4096), 0) AS bigint) AS bytes,
  CAST(coalesce(sum(CASE WHEN NOT EXISTS (
    SELECT 1 FROM project_content p WHERE p.workspace_id = c.workspace_id AND p.sha256 BETWEEN c.sha256 AND c.sha256 LIMIT 1 OFFSET 0) THEN 1 ELSE 0 END), 0) AS bigint) AS loose
FROM content c
WHERE c.workspace_id = @workspace_id AND NOT EXISTS (
  SELECT 1 FROM project_content p
  WHERE p.workspace_id = c.workspace_id AND p.sha256 BETWEEN c.sha256 AND c.sha256 AND EXISTS (
    SELECT 1 FROM job j WHERE j.upload_id = p.upload_id AND j.status NOT IN ('failed', 'cancelled') LIMIT 1 OFFSET 0)
  LIMIT 1 OFFSET 0);

-- name: ContentRenew :one
-- A part that no project has, sent again.
UPDATE content SET created_at = @now WHERE content.workspace_id = @workspace_id AND content.sha256 = @sha256 AND content.created_at < CAST(@now AS bigint)
  AND NOT EXISTS (SELECT 1 FROM project_content p WHERE p.workspace_id = content.workspace_id AND p.sha256 = content.sha256)
RETURNING *;

-- name: ContentLoose :many
-- Parts that no project has, of all workspaces or of one. They are locked, so that
-- none is uploaded again or used before it is removed.
SELECT * FROM content c
WHERE c.created_at < CAST(@before AS bigint) AND (c.workspace_id = CAST(@workspace_id AS text) OR CAST(@workspace_id AS text) = '')
  AND NOT EXISTS (SELECT 1 FROM project_content p WHERE p.workspace_id = c.workspace_id AND p.sha256 = c.sha256)
ORDER BY c.workspace_id, c.sha256 LIMIT 500 FOR UPDATE;

-- name: ContentsOf :many
-- What a workspace has of some content; hashes is a JSON array.
SELECT c.* FROM content c
WHERE c.workspace_id = @workspace_id AND c.sha256 IN (SELECT h.value FROM json_array_elements_text(CAST(CAST(@hashes AS text) AS json)) AS h);

-- name: ContentHold :many
-- The same, locked in one order, so that they are not removed before a project uses
-- them.
SELECT c.* FROM content c
WHERE c.workspace_id = @workspace_id AND c.sha256 IN (SELECT h.value FROM json_array_elements_text(CAST(CAST(@hashes AS text) AS json)) AS h)
ORDER BY c.sha256 FOR UPDATE;

-- name: ContentSample :many
-- Some keys, of the index.
SELECT blob_key FROM content ORDER BY blob_key DESC LIMIT @most;

-- name: ContentKeys :many
SELECT blob_key FROM content;

-- name: ProjectCreate :exec
INSERT INTO project (upload_id, workspace_id, manifest, created_at) VALUES (@upload_id, @workspace_id, @manifest, @created_at);

-- name: ProjectUse :exec
-- One row a content; hashes is a JSON array.
INSERT INTO project_content (upload_id, workspace_id, sha256)
SELECT CAST(@upload_id AS text), CAST(@workspace_id AS text), h.value FROM json_array_elements_text(CAST(CAST(@hashes AS text) AS json)) AS h;

-- name: ProjectGet :one
SELECT * FROM project WHERE upload_id = @upload_id;

-- name: ProjectRemoveUses :exec
DELETE FROM project_content WHERE upload_id = @upload_id;

-- name: ProjectRemove :exec
DELETE FROM project WHERE upload_id = @upload_id;

-- name: AuditProjectless :many
-- Uploads that are kept and have no project, or are removed and have one.
SELECT u.upload_id FROM upload u LEFT JOIN project p ON p.upload_id = u.upload_id
WHERE (u.removed_at = 0) <> (p.upload_id IS NOT NULL);

-- name: AuditUnusedContent :many
-- Content that no project has and that is larger than a part: parts wait for their project.
SELECT c.workspace_id, c.sha256 FROM content c
WHERE c.size_bytes > CAST(@most AS bigint) AND NOT EXISTS (SELECT 1 FROM project_content p WHERE p.workspace_id = c.workspace_id AND p.sha256 = c.sha256);

-- name: AuditProjects :many
-- A page of projects, each with its upload; '' and 0 where there is none. A manifest may
-- list ten thousand files. The bound is repeated in the join: otherwise a merge would
-- read everything before the page.
SELECT sqlc.embed(p), CAST(coalesce(u.workspace_id, '') AS text) AS owner, CAST(coalesce(u.filename, '') AS text) AS filename,
  CAST(coalesce(u.sha256, '') AS text) AS sha256, CAST(coalesce(u.size_bytes, 0) AS bigint) AS size_bytes, CAST(coalesce(u.created_at, 0) AS bigint) AS uploaded_at
FROM project p LEFT JOIN upload u ON u.upload_id = p.upload_id AND u.upload_id > @after
WHERE p.upload_id > @after ORDER BY p.upload_id LIMIT 50;

-- name: AuditUses :many
-- The content of a page of projects, and rows that belong to no project of it. Of content
-- that is missing the size is -1.
SELECT c.upload_id, c.workspace_id, c.sha256, CAST(coalesce(k.size_bytes, -1) AS bigint) AS size_bytes, CAST(coalesce(k.created_at, 0) AS bigint) AS kept_at
FROM project_content c LEFT JOIN content k ON k.workspace_id = c.workspace_id AND k.sha256 = c.sha256
WHERE c.upload_id > @after AND c.upload_id <= @last ORDER BY c.upload_id, c.sha256;

-- name: AuditUseCount :one
SELECT count(*) FROM project_content;

-- name: AuditContent :many
SELECT * FROM content WHERE (workspace_id, sha256) > (CAST(@workspace_id AS text), CAST(@sha256 AS text)) ORDER BY workspace_id, sha256 LIMIT 500;

