package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
)

// audit is svc admin audit: it checks everything that must always hold.
type audit struct {
	viewFlags
	Last bool `help:"Print what the last audit found, and check nothing now. Required with --server."`
}

// Run checks the whole store and prints each breach. Any breach exits with 1, after
// everything is printed. Dead letters are counted as a reminder and are not a
// breach. The service may run meanwhile. A signal ends it without a result.
func (c *audit) Run(k *kong.Context) error {
	if c.Last {
		return c.printLast(k)
	}
	if c.remote() {
		return terminal.WrongUsagef("--server and --profile need --last: an audit runs next to the store")
	}
	ctx, stop := terminal.UntilSignal()
	defer stop()
	const lost = "the audit has no result, and nothing was changed"
	service, err := app.OpenReading(ctx, c.config())
	if err != nil {
		return terminal.Interrupted(ctx, c.refusal(err), lost)
	}
	defer func() { _ = service.Close() }()
	began := time.Now()
	shown := &auditProgress{display: terminal.NewDisplay(k.Stderr, time.Now)}
	found, err := service.WatchedAudit(ctx, shown.move)
	shown.end()
	if err != nil {
		return terminal.Interrupted(ctx, err, lost)
	}
	if err := c.record(ctx, began, found); err != nil {
		terminal.Printf(k.Stderr, "svc: the outcome is not kept for the operators' page and the metrics: %v", err)
	}
	return c.printFound(ctx, k, service.DB, found)
}

// record keeps the outcome in the store. A store that cannot be written can still be
// audited, so a failure is no failure of the audit.
func (c *audit) record(ctx context.Context, began time.Time, found app.Audited) error {
	d, err := db.Open(ctx, db.Config{URL: c.config().DatabaseURL()})
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	run := operator.AuditRun{
		BeganAt: began, Jobs: found.Jobs, Wallets: found.Wallets, Receipts: found.Receipts, Benchmarks: found.Benchmarks, Leaves: found.Leaves, BreachCount: len(found.Breaches),
	}
	for _, b := range found.Breaches {
		run.Breaches = append(run.Breaches, operator.Breach(b))
	}
	return d.Write(ctx, func(tx *db.Tx) error { return operator.RecordAudit(ctx, tx, run) })
}

// printLast prints the outcome of the last audit. A breach exits with 1, and so does a store that
// was never audited.
func (c *audit) printLast(k *kong.Context) error {
	var last operator.LastAudited
	err := c.view("/audit", nil, &last, func(ctx context.Context, tx *db.Tx) (err error) {
		last, err = operator.LastAuditOf(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	run := last.Audit
	if run == nil {
		return errors.New("this store was not audited yet; run svc admin audit next to it")
	}
	if c.JSON {
		err = terminal.PrintJSON(k.Stdout, last)
	} else {
		for _, b := range run.Breaches {
			terminal.Printf(k.Stdout, "BREACH %s: %s: %s", b.Rule, b.Subject, b.Detail)
		}
		terminal.Printf(k.Stdout, "audited at %s: %s, %s, %s, %s, %s in the log: %s", run.EndedAt.Format(time.DateTime), terminal.CountOf(run.Jobs, "job"), terminal.CountOf(run.Wallets, "wallet"),
			terminal.CountOf(run.Receipts, "receipt"), terminal.CountOf(run.Benchmarks, "benchmark result"), terminal.Count(run.Leaves, "leaf", "leaves"), terminal.Count(run.BreachCount, "breach", "breaches"))
	}
	if err == nil && run.BreachCount > 0 {
		err = terminal.Exit(terminal.ExitFailure, fmt.Errorf("the audit found %s", terminal.Count(run.BreachCount, "breach", "breaches")))
	}
	return terminal.Told(err)
}

// printFound prints breaches and counts, and returns the exit code of a breach.
func (c *audit) printFound(ctx context.Context, k *kong.Context, d *db.DB, found app.Audited) error {
	dead, err := deadLetterCount(ctx, d)
	if err != nil {
		return err
	}
	if c.JSON {
		err = terminal.PrintJSON(k.Stdout, map[string]any{
			"ok": len(found.Breaches) == 0, "jobs": found.Jobs, "wallets": found.Wallets, "receipts": found.Receipts, "benchmarks": found.Benchmarks, "leaves": found.Leaves, "dead_letters": dead, "breaches": append([]app.Breach{}, found.Breaches...),
		})
	} else {
		for _, b := range found.Breaches {
			terminal.Printf(k.Stdout, "BREACH %s: %s: %s", b.Rule, b.Subject, b.Detail)
		}
		if dead > 0 {
			terminal.Printf(k.Stdout, "%s; see svc admin dead-letter list", terminal.CountOf(int(dead), "dead letter"))
		}
		terminal.Printf(k.Stdout, "%s, %s, %s, %s, %s in the log: %s", terminal.CountOf(found.Jobs, "job"), terminal.CountOf(found.Wallets, "wallet"), terminal.CountOf(found.Receipts, "receipt"),
			terminal.CountOf(found.Benchmarks, "benchmark result"), terminal.Count(found.Leaves, "leaf", "leaves"), breachCount(found.Breaches))
	}
	if err == nil && len(found.Breaches) > 0 {
		err = terminal.Exit(terminal.ExitFailure, fmt.Errorf("the audit found %s", breachCount(found.Breaches)))
	}
	return terminal.Told(err)
}

func breachCount(breaches []app.Breach) string {
	return terminal.Count(len(breaches), "breach", "breaches")
}

// auditProgress shows how far each part of an audit is: a bar on a terminal, otherwise a
// line now and then.
type auditProgress struct {
	display terminal.Display
	part    string
	meter   terminal.Meter // nil before the first part
}

func (p *auditProgress) move(part string, done, total int64) {
	if part != p.part {
		p.end()
		p.part, p.meter = part, p.display.Meter(part, terminal.InItems)
	}
	p.meter.Move(done, total)
}

func (p *auditProgress) end() {
	if p.meter != nil {
		p.meter.End()
	}
	p.part, p.meter = "", nil
}

// deadLetterCount returns how many dead letters all queues have.
func deadLetterCount(ctx context.Context, d *db.DB) (n int64, err error) {
	err = d.Read(ctx, func(tx *db.Tx) (err error) {
		n, err = tx.DeadLetterCount(ctx)
		return err
	})
	return n, err
}
