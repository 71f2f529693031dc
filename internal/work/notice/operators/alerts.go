package operators

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/reuse"
)

// Alert is a kind of trouble.
type Alert struct {
	Name  string
	After time.Duration // for how long it must last before it is told
	Title string        // what is wrong, without figures
	// Runbook is its page and heading of the guide, "runbook#svcnoworker"; the heading is
	// that of the Prometheus alert.
	Runbook string

	ofHost bool // each machine has its own
	// says tells the trouble with its figures; "" where there is none.
	says func(facts) string
}

// Thresholds of trouble; those of deploy/prometheus/svc.rules.yml.
const (
	lowDisk  = 5e9             // bytes
	lateHook = 5 * time.Minute // after a delivery was due
	keyNear  = 24 * time.Hour  // before the signing key ends
	oldAudit = 8 * 24 * time.Hour
)

// All lists the alerts. To add one: add it here with the fact that it needs, its line to
// docs/observe.md, and its paragraph to docs/runbook.md.
func All() []Alert {
	return []Alert{
		{Name: "no_worker", After: 5 * time.Minute, Title: "Frames wait, and no worker is there", Runbook: "runbook#svcnoworker", says: func(f facts) string {
			return when(f.ready > 0 && f.able == 0, "%s", count(f.ready, "frame waits", "frames wait"))
		}},
		{Name: "worker_unable", After: 5 * time.Minute, Title: "Workers cannot work", Runbook: "runbook-tickets#svcworkerunable", says: func(f facts) string {
			return when(f.unable > 0, "%s", count(f.unable, "worker", "workers"))
		}},
		{Name: "job_stranded", After: 15 * time.Minute, Title: "No online worker can take a job that waits", Runbook: "runbook-tickets#svcjobstranded", says: func(f facts) string {
			why := ""
			if f.untagged > 0 {
				why = fmt.Sprintf("; %s for a worker with the tags that its workspace requires", count(f.untagged, "waits", "wait"))
			}
			return when(f.stranded > 0, "%s%s", count(f.stranded, "job waits", "jobs wait"), why)
		}},
		{Name: "files_down", After: 2 * time.Minute, Title: "Files cannot be stored", Runbook: "runbook#svcblobsdown", ofHost: true, says: func(f facts) string {
			return when(f.files != nil, "the store does not take a file")
		}},
		{Name: "disk_low", After: 5 * time.Minute, Title: "The disk is nearly full", Runbook: "runbook#svcdisklow", ofHost: true, says: func(f facts) string {
			return when(f.free < lowDisk, "the data folder has %.1f GB left", float64(f.free)/1e9)
		}},
		{Name: "audit_breach", Title: "The audit found something wrong", Runbook: "runbook#svcauditbreach", says: func(f facts) string {
			return when(f.breaches > 0, "%s", count(f.breaches, "breach", "breaches"))
		}},
		{Name: "audit_old", After: time.Hour, Title: "The audit does not run", Runbook: "runbook-tickets#svcauditold", says: func(f facts) string {
			return when(!f.audited.IsZero() && f.now.Sub(f.audited) > oldAudit, "the last audit ended on %s", f.audited.Format(time.DateOnly))
		}},
		{Name: "signing_key", After: 10 * time.Minute, Title: "Receipts can soon no longer be signed", Runbook: "runbook#svcsigningkeyends", says: func(f facts) string {
			return when(!f.keyEnd.IsZero() && f.keyEnd.Sub(f.now) < keyNear, "the signing key ends on %s", f.keyEnd.UTC().Format("2006-01-02 15:04 UTC"))
		}},
		{Name: "dead_letters", After: 10 * time.Minute, Title: "Work of the service failed too often", Runbook: "runbook-tickets#svcdeadletters", says: func(f facts) string {
			return when(f.dead > 0, "%s", count(f.dead, "dead letter", "dead letters"))
		}},
		{Name: "webhooks_late", After: 5 * time.Minute, Title: "Webhooks are late", Runbook: "runbook-tickets#svcwebhookslate", says: func(f facts) string {
			return when(f.late > lateHook, "one is due for %s", f.late.Round(time.Minute))
		}},
		{Name: "reuse_off", After: 5 * time.Minute, Title: "Frames of a kind of worker are no longer reused", Runbook: "runbook-tickets#svcreuseoff", says: func(f facts) string {
			return when(f.reuseOff > 0, "%s, of which a frame showed something else", count(f.reuseOff, "kind", "kinds"))
		}},
	}
}

// when is a text if something holds, otherwise "".
func when(holds bool, format string, args ...any) string {
	if !holds {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// count is a number with its noun.
func count(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Names are those of All.
func Names() (names []string) {
	for _, a := range All() {
		names = append(names, a.Name)
	}
	return names
}

// Lookup returns the alert of a name, with or without its host; the zero value for
// one that no longer exists.
func Lookup(name string) Alert {
	name, _, _ = strings.Cut(name, "@")
	all := All()
	if i := slices.IndexFunc(all, func(a Alert) bool { return a.Name == name }); i >= 0 {
		return all[i]
	}
	return Alert{}
}

// facts are what alerts are about.
type facts struct {
	now                                                               time.Time
	host                                                              string
	ready, able, unable, stranded, untagged, dead, breaches, reuseOff int64
	late                                                              time.Duration
	audited, keyEnd                                                   time.Time // zero for never
	free                                                              int64     // bytes
	files                                                             error
}

// facts reads them.
func (w *Watch) facts(ctx context.Context, tx *db.Tx) (f facts, err error) {
	f.now, f.host, f.files = tx.Time(), w.Host, w.Files()
	if f.free, err = w.Free(); err != nil {
		return f, err
	}
	frames, err := tx.MetricsFrames(ctx)
	if err != nil {
		return f, err
	}
	f.ready = frames.Ready
	online, err := dispatch.CountOnline(ctx, tx)
	if err != nil {
		return f, err
	}
	for state, n := range online {
		if state == dispatch.WorkerUnable {
			f.unable = n
		} else {
			f.able += n
		}
	}
	if f.stranded, f.untagged, err = dispatch.CountStranded(ctx, tx); err != nil {
		return f, err
	}
	if f.dead, err = tx.DeadLetterCount(ctx); err != nil {
		return f, err
	}
	hooks, err := tx.MetricsWebhooks(ctx)
	if err != nil {
		return f, err
	}
	if hooks.Due != 0 {
		f.late = max(0, f.now.Sub(db.Time(hooks.Due)))
	}
	audit, err := tx.AuditRunLast(ctx)
	switch {
	case err == nil:
		f.breaches, f.audited = audit.Breaches, db.Time(audit.EndedAt)
	case !db.IsNotFound(err):
		return f, err
	}
	if end, found, err := w.Keys.Until(ctx, tx); err != nil {
		return f, err
	} else if found {
		f.keyEnd = end
	}
	off, err := reuse.Off(ctx, tx)
	f.reuseOff = int64(len(off))
	return f, err
}
