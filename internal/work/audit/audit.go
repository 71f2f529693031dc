// Package audit checks the whole store against the promises of the service.
//
// What always holds: it only reads; rows are read in one transaction, so a service
// that runs meanwhile causes no false breach; a breach never stops the audit, only a
// store that cannot be read does.
//
// Each package checks its own tables in a function Audit. This package calls them all
// and checks what lies between them: receipts against the log, and rows against files.
// Nothing is repaired; that is left to the operator. Start reading at Audit, then
// rows in this file, files.go and log.go.
package audit

import (
	"context"
	"errors"
	"fmt"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/idempotency"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/ground/seal"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/alert"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/job"
	"svc.example/internal/work/notice"
	"svc.example/internal/work/oauth"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/recheck"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/savedfilter"
	"svc.example/internal/work/share"
	"svc.example/internal/work/split"
	"svc.example/internal/work/testmode"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/webhook"
)

// Breach is a promise of the service that the store does not keep.
type Breach struct {
	Rule    string `json:"rule"`   // the promise
	Subject string `json:"thing"`  // the id of the row that breaks it
	Detail  string `json:"detail"` // what the audit found
}

// Audited counts what an audit checked and lists what it found.
type Audited struct {
	Jobs       int      // in any state
	Wallets    int      // with their balances and entries
	Receipts   int      // of completed jobs
	Benchmarks int      // benchmark receipts that count on the leaderboard
	Leaves     int      // of the receipt log
	Breaches   []Breach // in the order of the checks; empty for a sound store
}

// Store is what an audit reads.
type Store struct {
	DB    *db.DB
	Blobs blob.Store
	Ring  *signing.Ring // signs a checkpoint for the check of the log
	Seal  *seal.Keys    // opens the secrets of webhooks
	// Book has the terms that rows are judged by, each by its own version; nil means
	// contract.Published.
	Book contract.Book
	// World says that this is the store of a test world, whose clock its workspace can
	// move.
	World bool
	// Progress, if not nil, is called with how far a part of the audit is.
	Progress func(part string, done, total int64)
}

// Audit checks money, jobs, frames, leases, receipts, the log, webhooks and files over the
// whole store. It reads rows in one transaction, page by page, and files after it, so a job
// that ends or an artifact that expires in between does not count as a breach. It ends on
// any damage and with ctx. An error means that the store cannot be read; breaches are in
// the result. The service may run meanwhile. The audit reads every kept artifact once, so
// it takes as long as the disk needs for them. What it holds in memory does not grow with
// the store, but for one bit for each leaf of the log.
func Audit(ctx context.Context, s Store) (Audited, error) {
	if s.Book == nil {
		s.Book = contract.Published()
	}
	a := &auditor{Store: s}
	if err := s.DB.Read(ctx, func(tx *db.Tx) error { return a.rows(ctx, tx) }); err != nil {
		return Audited{}, fmt.Errorf("audit: %w", err)
	}
	if err := a.artifacts(ctx, s.DB, s.Blobs); err != nil {
		return Audited{}, fmt.Errorf("audit: %w", err)
	}
	if err := a.previews(ctx, s.DB, s.Blobs); err != nil {
		return Audited{}, fmt.Errorf("audit: %w", err)
	}
	if err := a.challenges(ctx, s.DB, s.Blobs); err != nil {
		return Audited{}, fmt.Errorf("audit: %w", err)
	}
	if err := a.overviews(ctx, s.Blobs); err != nil {
		return Audited{}, fmt.Errorf("audit: %w", err)
	}
	if err := a.liveFiles(ctx, s.DB, s.Blobs); err != nil {
		return Audited{}, fmt.Errorf("audit: %w", err)
	}
	return a.Audited, nil
}

// auditor collects breaches, and what the later checks need of the earlier ones.
type auditor struct {
	Store
	Audited

	keys  []signingkey.Public // every key that ever signed: old receipts stay valid
	owned bitmap              // leaves that belong to a receipt
	sizes query.AuditSizesRow // what there is to read, for the progress
}

