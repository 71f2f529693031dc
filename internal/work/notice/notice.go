// Package notice remembers whom to tell by mail how a job ended, and of comments on shared jobs.
//
// What always holds: only people with a verified address are told, and only
// while they want it. A job's end writes one row for each of them, in the transaction that ends
// the job; the row goes when its mail is sent. A person gets at most one mail in Pause: jobs
// that end meanwhile come together in the next one.
//
// Package mailer writes and sends the mails. Start reading at Add.
package notice

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/rowsum"
)

// Queue is the lease queue of people who are to be told. The subject is the person.
const Queue = "job_notice"

// MaxTries bounds the tries of a mail: with the runner's pauses, about an hour. The next end of
// a job begins again, with all that was not sent.
const MaxTries = 60

// UsualPause is the shortest time between two mails to a person, unless the operator sets
// another.
const UsualPause = 10 * time.Minute

// gather is how long a mail waits for other jobs that end at the same time.
const gather = 15 * time.Second

// Verified records that the address of a person is verified. From then on they are told, until
// they switch it off. Repeating it changes nothing.
func Verified(ctx context.Context, tx *db.Tx, personID string) error {
	row := query.NoticeReader{PersonID: personID, VerifiedAt: tx.Now}
	row.RowSum = rows.Of(row)
	if _, err := tx.NoticeReaderAdd(ctx, query.NoticeReaderAddParams(row)); err != nil {
		return fmt.Errorf("record a verified address: %w", err)
	}
	return nil
}

// Add has the people of a workspace told of a job, in the transaction that ends it. pause is
// the shortest time between two mails to a person.
func Add(ctx context.Context, tx *db.Tx, workspaceID, jobID string, pause time.Duration) error {
	readers, err := tx.NoticeReadersOf(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("read whom to tell of %s: %w", jobID, err)
	}
	for _, r := range readers {
		if err := tx.NoticeAdd(ctx, query.NoticeAddParams{PersonID: r.PersonID, JobID: jobID, CreatedAt: tx.Now}); err != nil {
			return fmt.Errorf("tell of %s: %w", jobID, err)
		}
		due := max(tx.Now+gather.Microseconds(), r.SentAt+pause.Microseconds())
		if err := lease.AddOrAdvance(ctx, tx, Queue, r.PersonID, 0, db.Time(due)); err != nil {
			return err
		}
	}
	return nil
}

// AddComment has the people of a workspace told of a comment on a job, in the transaction that
// adds it. pause is as in Add.
func AddComment(ctx context.Context, tx *db.Tx, workspaceID, jobID string, pause time.Duration) error {
	readers, err := tx.NoticeReadersOf(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("read whom to tell of a comment on %s: %w", jobID, err)
	}
	for _, r := range readers {
		// First the lease, whose lock orders this and the end of a mail.
		due := max(tx.Now+gather.Microseconds(), r.SentAt+pause.Microseconds())
		if err := lease.AddOrAdvance(ctx, tx, Queue, r.PersonID, 0, db.Time(due)); err != nil {
			return err
		}
		if err := tx.CommentNoticeAdd(ctx, query.CommentNoticeAddParams{PersonID: r.PersonID, JobID: jobID, CreatedAt: tx.Now}); err != nil {
			return fmt.Errorf("tell of a comment on %s: %w", jobID, err)
		}
	}
	return nil
}

// Wants reports whether an address is verified, and whether its person is told.
func Wants(ctx context.Context, tx *db.Tx, email string) (verified, told bool, err error) {
	row, err := tx.NoticeReaderByEmail(ctx, email)
	if db.IsNotFound(err) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("read whether to tell a person: %w", err)
	}
	return true, row.OffAt == 0, nil
}

// Set switches the mails to a person on or off. Off also drops those that wait. A person whose
// address is not verified gets none either way, so nothing changes.
func Set(ctx context.Context, tx *db.Tx, personID string, on bool) error {
	off := tx.Now
	if on {
		off = 0
	}
	row, err := tx.NoticeReaderSet(ctx, query.NoticeReaderSetParams{PersonID: personID, OffAt: off})
	if db.IsNotFound(err) {
		return nil
	}
	if _, err = rows.Changed(ctx, tx, row, err); err == nil && !on {
		err = drop(ctx, tx, personID)
	}
	if err != nil {
		return fmt.Errorf("change whether to tell %s: %w", personID, err)
	}
	return nil
}

func drop(ctx context.Context, tx *db.Tx, personID string) error {
	if err := tx.NoticesDelete(ctx, personID); err != nil {
		return err
	}
	if err := tx.CommentNoticesDelete(ctx, personID); err != nil {
		return err
	}
	return lease.Drop(ctx, tx, Queue, personID)
}

// Ended is a job that ended.
type Ended struct {
	JobID, WorkspaceID string
	Status             string // of package job
}

// Commented is a job on which visitors wrote comments.
type Commented struct {
	JobID, WorkspaceID string
	Comments           int64 // since the last mail, those that are still open
	Frame              int   // that the newest open one is about
	Since              time.Time

	told int64
}

// Waiting is what a person is to be told.
type Waiting struct {
	PersonID, Email string
	Off             bool    // the person has switched the mails off since
	Jobs            []Ended // in the order in which they ended
	Commented       []Commented

	told []Commented // also those whose comments are all done or deleted
}

// Empty reports whether there is nothing to tell.
func (w Waiting) Empty() bool { return len(w.Jobs)+len(w.Commented) == 0 }

