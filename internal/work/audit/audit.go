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
	"fmt"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/idempotency"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/ground/seal"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/project"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/signing"
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

// Audit checks money, frames, leases, receipts, the log, webhooks and files over the whole
// store. It reads rows in one transaction and files after it, so a job that ends in
// between does not count as a breach. An error means that the store cannot be read;
// breaches are in the result. The service may run meanwhile. The audit reads every kept
// artifact once, so it takes as long as the disk needs for them, and holds one entry for
// each leaf of the log in memory.
func Audit(ctx context.Context, d *db.DB, blobs blob.Store, ring *signing.Ring, sealed *seal.Keys) (Audited, error) {
	a := &auditor{ring: ring, sealed: sealed}
	if err := d.Read(ctx, func(tx *db.Tx) error { return a.rows(ctx, tx) }); err != nil {
		return Audited{}, fmt.Errorf("audit: %w", err)
	}
	for _, c := range a.completed {
		a.receipt(c)
		if err := a.artifact(ctx, blobs, c.job); err != nil {
			return Audited{}, fmt.Errorf("audit: %w", err)
		}
	}
	if err := a.liveFiles(ctx, d, blobs); err != nil {
		return Audited{}, fmt.Errorf("audit: %w", err)
	}
	// Last, because only now every receipt has claimed its leaf.
	a.ownerless()
	return a.Audited, nil
}

// auditor collects breaches, and what the later checks need of the earlier ones.
type auditor struct {
	Audited
	ring   *signing.Ring // signs a checkpoint for the check of the log
	sealed *seal.Keys    // opens the secrets of webhooks

	keys      []receipt.PublicKey       // every key that ever signed: old receipts stay valid
	leaves    []receipt.Entry           // of the log, by index
	owned     []bool                    // leaves that belong to a receipt, by index
	completed []completed               // jobs whose files are checked after the transaction
	needed    []query.AuditLiveFilesRow // files of jobs that have not ended
}

// breach records one broken promise. The packages that check their own tables get it as a
// function.
func (a *auditor) breach(rule, subject, format string, args ...any) {
	a.Breaches = append(a.Breaches, Breach{rule, subject, fmt.Sprintf(format, args...)})
}

// rows runs every check that needs only rows, and collects what the checks of files need.
// The order matters: log collects the leaves that benchmarks claims.
func (a *auditor) rows(ctx context.Context, tx *db.Tx) (err error) {
	if a.keys, err = signing.Audit(ctx, tx, a.breach); err != nil {
		return err
	}
	for _, check := range []func(context.Context, *db.Tx) error{
		a.owners, a.webhooks, a.log, a.benchmarks, a.collectCompleted,
	} {
		if err := check(ctx, tx); err != nil {
			return err
		}
	}
	a.needed, err = tx.AuditLiveFiles(ctx)
	return err
}

// owners has each package check its own tables. A package knows best what its own rows
// promise; a check here would have to know their states.
func (a *auditor) owners(ctx context.Context, tx *db.Tx) (err error) {
	if a.Wallets, err = wallet.Audit(ctx, tx, a.breach); err != nil {
		return err
	}
	if a.Jobs, err = job.Audit(ctx, tx, a.breach); err != nil {
		return err
	}
	for _, audit := range []func(context.Context, *db.Tx, func(rule, subject, format string, args ...any)) error{
		frames.Audit, dispatch.Audit, project.Audit, identity.Audit, lease.Audit, idempotency.Audit, rowsum.Audit,
	} {
		if err := audit(ctx, tx, a.breach); err != nil {
			return err
		}
	}
	return nil
}

// webhooks are not among the owners, because their secrets open with the keys only.
func (a *auditor) webhooks(ctx context.Context, tx *db.Tx) error {
	return webhook.Audit(ctx, tx, a.sealed, a.breach)
}

// benchmarks comes after log: the leaderboard claims leaves of it.
func (a *auditor) benchmarks(ctx context.Context, tx *db.Tx) (err error) {
	a.Benchmarks, err = leaderboard.Audit(ctx, tx, leaderboard.Auditor{Keys: a.keys, Leaf: a.claim, Breach: a.breach})
	return err
}