// progress reports how far a part is.
func (a *auditor) progress(part string, done, total int64) {
	if a.Progress != nil {
		a.Progress(part, done, total)
	}
}

// mostBreaches bounds what a ruined store can take in memory.
const mostBreaches = 10_000

// breach records one broken promise. The packages that check their own tables get it as a
// function.
func (a *auditor) breach(rule, subject, format string, args ...any) {
	switch len(a.Breaches) {
	case mostBreaches:
		a.Breaches = append(a.Breaches, Breach{"an audit lists its breaches", "audit", "there are more; these are the first"})
	case mostBreaches + 1:
	default:
		a.Breaches = append(a.Breaches, Breach{rule, subject, fmt.Sprintf(format, args...)})
	}
}

// rows runs every check that needs only rows. The order matters: log counts the leaves
// that benchmarks and receipts claim, and ownerless comes after both.
func (a *auditor) rows(ctx context.Context, tx *db.Tx) (err error) {
	if a.keys, err = signing.Audit(ctx, tx, a.breach); err != nil {
		return err
	}
	if a.sizes, err = tx.AuditSizes(ctx); err != nil {
		return err
	}
	checks := []func(context.Context, *db.Tx) error{a.owners, a.webhooks, a.log, a.benchmarks, a.receipts}
	for _, check := range checks {
		if err := check(ctx, tx); err != nil {
			return err
		}
	}
	a.ownerless()
	return nil
}

// check is the audit of a package's own tables.
type check = func(context.Context, *db.Tx, func(rule, subject, format string, args ...any)) error

// byTerms is a check of rows that are judged by their version of the terms.
func (a *auditor) byTerms(audit func(context.Context, *db.Tx, contract.Book, func(rule, subject, format string, args ...any)) error) check {
	return func(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
		return audit(ctx, tx, a.Book, breach)
	}
}

// owners has each package check its own tables. A package knows best what its own rows
// promise; a check here would have to know their states.
func (a *auditor) owners(ctx context.Context, tx *db.Tx) (err error) {
	if a.Wallets, err = wallet.Audit(ctx, tx, a.breach); err != nil {
		return err
	}
	if a.Jobs, err = job.Audit(ctx, tx, a.Book, a.breach); err != nil {
		return err
	}
	for _, audit := range []check{
		a.byTerms(intake.Audit), preview.Audit, project.Audit, a.byTerms(quote.Audit), frames.Audit, dispatch.Audit, payment.Audit, invoice.Audit, identity.Audit, lease.Audit, idempotency.Audit, freeze.Audit, operator.Audit, oauth.Audit, alert.Audit, share.Audit, split.Audit, notice.Audit, reuse.Audit, recheck.Audit, savedfilter.Audit, testmode.Audit, a.clock,
		func(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
			return rowsum.Audit(ctx, tx, breach)
		},
	} {
		if err := audit(ctx, tx, a.breach); err != nil {
			return err
		}
	}
	return nil
}

// clock reports a real store whose clock is moved: only test worlds have such a clock.
func (a *auditor) clock(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	by, err := tx.ClockMoved(ctx)
	if err == nil && by != 0 && !a.World {
		breach("only test worlds have a clock that moves", "moved_clock", "the clock is moved by %d microseconds", by)
	}
	return err
}

// webhooks are not among the owners, because their secrets open with the keys only.
func (a *auditor) webhooks(ctx context.Context, tx *db.Tx) error {
	return webhook.Audit(ctx, tx, a.Seal, a.breach)
}

// benchmarks comes after log: the leaderboard claims leaves of it.
func (a *auditor) benchmarks(ctx context.Context, tx *db.Tx) (err error) {
	var unread error
	leaf := func(index int64, entry receipt.Entry) bool {
		claimed, err := a.claim(ctx, tx, index, entry)
		unread = errors.Join(unread, err)
		return claimed
	}
	a.Benchmarks, err = leaderboard.Audit(ctx, tx, leaderboard.Auditor{Keys: a.keys, Leaf: leaf, Breach: a.breach})
	return errors.Join(err, unread)
}
