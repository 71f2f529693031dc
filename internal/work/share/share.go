// Package share makes public links to the frames of one job.
//
// What always holds: a job has at most one link, and a workspace at most Shares.Most. A link
// shows its own job and nothing else of the workspace. Its token has 256 random bits and is
// stored only as its SHA-256; the call that makes it returns it, and no other call does. A link
// that was ended, replaced or has expired is not found from the next request on.
//
// Where the workspace allows it, visitors comment on frames. A link shows the comments that came
// by it and no others; the workspace sees those of all links of a job. Text of visitors is plain
// text: pages escape it.
//
// The pages behind links read the job itself from job, watch and overview. Start reading at
// Shares.Make and Shares.Open; comment.go has the comments.
package share

import (
	"context"
	"fmt"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
)

// How long a link lasts.
const (
	UsualLife   = 30 * 24 * time.Hour
	LongestLife = 365 * 24 * time.Hour
)

// UsualMost is how many links a workspace has unless the operator says otherwise.
const UsualMost = 200

// Shares makes and opens links. It is safe for concurrent use.
type Shares struct {
	DB    *db.DB
	Links links.Links
	// Most is how many links of a workspace work at once. 0 switches sharing off: no link is
	// made, and none opens.
	Most int
	// Comments is how many comments a job has at most. 0 switches comments off: links take none
	// and show none.
	Comments int
	// Pause is the shortest time between two mails to a person about comments.
	Pause time.Duration
}

// Share is a job's link as its workspace sees it.
type Share struct {
	JobID        string     `json:"job_id"`
	Filename     string     `json:"filename" doc:"The file that the job rendered."`
	ShareURL     *string    `json:"share_url" format:"uri" doc:"The page. It is shown only in the answer that makes the link; null elsewhere."`
	Download     bool       `json:"download" doc:"Visitors may download the frames at full size, and the ZIP."`
	Proof        bool       `json:"proof" doc:"The page has the proof of the job, which shows its price."`
	Comments     bool       `json:"comments" doc:"Visitors may comment on frames."`
	OpenComments int64      `json:"open_comments" minimum:"0" doc:"How many comments on the job, from this link or an earlier one, are not done."`
	CreatedAt    time.Time  `json:"created_at"`
	ExpiresAt    time.Time  `json:"expires_at" doc:"The link ends then."`
	Views        int64      `json:"views" minimum:"0" doc:"How often the page was opened."`
	LastViewedAt *time.Time `json:"last_viewed_at" doc:"Null before the first view."`
}

// Wish is what a link should allow.
type Wish struct {
	Download, Proof, Comments bool
	// Life is how long it lasts; 0 means UsualLife.
	Life time.Duration
}

// Make makes the link of a job, in place of the one that it had. Its address is in the result
// and cannot be read again. Errors: insufficient_scope, render_not_found, invalid_request,
// share_limit_reached.
func (s *Shares) Make(ctx context.Context, tx *db.Tx, who identity.Principal, jobID string, w Wish) (Share, error) {
	if err := who.Require(identity.ScopeSpend); err != nil {
		return Share{}, err
	}
	if w.Life == 0 {
		w.Life = UsualLife
	}
	if w.Life < 0 || w.Life > LongestLife {
		return Share{}, fault.Field("body.expires_at", "must be in the future, and at most %d days from now", int(LongestLife.Hours())/24)
	}
	if err := s.takes(w.Comments); err != nil {
		return Share{}, err
	}
	// The lock keeps the count until the commit.
	if err := identity.LockWorkspace(ctx, tx, who.WorkspaceID); err != nil {
		return Share{}, err
	}
	of, err := job.Find(ctx, tx, who.WorkspaceID, jobID)
	if err != nil {
		return Share{}, err
	}
	if err := s.makeRoom(ctx, tx, who.WorkspaceID, jobID); err != nil {
		return Share{}, err
	}
	token, err := identity.NewSecret("")
	if err != nil {
		return Share{}, err
	}
	row := query.Share{
		JobID: jobID, WorkspaceID: who.WorkspaceID, TokenSha256: identity.Hash(token), Download: number(w.Download), Proof: number(w.Proof),
		CreatedAt: tx.Now, ExpiresAt: tx.Now + w.Life.Microseconds(), Comments: number(w.Comments),
	}
	row.RowSum = rows.Of(row)
	err = tx.ShareCreate(ctx, query.ShareCreateParams(row))
	var comments int64
	if err == nil {
		comments, err = tx.CommentsOpenOfJob(ctx, jobID)
	}
	if err != nil {
		return Share{}, fmt.Errorf("make a share link: %w", err)
	}
	made := shown(row, of.Filename, comments)
	made.ShareURL = new(s.Links.SharePage(token))
	return made, nil
}

// makeRoom removes the link that the job has, and those that have expired, and counts the rest.
func (s *Shares) makeRoom(ctx context.Context, tx *db.Tx, workspaceID, jobID string) error {
	_, err := tx.ShareDelete(ctx, jobID)
	if err == nil {
		err = tx.SharesOver(ctx, query.SharesOverParams{WorkspaceID: workspaceID, Now: tx.Now})
	}
	var others []query.SharesOfRow
	if err == nil {
		others, err = tx.SharesOf(ctx, query.SharesOfParams{WorkspaceID: workspaceID, Now: tx.Now})
	}
	switch {
	case err != nil:
		return fmt.Errorf("count share links: %w", err)
	case s.Most <= 0:
		return fault.New(fault.ShareLimitReached, "Sharing is switched off on this service.")
	case len(others) >= s.Most:
		return fault.New(fault.ShareLimitReached, "The workspace has %d share links, which is the maximum.", len(others))
	}
	return nil
}

