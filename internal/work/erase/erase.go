// Package erase removes what is personal of a workspace: names, addresses and files.
//
// What always holds: the rows go in one transaction, and the files after it. A crash in
// between leaves files that no row names; the next run or the sweep removes them. The
// ledger, the ids, states, numbers, prices and times of jobs, and the hashes in the log of
// receipts stay, so the audit finds money and log as before.
//
// Each package erases its own rows; this one puts them in order. Start reading at
// Workspace.
package erase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/idempotency"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/alert"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/job"
	"svc.example/internal/work/movie"
	"svc.example/internal/work/notice"
	"svc.example/internal/work/oauth"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/recheck"
	"svc.example/internal/work/result"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/share"
	"svc.example/internal/work/testmode"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/webhook"
)

// Plan is what an operator reads before a workspace is erased.
type Plan struct {
	People         int
	AvailableCents int64
	ErasedAt       time.Time // zero when it is not erased yet
}

// Check reads whether a workspace may be erased. Errors: workspace_not_found,
// jobs_not_ended, money_reserved.
func Check(ctx context.Context, tx *db.Tx, workspaceID string) (p Plan, err error) {
	w, emails, err := identity.WorkspaceOf(ctx, tx, workspaceID)
	if err != nil {
		return p, err
	}
	if err := job.AllEnded(ctx, tx, workspaceID); err != nil {
		return p, err
	}
	b, err := wallet.Get(ctx, tx, workspaceID)
	if err != nil {
		return p, err
	}
	if b.ReservedCents != 0 {
		return p, fault.New(fault.MoneyReserved, "%s of %s are reserved.", numbers.Dollars(b.ReservedCents), workspaceID)
	}
	return Plan{People: len(emails), AvailableCents: b.AvailableCents, ErasedAt: db.Time(w.ErasedAt)}, nil
}

// Files are the blobs of an erased workspace, to be removed after the commit.
type Files struct {
	keys     []string
	prefixes []string
}

// Workspace erases the rows of a workspace. Repeating it is safe: it erases what is left.
// Errors: those of Check.
func Workspace(ctx context.Context, tx *db.Tx, workspaceID string) (f Files, err error) {
	if _, err := tx.WorkspaceLock(ctx, workspaceID); err != nil && !db.IsNotFound(err) {
		return f, fmt.Errorf("lock workspace: %w", err)
	}
	// First, because it locks the uploads: a job that starts meanwhile is seen by Check, or
	// finds its upload removed.
	if f.keys, err = intake.Erase(ctx, tx, workspaceID); err != nil {
		return f, err
	}
	if _, err := Check(ctx, tx, workspaceID); err != nil {
		return f, err
	}
	people, err := identity.Members(ctx, tx, workspaceID)
	if err != nil {
		return f, err
	}
	for _, erase := range []func(context.Context, *db.Tx, string) error{
		quote.Erase, preview.Erase, frames.Erase, dispatch.Erase, requireNoTags, webhook.Erase, idempotency.Erase, payment.Erase, freeze.Erase, operator.Erase, oauth.Erase, alert.Erase, invoice.Erase, share.Erase, notice.Erase, reuse.Erase, recheck.Erase, identity.Erase, testmode.End,
	} {
		if err := erase(ctx, tx, workspaceID); err != nil {
			return f, err
		}
	}
	if err := movie.Erase(ctx, tx, workspaceID); err != nil { // while its jobs are known
		return f, err
	}
	jobs, err := job.Erase(ctx, tx, workspaceID)
	if err != nil {
		return f, err
	}
	for _, p := range people { // those who are in no other workspace are erased now
		if err := errors.Join(job.Forget(ctx, tx, p.PersonID), payment.Forget(ctx, tx, p.PersonID)); err != nil {
			return f, err
		}
	}
	for _, j := range jobs {
		f.prefixes = append(f.prefixes, "frames/"+j.JobID+"/", result.OverviewsOf(j.JobID))
		if j.ArtifactKey != "" {
			f.keys = append(f.keys, j.ArtifactKey)
		}
	}
	return f, nil
}

// requireNoTags takes away the tags that a workspace requires of its workers: operators name
// customers by them.
func requireNoTags(ctx context.Context, tx *db.Tx, workspaceID string) error {
	w, _, err := identity.WorkspaceOf(ctx, tx, workspaceID)
	if err != nil || w.Tags == "" {
		return err
	}
	if err := identity.SetTags(ctx, tx, workspaceID, nil); err != nil {
		return err
	}
	return dispatch.RequireTags(ctx, tx, workspaceID, nil)
}

// Remove deletes the files. What one failure leaves, the next run or the sweep deletes.
func (f Files) Remove(ctx context.Context, blobs blob.Store) (err error) {
	for _, key := range f.keys {
		err = errors.Join(err, blobs.Delete(ctx, key))
	}
	for _, prefix := range f.prefixes {
		err = errors.Join(err, blobs.List(ctx, prefix, func(key string, _ time.Time) error { return blobs.Delete(ctx, key) }))
	}
	return err
}

// Propose makes the act that erases a workspace. The act's files are in files, to be removed
// after the commit. Errors: those of Check.
func Propose(ctx context.Context, tx *db.Tx, workspaceID string, files *Files) (operator.Act, Plan, error) {
	plan, err := Check(ctx, tx, workspaceID)
	return operator.Act{What: plan.words(workspaceID), WorkspaceID: workspaceID, Do: func(ctx context.Context, tx *db.Tx) (err error) {
		*files, err = Workspace(ctx, tx, workspaceID)
		return err
	}}, plan, err
}

// words say what is erased, what stays, and what becomes of money.
func (p Plan) words(workspaceID string) string {
	if !p.ErasedAt.IsZero() {
		return fmt.Sprintf("erase what is left of %s, which was erased at %s", workspaceID, p.ErasedAt.Format(time.DateTime))
	}
	what := fmt.Sprintf("permanently erase %s with its people (%d), their sign-ins, keys and webhooks, the names and files of its uploads and jobs, its logs, and the text of its receipts. "+
		"The ledger is kept, and so are the ids, states, prices and times of its jobs, the hashes of its files, the ids and first characters of its keys, and the leaves of the receipt log. "+
		"Anyone who kept a receipt can still verify it", workspaceID, p.People)
	if p.AvailableCents > 0 {
		what += fmt.Sprintf(". Pay back the %s in its wallet first: afterwards nobody can spend it", numbers.Dollars(p.AvailableCents))
	}
	return what
}

// After is what an operator reads of a workspace that was erased at now.
func (p Plan) After(workspaceID string, now time.Time) operator.Erased {
	e := operator.Erased{WorkspaceID: workspaceID, ErasedAt: p.ErasedAt, ErasedBefore: !p.ErasedAt.IsZero(), AvailableCents: p.AvailableCents}
	if !e.ErasedBefore {
		e.ErasedAt = now
	}
	return e
}
