-- name: ShareOfJob :one
SELECT * FROM share WHERE job_id = @job_id;

-- name: ShareByToken :one
-- A link that has ended is not found.
SELECT sqlc.embed(share), workspace.name FROM share JOIN workspace ON workspace.workspace_id = share.workspace_id
WHERE share.token_sha256 = @token_sha256 AND share.expires_at > @now;

-- name: SharesOf :many
-- The newest first.
SELECT sqlc.embed(share), job.filename,
  (SELECT count(*) FROM share_comment WHERE share_comment.job_id = share.job_id AND share_comment.done_at = 0) AS open_comments
FROM share JOIN job ON job.job_id = share.job_id
WHERE share.workspace_id = @workspace_id AND share.expires_at > @now ORDER BY share.created_at DESC, share.job_id DESC;

-- name: ShareCreate :exec
INSERT INTO share (job_id, workspace_id, token_sha256, download, proof, created_at, expires_at, views, viewed_at, row_sum, comments)
VALUES (@job_id, @workspace_id, @token_sha256, @download, @proof, @created_at, @expires_at, @views, @viewed_at, @row_sum, @comments);

-- name: ShareLock :one
-- Locked, so that a comment neither comes after the end of the link nor goes past the bound.
UPDATE share SET comments = comments WHERE token_sha256 = @token_sha256 AND expires_at > @now RETURNING *;

-- name: ShareSetComments :one
UPDATE share SET comments = @comments WHERE job_id = @job_id RETURNING *;

-- name: ShareViewed :exec
UPDATE share SET views = views + 1, viewed_at = @now WHERE token_sha256 = @token_sha256;

-- name: ShareDelete :execrows
DELETE FROM share WHERE job_id = @job_id;

-- name: SharesOver :exec
-- Removes the links of a workspace that have ended.
DELETE FROM share WHERE workspace_id = @workspace_id AND expires_at <= @now;

-- name: SharesErase :exec
DELETE FROM share WHERE workspace_id = @workspace_id;

-- name: AuditShares :many
-- Links without a job of their workspace.
SELECT share.job_id FROM share LEFT JOIN job ON job.job_id = share.job_id AND job.workspace_id = share.workspace_id
WHERE job.job_id IS NULL ORDER BY share.job_id LIMIT 100;

-- name: CommentAdd :exec
INSERT INTO share_comment (comment_id, workspace_id, job_id, link, frame, author, body, created_at, done_at, row_sum)
VALUES (@comment_id, @workspace_id, @job_id, @link, @frame, @author, @body, @created_at, @done_at, @row_sum);

-- name: CommentsOfJobCount :one
SELECT count(*) FROM share_comment WHERE job_id = @job_id;

-- name: CommentsOpenOfJob :one
SELECT count(*) FROM share_comment WHERE job_id = @job_id AND done_at = 0;

-- name: CommentsOpen :one
-- How many comments of a workspace are open, up to a bound.
SELECT count(*) FROM (SELECT 1 FROM share_comment WHERE workspace_id = @workspace_id AND done_at = 0 LIMIT CAST(@max AS bigint)) AS few;

-- name: CommentsOfFrame :many
-- What a link shows of a frame, the newest first.
SELECT * FROM share_comment WHERE job_id = @job_id AND link = @link AND frame = @frame ORDER BY comment_id DESC LIMIT CAST(@max AS bigint);

-- name: CommentedFrames :many
SELECT frame, count(*) AS comments FROM share_comment WHERE job_id = @job_id AND link = @link GROUP BY frame ORDER BY frame;

-- name: CommentsOfJob :many
-- The newest first.
SELECT sqlc.embed(share_comment), job.filename FROM share_comment JOIN job ON job.job_id = share_comment.job_id
WHERE share_comment.job_id = @job_id AND share_comment.workspace_id = @workspace_id AND share_comment.comment_id < @before
ORDER BY share_comment.comment_id DESC LIMIT CAST(@max AS bigint);

-- name: CommentsOfJobNewer :one
-- The comment after which the page of newer ones begins that ends where a page begins; no row
-- where that page is the first.
SELECT comment_id FROM share_comment WHERE job_id = @job_id AND workspace_id = @workspace_id AND comment_id >= @before
ORDER BY comment_id LIMIT 1 OFFSET CAST(@max AS bigint);

-- name: CommentsOpenOf :many
-- The open comments of a workspace, the newest first.
SELECT sqlc.embed(share_comment), job.filename FROM share_comment JOIN job ON job.job_id = share_comment.job_id
WHERE share_comment.workspace_id = @workspace_id AND share_comment.done_at = 0 AND share_comment.comment_id < @before
ORDER BY share_comment.comment_id DESC LIMIT CAST(@max AS bigint);

-- name: CommentsOpenOfNewer :one
-- As CommentsOfJobNewer.
SELECT comment_id FROM share_comment WHERE workspace_id = @workspace_id AND done_at = 0 AND comment_id >= @before
ORDER BY comment_id LIMIT 1 OFFSET CAST(@max AS bigint);

-- name: CommentsOfWorkspace :many
-- All comments, the newest first.
SELECT sqlc.embed(share_comment), job.filename FROM share_comment JOIN job ON job.job_id = share_comment.job_id
WHERE share_comment.workspace_id = @workspace_id AND share_comment.comment_id < @before
ORDER BY share_comment.comment_id DESC LIMIT CAST(@max AS bigint);

-- name: CommentSetDone :one
UPDATE share_comment SET done_at = @done_at WHERE comment_id = @comment_id AND job_id = @job_id AND workspace_id = @workspace_id RETURNING *;

-- name: CommentDelete :execrows
DELETE FROM share_comment WHERE comment_id = @comment_id AND job_id = @job_id AND workspace_id = @workspace_id;

-- name: CommentsOfJobDelete :execrows
DELETE FROM share_comment WHERE job_id = @job_id AND workspace_id = @workspace_id;

-- name: CommentsErase :exec
DELETE FROM share_comment WHERE workspace_id = @workspace_id;

-- name: CommentsForget :execrows
-- A page of comments that were written before.
DELETE FROM share_comment WHERE comment_id IN (SELECT c.comment_id FROM share_comment c WHERE c.created_at < CAST(@before AS bigint) LIMIT CAST(@max AS bigint));

-- name: AuditComments :many
-- Comments without a job of their workspace.
SELECT share_comment.comment_id FROM share_comment LEFT JOIN job ON job.job_id = share_comment.job_id AND job.workspace_id = share_comment.workspace_id
WHERE job.job_id IS NULL ORDER BY share_comment.comment_id LIMIT 100;
