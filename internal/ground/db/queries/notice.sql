-- name: NoticeReaderByEmail :one
SELECT r.* FROM notice_reader r JOIN person p ON p.person_id = r.person_id WHERE p.email = @email;

-- name: NoticeReaderAdd :execrows
INSERT INTO notice_reader (person_id, verified_at, off_at, sent_at, row_sum) VALUES (@person_id, @verified_at, @off_at, @sent_at, @row_sum)
ON CONFLICT (person_id) DO NOTHING;

-- name: NoticeReaderSet :one
UPDATE notice_reader SET off_at = @off_at WHERE person_id = @person_id RETURNING *;

-- name: NoticeReaderSent :exec
UPDATE notice_reader SET sent_at = @now WHERE person_id = @person_id;

-- name: NoticeReadersOf :many
SELECT r.person_id, r.sent_at FROM notice_reader r JOIN member m ON m.person_id = r.person_id
WHERE m.workspace_id = @workspace_id AND r.off_at = 0 ORDER BY r.person_id;

-- name: NoticeAdd :exec
INSERT INTO notice (person_id, job_id, created_at) VALUES (@person_id, @job_id, @created_at);

-- name: NoticesOf :many
SELECT n.job_id, j.status, p.email, j.workspace_id, r.off_at
FROM notice n JOIN notice_reader r ON r.person_id = n.person_id JOIN person p ON p.person_id = n.person_id JOIN job j ON j.job_id = n.job_id
WHERE n.person_id = @person_id ORDER BY n.created_at, n.job_id;

-- name: NoticeDelete :exec
DELETE FROM notice WHERE person_id = @person_id AND job_id = @job_id;

-- name: NoticesDelete :exec
DELETE FROM notice WHERE person_id = @person_id;

-- name: NoticesErase :exec
-- What people are still to be told of the jobs of a workspace.
DELETE FROM notice WHERE job_id IN (SELECT j.job_id FROM job j WHERE j.workspace_id = @workspace_id);

-- name: NoticesForget :exec
-- The same, of one person.
DELETE FROM notice WHERE person_id = @person_id AND job_id IN (SELECT j.job_id FROM job j WHERE j.workspace_id = @workspace_id);

-- name: CommentNoticeAdd :exec
INSERT INTO comment_notice (person_id, job_id, created_at, comments) VALUES (@person_id, @job_id, @created_at, 1)
ON CONFLICT (person_id, job_id) DO UPDATE SET comments = comment_notice.comments + 1;

-- name: CommentNoticesOf :many
-- With how many comments on the job are open, as some may be done or deleted since, and the frame
-- of the newest of them; 0 for none.
SELECT n.job_id, n.created_at, n.comments, p.email, j.workspace_id, r.off_at,
  CAST((SELECT count(*) FROM share_comment c WHERE c.job_id = n.job_id AND c.done_at = 0) AS bigint) AS open,
  CAST(coalesce((SELECT c.frame FROM share_comment c WHERE c.job_id = n.job_id AND c.done_at = 0 ORDER BY c.comment_id DESC LIMIT 1), 0) AS bigint) AS frame
FROM comment_notice n JOIN notice_reader r ON r.person_id = n.person_id JOIN person p ON p.person_id = n.person_id JOIN job j ON j.job_id = n.job_id
WHERE n.person_id = @person_id ORDER BY n.created_at, n.job_id;

-- name: CommentNoticeTold :exec
-- Takes off what a person was told of; others may have come since.
UPDATE comment_notice SET comments = comments - @comments WHERE person_id = @person_id AND job_id = @job_id;

-- name: CommentNoticesEnd :exec
DELETE FROM comment_notice WHERE person_id = @person_id AND comments <= 0;

-- name: CommentNoticesDelete :exec
DELETE FROM comment_notice WHERE person_id = @person_id;

-- name: CommentNoticesErase :exec
DELETE FROM comment_notice WHERE job_id IN (SELECT j.job_id FROM job j WHERE j.workspace_id = @workspace_id);

-- name: CommentNoticesForget :exec
DELETE FROM comment_notice WHERE person_id = @person_id AND job_id IN (SELECT j.job_id FROM job j WHERE j.workspace_id = @workspace_id);

-- name: AuditCommentNotices :many
-- Mails about comments on a job of a workspace that their person is not in, and those about none.
SELECT n.person_id, n.job_id FROM comment_notice n
WHERE n.comments <= 0 OR NOT EXISTS (SELECT 1 FROM job j JOIN member m ON m.workspace_id = j.workspace_id WHERE j.job_id = n.job_id AND m.person_id = n.person_id)
ORDER BY n.person_id, n.job_id LIMIT 100;

-- name: NoticeReaderErase :exec
DELETE FROM notice_reader WHERE person_id = @person_id;

-- name: AuditNotices :many
-- Mails that nothing will send, and those about a job of a workspace that their person is not in.
SELECT n.person_id, n.job_id, CAST(CASE WHEN r.person_id IS NULL OR j.job_id IS NULL THEN 1 ELSE 0 END AS bigint) AS stray
FROM notice n LEFT JOIN notice_reader r ON r.person_id = n.person_id
  LEFT JOIN job j ON j.job_id = n.job_id AND EXISTS (SELECT 1 FROM member m WHERE m.workspace_id = j.workspace_id AND m.person_id = n.person_id)
WHERE r.person_id IS NULL OR j.job_id IS NULL
  OR (NOT EXISTS (SELECT 1 FROM lease l WHERE l.queue = 'job_notice' AND l.subject = n.person_id)
    AND NOT EXISTS (SELECT 1 FROM dead_letter d WHERE d.queue = 'job_notice' AND d.subject = n.person_id))
ORDER BY n.person_id, n.job_id LIMIT 100;
