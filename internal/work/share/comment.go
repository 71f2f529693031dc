package share

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/notice"
)

// Bounds of comments.
const (
	MaxAuthorCharacters  = 60
	MaxCommentCharacters = 1000
	// UsualComments is how many comments a job has unless the operator says otherwise, and
	// MostComments how many the operator can allow.
	UsualComments = 500
	MostComments  = 1000
	// CommentLife is how long a comment is kept.
	CommentLife = 365 * 24 * time.Hour
	// mostShown bounds the comments on a frame that a link shows.
	mostShown = 50
	// MostCounted bounds how far CountOpen counts.
	MostCounted = 100
)

// Comment is what a visitor wrote about a frame, as the job's workspace sees it.
type Comment struct {
	CommentID string     `json:"comment_id" doc:"Begins with CMT-."`
	JobID     string     `json:"job_id"`
	Frame     int        `json:"frame"`
	Author    string     `json:"author" doc:"The name that the visitor typed. Nobody has verified it. Empty if they typed none."`
	Text      string     `json:"text" doc:"What the visitor wrote: plain text, of at most 1000 characters."`
	CreatedAt time.Time  `json:"created_at"`
	DoneAt    *time.Time `json:"done_at" doc:"When somebody of the workspace marked it as done; null while it is open."`
	// Filename is that of the job. Lists have it.
	Filename string `json:"-"`
}

// Said is what a visitor sends.
type Said struct {
	Frame        int
	Author, Text string
}

// Add adds a visitor's comment to a frame of the job that a link opens. The caller has made sure
// that visitors can see the frame. Errors: share_not_found, invalid_request, rate_limited,
// share_limit_reached.
func (s *Shares) Add(ctx context.Context, o Opened, said Said) error {
	row := query.ShareComment{
		WorkspaceID: o.WorkspaceID, JobID: o.JobID, Link: o.token, Frame: int64(said.Frame),
		Author: strings.ReplaceAll(textOf(said.Author), "\n", " "), Body: textOf(said.Text),
	}
	switch {
	case row.Body == "":
		return fault.Field("comment", "must not be empty")
	case utf8.RuneCountInString(row.Body) > MaxCommentCharacters:
		return fault.Field("comment", "must not be longer than %d characters", MaxCommentCharacters)
	case utf8.RuneCountInString(row.Author) > MaxAuthorCharacters:
		return fault.Field("name", "must not be longer than %d characters", MaxAuthorCharacters)
	}
	if !o.Comments {
		return noComments()
	}
	if err := ratelimit.Share(ctx, ratelimit.Comments); err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *db.Tx) error {
		link, err := tx.ShareLock(ctx, query.ShareLockParams{TokenSha256: o.token, Now: tx.Now})
		if db.IsNotFound(err) || (err == nil && link.Comments == 0) {
			return noComments()
		}
		var before int64
		if err == nil {
			before, err = tx.CommentsOfJobCount(ctx, o.JobID)
		}
		if err == nil && before >= int64(s.Comments) {
			return fault.New(fault.ShareLimitReached, "This job has %d comments, which is the maximum.", before).WithAction("Ask the person who sent you the link to delete some.")
		}
		row.CommentID, row.CreatedAt = id.New(id.Comment), tx.Now
		row.RowSum = commentRows.Of(row)
		if err == nil {
			err = tx.CommentAdd(ctx, query.CommentAddParams(row))
		}
		if err == nil {
			err = notice.AddComment(ctx, tx, row.WorkspaceID, row.JobID, s.Pause)
		}
		if err != nil {
			return fmt.Errorf("add a comment: %w", err)
		}
		return nil
	})
}

// noComments refuses what the link does not allow.
func noComments() error {
	return fault.New(fault.ShareNotFound, "This link takes no comments.").WithAction("Ask the person who sent you the link.")
}