// Of reads the link of a job. Errors: render_not_found, share_not_found.
func (s *Shares) Of(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (Share, error) {
	of, err := job.Find(ctx, tx, workspaceID, jobID)
	if err != nil {
		return Share{}, err
	}
	row, err := tx.ShareOfJob(ctx, jobID)
	if db.IsNotFound(err) || (err == nil && row.ExpiresAt <= tx.Now) {
		return Share{}, fault.New(fault.ShareNotFound, "Job %s is not shared.", jobID).WithAction("Share the job first.")
	}
	var comments int64
	if err == nil {
		comments, err = tx.CommentsOpenOfJob(ctx, jobID)
	}
	if err != nil {
		return Share{}, fmt.Errorf("read the share link of %s: %w", jobID, err)
	}
	return shown(row, of.Filename, comments), nil
}

// List lists the links of a workspace that work, the newest first: at most Most, so there are
// no pages.
func (s *Shares) List(ctx context.Context, tx *db.Tx, workspaceID string) ([]Share, error) {
	found, err := tx.SharesOf(ctx, query.SharesOfParams{WorkspaceID: workspaceID, Now: tx.Now})
	if err != nil {
		return nil, fmt.Errorf("list share links: %w", err)
	}
	all := make([]Share, len(found))
	for i, f := range found {
		all[i] = shown(f.Share, f.Filename, f.OpenComments)
	}
	return all, nil
}

// End ends the link of a job at once. Errors: insufficient_scope, render_not_found,
// share_not_found.
func (s *Shares) End(ctx context.Context, tx *db.Tx, who identity.Principal, jobID string) error {
	if err := who.Require(identity.ScopeSpend); err != nil {
		return err
	}
	if _, err := s.Of(ctx, tx, who.WorkspaceID, jobID); err != nil {
		return err
	}
	if _, err := tx.ShareDelete(ctx, jobID); err != nil {
		return fmt.Errorf("end the share link of %s: %w", jobID, err)
	}
	return nil
}

// Opened is what a link opens.
type Opened struct {
	WorkspaceID, JobID string
	Download, Proof    bool
	Comments           bool
	ExpiresAt          time.Time
	// By is the name of the workspace; "" if it is an e-mail address, which is nobody else's
	// business.
	By string

	token string
}

// Open reads what a link opens. Error: share_not_found, the same for every token that opens
// nothing.
func (s *Shares) Open(ctx context.Context, token string) (o Opened, err error) {
	err = s.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) error {
		row, err := tx.ShareByToken(ctx, query.ShareByTokenParams{TokenSha256: identity.Hash(token), Now: tx.Now})
		if db.IsNotFound(err) || (err == nil && s.Most <= 0) {
			return fault.New(fault.ShareNotFound, "This link does not work: it has ended, or its address is incomplete.")
		}
		if err != nil {
			return fmt.Errorf("read a share link: %w", err)
		}
		o = Opened{
			WorkspaceID: row.Share.WorkspaceID, JobID: row.Share.JobID, Download: row.Share.Download == 1, Proof: row.Share.Proof == 1,
			Comments: row.Share.Comments == 1 && s.Comments > 0, ExpiresAt: db.Time(row.Share.ExpiresAt), token: row.Share.TokenSha256,
		}
		if !strings.Contains(row.Name, "@") {
			o.By = row.Name
		}
		return nil
	})
	return o, err
}

// Viewed counts a view of the page.
func (s *Shares) Viewed(ctx context.Context, o Opened) error {
	return s.DB.Write(ctx, func(tx *db.Tx) error {
		if err := tx.ShareViewed(ctx, query.ShareViewedParams{Now: tx.Now, TokenSha256: o.token}); err != nil {
			return fmt.Errorf("count a view: %w", err)
		}
		return nil
	})
}

// shown is a row as its workspace sees it.
func shown(row query.Share, filename string, openComments int64) Share {
	return Share{
		JobID: row.JobID, Filename: filename, Download: row.Download == 1, Proof: row.Proof == 1, Comments: row.Comments == 1, OpenComments: openComments,
		CreatedAt: db.Time(row.CreatedAt), ExpiresAt: db.Time(row.ExpiresAt), Views: row.Views, LastViewedAt: db.OptionalTime(row.ViewedAt),
	}
}

func number(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// Erase removes the links of a workspace and the comments on its jobs: links first, since a
// comment that is being written holds the lock of its link.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	err := tx.SharesErase(ctx, workspaceID)
	if err == nil {
		err = tx.CommentsErase(ctx, workspaceID)
	}
	if err != nil {
		return fmt.Errorf("remove share links: %w", err)
	}
	return nil
}

// rows carry checksums: what a link opens cannot be derived from anything else. Views change
// without it.
var rows = rowsum.Table[query.Share]{Name: "share", Key: 1, Except: []string{"Views", "ViewedAt"}, Later: []string{"Comments"}}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{rows, commentRows}

// Audit reports links and comments that are not as they were written, and those that would show
// the job of another workspace. An error means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	if err := rows.Audit(ctx, tx, breach, func(r query.Share) error {
		if (r.ViewedAt == 0) != (r.Views == 0) || r.Views < 0 {
			breach("the views of a share link are counted", r.JobID, "%d views, the last at %d", r.Views, r.ViewedAt)
		}
		return nil
	}); err != nil {
		return err
	}
	foreign, err := tx.AuditShares(ctx)
	if err != nil {
		return fmt.Errorf("audit share links: %w", err)
	}
	for _, jobID := range foreign {
		breach("a share link belongs to the workspace of its job", jobID, "there is no such job, or it belongs to another one")
	}
	return auditComments(ctx, tx, breach)
}