// Read reads what a person is to be told.
func Read(ctx context.Context, tx *db.Tx, personID string) (w Waiting, err error) {
	found, err := tx.NoticesOf(ctx, personID)
	if err != nil {
		return w, fmt.Errorf("read what to tell %s: %w", personID, err)
	}
	w.PersonID = personID
	for _, f := range found {
		w.Email, w.Off, w.Jobs = f.Email, f.OffAt != 0, append(w.Jobs, Ended{f.JobID, f.WorkspaceID, f.Status})
	}
	comments, err := tx.CommentNoticesOf(ctx, personID)
	if err != nil {
		return w, fmt.Errorf("read of which comments to tell %s: %w", personID, err)
	}
	for _, c := range comments {
		one := Commented{c.JobID, c.WorkspaceID, min(c.Comments, c.Open), int(c.Frame), db.Time(c.CreatedAt), c.Comments}
		if w.Email, w.Off, w.told = c.Email, c.OffAt != 0, append(w.told, one); one.Comments > 0 {
			w.Commented = append(w.Commented, one)
		}
	}
	return w, nil
}

// Sent records that a person was told of jobs, and finishes the lease. What has ended since
// then waits for the next mail.
func Sent(ctx context.Context, tx *db.Tx, l lease.Lease, w Waiting, pause time.Duration) error {
	// The lock of the lease orders this and the end of a job.
	if err := lease.Finish(ctx, tx, l.Ref()); err != nil {
		return err
	}
	for _, ended := range w.Jobs {
		if err := tx.NoticeDelete(ctx, query.NoticeDeleteParams{PersonID: w.PersonID, JobID: ended.JobID}); err != nil {
			return fmt.Errorf("forget a notice: %w", err)
		}
	}
	for _, c := range w.told {
		if err := tx.CommentNoticeTold(ctx, query.CommentNoticeToldParams{PersonID: w.PersonID, JobID: c.JobID, Comments: c.told}); err != nil {
			return fmt.Errorf("forget a notice: %w", err)
		}
	}
	if err := tx.CommentNoticesEnd(ctx, w.PersonID); err != nil {
		return fmt.Errorf("forget notices: %w", err)
	}
	if !w.Empty() {
		if err := tx.NoticeReaderSent(ctx, query.NoticeReaderSentParams{PersonID: w.PersonID, Now: tx.Now}); err != nil {
			return fmt.Errorf("record a mail: %w", err)
		}
	}
	left, err := Read(ctx, tx, w.PersonID)
	if err != nil || len(left.Jobs)+len(left.told) == 0 {
		return err
	}
	return lease.AddOrAdvance(ctx, tx, Queue, w.PersonID, 0, tx.Time().Add(pause))
}

// Forget drops the mails to a person about the jobs of a workspace, which they have left.
func Forget(ctx context.Context, tx *db.Tx, workspaceID, personID string) error {
	if err := tx.NoticesForget(ctx, query.NoticesForgetParams{PersonID: personID, WorkspaceID: workspaceID}); err != nil {
		return fmt.Errorf("forget notices: %w", err)
	}
	if err := tx.CommentNoticesForget(ctx, query.CommentNoticesForgetParams{PersonID: personID, WorkspaceID: workspaceID}); err != nil {
		return fmt.Errorf("forget notices: %w", err)
	}
	return nil
}

// Erase removes the mails about the jobs of a workspace. Call it while its jobs are there.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if err := tx.NoticesErase(ctx, workspaceID); err != nil {
		return fmt.Errorf("erase notices: %w", err)
	}
	if err := tx.CommentNoticesErase(ctx, workspaceID); err != nil {
		return fmt.Errorf("erase notices: %w", err)
	}
	return nil
}

// EraseReader removes what is here of a person. Call it before the person is removed.
func EraseReader(ctx context.Context, tx *db.Tx, personID string) error {
	if err := lease.Erase(ctx, tx, Queue, personID); err != nil {
		return err
	}
	for _, erase := range []func(context.Context, string) error{tx.NoticesDelete, tx.CommentNoticesDelete, tx.NoticeReaderErase} {
		if err := erase(ctx, personID); err != nil {
			return fmt.Errorf("erase notices: %w", err)
		}
	}
	return nil
}

// rows carry checksums: what people chose cannot be derived from anything else.
var rows = rowsum.Table[query.NoticeReader]{Name: "notice_reader", Key: 1, Except: []string{"SentAt"}}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{rows}

// Audit reports choices that are not as they were written, mails that nothing will send, and
// those about other people's jobs. An error means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	if err := rows.Audit(ctx, tx, breach, nil); err != nil {
		return err
	}
	found, err := tx.AuditNotices(ctx)
	if err != nil {
		return fmt.Errorf("audit notices: %w", err)
	}
	for _, f := range found {
		if f.Stray != 0 {
			breach("a mail is about a job of its person's workspace", f.PersonID, "%s is not", f.JobID)
		} else {
			breach("a mail that waits will be sent", f.PersonID, "that about %s has no lease", f.JobID)
		}
	}
	comments, err := tx.AuditCommentNotices(ctx)
	if err != nil {
		return fmt.Errorf("audit notices: %w", err)
	}
	for _, c := range comments {
		breach("a mail is about comments on a job of its person's workspace", c.PersonID, "%s has none, or is not", c.JobID)
	}
	return nil
}