// textOf is the form in which a visitor's text is kept: composed (NFC), without characters that
// have no picture, and with one empty line at most between others.
func textOf(typed string) string {
	typed = strings.ReplaceAll(strings.ToValidUTF8(typed, ""), "\r\n", "\n")
	typed = norm.NFC.String(strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case r == '\r':
			return '\n'
		case plaintext.Hidden(r):
			return -1
		}
		return r
	}, typed))
	lines, empty := []string{}, 0
	for _, line := range strings.Split(typed, "\n") {
		line = strings.TrimSpace(line)
		if empty++; line != "" {
			empty = 0
		}
		if empty < 2 {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// Shown are the comments that a link shows.
type Shown struct {
	// OfFrame are the last ones on one frame, in the order in which they came.
	OfFrame []Comment
	// Earlier is how many others that frame has.
	Earlier int
	// Frames are all that have comments.
	Frames []Commented
}

// Commented is a frame that has comments.
type Commented struct{ Frame, Comments int }

// Shown reads what a link shows of a frame: nothing where it takes no comments.
func (s *Shares) Shown(ctx context.Context, o Opened, frame int) (shown Shown, err error) {
	if !o.Comments {
		return shown, nil
	}
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		shown = Shown{}
		rows, err := tx.CommentsOfFrame(ctx, query.CommentsOfFrameParams{JobID: o.JobID, Link: o.token, Frame: int64(frame), Max: mostShown})
		if err != nil {
			return err
		}
		for _, row := range slices.Backward(rows) {
			shown.OfFrame = append(shown.OfFrame, commentOf(row, ""))
		}
		frames, err := tx.CommentedFrames(ctx, query.CommentedFramesParams{JobID: o.JobID, Link: o.token})
		for _, f := range frames {
			shown.Frames = append(shown.Frames, Commented{int(f.Frame), int(f.Comments)})
			if f.Frame == int64(frame) {
				shown.Earlier = int(f.Comments) - len(shown.OfFrame)
			}
		}
		return err
	})
	if err != nil {
		return shown, fmt.Errorf("read the comments of a link: %w", err)
	}
	return shown, nil
}

// Allow has the link of a job take comments, or no longer. Those that it has stay. Errors:
// insufficient_scope, render_not_found, share_not_found, invalid_request.
func (s *Shares) Allow(ctx context.Context, tx *db.Tx, who identity.Principal, jobID string, comments bool) (Share, error) {
	if err := who.Require(identity.ScopeSpend); err != nil {
		return Share{}, err
	}
	if err := s.takes(comments); err != nil {
		return Share{}, err
	}
	if _, err := s.Of(ctx, tx, who.WorkspaceID, jobID); err != nil {
		return Share{}, err
	}
	row, err := tx.ShareSetComments(ctx, query.ShareSetCommentsParams{JobID: jobID, Comments: number(comments)})
	if _, err := rows.Changed(ctx, tx, row, err); err != nil {
		return Share{}, fmt.Errorf("change whether the link of %s takes comments: %w", jobID, err)
	}
	return s.Of(ctx, tx, who.WorkspaceID, jobID)
}

// takes refuses a link with comments where the service takes none. Error: invalid_request.
func (s *Shares) takes(comments bool) error {
	if comments && s.Comments <= 0 {
		return fault.Field("body.comments", "must be false: comments are switched off on this service")
	}
	return nil
}

// OfJob lists the comments on a job, the newest first, after the one with the id before; "" for
// the first page. Error: render_not_found.
func OfJob(ctx context.Context, tx *db.Tx, workspaceID, jobID, before string, most int) (all []Comment, err error) {
	if _, err := job.Find(ctx, tx, workspaceID, jobID); err != nil {
		return nil, err
	}
	found, err := tx.CommentsOfJob(ctx, query.CommentsOfJobParams{WorkspaceID: workspaceID, JobID: jobID, Before: from(before), Max: int64(most)})
	if err != nil {
		return nil, fmt.Errorf("list the comments on %s: %w", jobID, err)
	}
	all = make([]Comment, 0, len(found))
	for _, f := range found {
		all = append(all, commentOf(f.ShareComment, f.Filename))
	}
	return all, nil
}

// Open is OfJob for the open comments on all jobs of a workspace.
func Open(ctx context.Context, tx *db.Tx, workspaceID, before string, most int) (all []Comment, err error) {
	found, err := tx.CommentsOpenOf(ctx, query.CommentsOpenOfParams{WorkspaceID: workspaceID, Before: from(before), Max: int64(most)})
	if err != nil {
		return nil, fmt.Errorf("list open comments: %w", err)
	}
	for _, f := range found {
		all = append(all, commentOf(f.ShareComment, f.Filename))
	}
	return all, nil
}

// All is OfJob for all comments on all jobs of a workspace.
func All(ctx context.Context, tx *db.Tx, workspaceID, before string, most int) (all []Comment, err error) {
	found, err := tx.CommentsOfWorkspace(ctx, query.CommentsOfWorkspaceParams{WorkspaceID: workspaceID, Before: from(before), Max: int64(most)})
	if err != nil {
		return nil, fmt.Errorf("list comments: %w", err)
	}
	for _, f := range found {
		all = append(all, commentOf(f.ShareComment, f.Filename))
	}
	return all, nil
}

// Newer returns the before of the page that ends where a page of OfJob begins, or for jobID ""
// a page of Open; "" where that is the first page, or this one is.
func Newer(ctx context.Context, tx *db.Tx, workspaceID, jobID, before string, most int) (newer string, err error) {
	switch {
	case before == "":
		return "", nil
	case jobID == "":
		newer, err = db.OrEmpty(tx.CommentsOpenOfNewer(ctx, query.CommentsOpenOfNewerParams{WorkspaceID: workspaceID, Before: before, Max: int64(most)}))
	default:
		newer, err = db.OrEmpty(tx.CommentsOfJobNewer(ctx, query.CommentsOfJobNewerParams{WorkspaceID: workspaceID, JobID: jobID, Before: before, Max: int64(most)}))
	}
	if err != nil {
		return "", fmt.Errorf("find the page of newer comments: %w", err)
	}
	return newer, nil
}

// from is where a page begins.
func from(before string) string {
	if before == "" {
		return id.Behind(id.Comment)
	}
	return before
}

// CountOpen counts the open comments of a workspace, and stops at MostCounted.
func CountOpen(ctx context.Context, tx *db.Tx, workspaceID string) (int, error) {
	n, err := tx.CommentsOpen(ctx, query.CommentsOpenParams{WorkspaceID: workspaceID, Max: MostCounted})
	if err != nil {
		return 0, fmt.Errorf("count open comments: %w", err)
	}
	return int(n), nil
}

// SetDone marks a comment on a job as done, or as open again. One that is gone stays so. Error:
// insufficient_scope.
func SetDone(ctx context.Context, tx *db.Tx, who identity.Principal, jobID, commentID string, done bool) error {
	if err := who.Require(identity.ScopeSpend); err != nil {
		return err
	}
	at := int64(0)
	if done {
		at = tx.Now
	}
	row, err := tx.CommentSetDone(ctx, query.CommentSetDoneParams{CommentID: commentID, JobID: jobID, WorkspaceID: who.WorkspaceID, DoneAt: at})
	if _, err = commentRows.Changed(ctx, tx, row, err); err != nil {
		return fmt.Errorf("mark comment %s: %w", commentID, err)
	}
	return nil
}

// Delete deletes a comment on a job. Deleting it twice is no mistake. Error: insufficient_scope.
func Delete(ctx context.Context, tx *db.Tx, who identity.Principal, jobID, commentID string) error {
	if err := who.Require(identity.ScopeSpend); err != nil {
		return err
	}
	if _, err := tx.CommentDelete(ctx, query.CommentDeleteParams{CommentID: commentID, JobID: jobID, WorkspaceID: who.WorkspaceID}); err != nil {
		return fmt.Errorf("delete comment %s: %w", commentID, err)
	}
	return nil
}

// DeleteAll deletes all comments on a job. Error: insufficient_scope.
func DeleteAll(ctx context.Context, tx *db.Tx, who identity.Principal, jobID string) error {
	if err := who.Require(identity.ScopeSpend); err != nil {
		return err
	}
	if _, err := tx.CommentsOfJobDelete(ctx, query.CommentsOfJobDeleteParams{JobID: jobID, WorkspaceID: who.WorkspaceID}); err != nil {
		return fmt.Errorf("delete the comments on %s: %w", jobID, err)
	}
	return nil
}

// commentOf is a row as its workspace sees it.
func commentOf(row query.ShareComment, filename string) Comment {
	return Comment{
		CommentID: row.CommentID, JobID: row.JobID, Frame: int(row.Frame), Author: row.Author, Text: row.Body,
		CreatedAt: db.Time(row.CreatedAt), DoneAt: db.OptionalTime(row.DoneAt), Filename: filename,
	}
}

// Forget deletes comments that are older than CommentLife.
func Forget(ctx context.Context, d *db.DB) (int64, error) {
	n, err := d.WritePages(ctx, func(tx *db.Tx, page int64) (int64, error) {
		return tx.CommentsForget(ctx, query.CommentsForgetParams{Before: tx.Now - CommentLife.Microseconds(), Max: page})
	})
	if err != nil {
		return n, fmt.Errorf("forget comments: %w", err)
	}
	return n, nil
}

// commentRows carry checksums: what a visitor wrote cannot be derived from anything else.
var commentRows = rowsum.Table[query.ShareComment]{Name: "share_comment", Key: 1}

// auditComments is the part of Audit about comments.
func auditComments(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	if err := commentRows.Audit(ctx, tx, breach, nil); err != nil {
		return err
	}
	foreign, err := tx.AuditComments(ctx)
	if err != nil {
		return fmt.Errorf("audit comments: %w", err)
	}
	for _, commentID := range foreign {
		breach("a comment belongs to the workspace of its job", commentID, "there is no such job, or it belongs to another one")
	}
	return nil
}
