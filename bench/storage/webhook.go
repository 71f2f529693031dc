package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"svc.example/bench/rounds"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
)

// What a round of webhooks is made of. Workspaces have as many endpoints as the
// interface allows; each endpoint is an HTTPS server of its own.
const (
	hookEndpoints = 100
	hookBacklog   = 2000 // deliveries that are due when the clock starts
	hookAtOnce    = 64   // calls that the plain client has open at once
	hookJobs      = 100  // that end one after the other while delays are measured
	hookPause     = 50 * time.Millisecond
	hookPasses    = 2 // of each round with the two slow endpoints, and as many without
	// hookNeed is the deliveries per second that a large service needs: 36,000 jobs
	// end in an hour, each delivered to ten endpoints.
	hookNeed = 100
)

// hookRows are the names of one engine's rows.
type hookRows struct{ rate, half, most, amid string }

func hookRowsOf(engine string) hookRows {
	name := "webhook/" + engine + " "
	return hookRows{
		rate: name + "deliveries a second", half: name + "delay, median", most: name + "delay, 99 %",
		amid: fmt.Sprintf("%sdelay, 99 %% of %d next to a dead one and a tarpit", name, hookEndpoints-2),
	}
}

// Webhook measures how fast a backlog is delivered, how long after the commit of a job's
// end its receivers get it, and whether a dead receiver and one that never answers delay
// the others. The baseline of the deliveries: the same bytes to the same receivers by
// net/http alone, and for each call one row of the same database updated and committed,
// which is the least that a delivery is. The baseline of the delays: the calls alone.
func Webhook(engine string) rounds.Group {
	names := hookRowsOf(engine)
	commits := "each commit is an fsync"
	if engine == "postgres" {
		commits = "scripts/with-postgres runs it with fsync=off"
	}
	paced := fmt.Sprintf("from the commit to the receiver's handler; %d jobs, one every %s, each received by %d endpoints", hookJobs, hookPause, contract.MaxWebhookEndpoints)
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: names.rate, Unit: rounds.PerSecond, Baseline: "plain net/http and a commit a call", Goal: rounds.Over(hookNeed, rounds.PerSecond), Note: fmt.Sprintf("%d that wait for %d receivers in this process; %s", hookBacklog, hookEndpoints, commits)},
			{Name: names.half, Unit: rounds.Duration, Baseline: "plain net/http", Goal: rounds.Under(0.050, rounds.Duration), Note: paced},
			{Name: names.most, Unit: rounds.Duration, Baseline: "plain net/http", Goal: rounds.Under(0.250, rounds.Duration), Note: "likewise"},
			{Name: names.amid, Unit: rounds.Duration, Baseline: "without the two", Goal: rounds.RatioAtMost(1.25), Note: "the two get every tenth job, as their neighbours do"},
		},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
			return b.WithStores(ctx, engine, func(store *db.DB, plain *sql.DB, _ string) error {
				h, err := openHooks(ctx, store, plain)
				if err != nil {
					return err
				}
				defer h.close()
				return b.Rounds(ctx, into, func(r rounds.Record) error { return h.measure(ctx, b, r, names) })
			})
		},
	}
}

func (h *hookService) measure(ctx context.Context, b *rounds.Run, r rounds.Record, names hookRows) error {
	var rate, plainRate float64
	var ours, plain, beside, without []float64
	err := b.Turns(func() (err error) {
		if rate, err = h.rate(ctx); err == nil {
			ours, err = h.delays(ctx, h.end)
		}
		return err
	}, func() (err error) {
		if plainRate, err = h.plainRate(ctx); err == nil {
			plain, err = h.delays(ctx, h.post)
		}
		return err
	})
	if err != nil {
		return err
	}
	for range hookPasses { // each has the other order: the machine's load drifts
		err := b.Turns(func() error {
			if err := h.enableSlow(ctx, true); err != nil {
				return err
			}
			some, err := h.delays(ctx, h.end)
			beside = append(beside, some...)
			return errors.Join(err, h.enableSlow(ctx, false))
		}, func() error {
			some, err := h.delays(ctx, h.end)
			without = append(without, some...)
			return err
		})
		if err != nil {
			return err
		}
		b.Swapped = !b.Swapped
	}
	r.Add(names.rate, rate, plainRate)
	return errors.Join(
		r.AddShare(names.half, ours, plain, 0.5),
		r.AddShare(names.most, ours, plain, 0.99),
		r.AddShare(names.amid, beside, without, 0.99),
	)
}

// rate lets a backlog build up, starts the deliveries and returns deliveries per second.
func (h *hookService) rate(ctx context.Context) (float64, error) {
	var jobs []hookJob
	for n, waiting := 0, 0; waiting < hookBacklog; n++ {
		job, err := h.end(ctx, n)
		if err != nil {
			return 0, err
		}
		jobs, waiting = append(jobs, job), waiting+job.receivers
	}
	began := time.Now()
	stop := h.drive(ctx)
	defer stop()
	received, err := h.await(ctx, jobs)
	if err != nil {
		return 0, err
	}
	last := began
	for _, at := range received {
		if at.at.After(last) {
			last = at.at
		}
	}
	return float64(len(received)) / last.Sub(began).Seconds(), h.settle(ctx)
}

// plainRate is how many calls per second a plain client makes that commits one row after
// each call.
func (h *hookService) plainRate(ctx context.Context) (float64, error) {
	defer h.clear()
	body := h.body(id.New(id.Job))
	var next atomic.Int64
	return rounds.Throughput(hookAtOnce, hookBacklog, func(one int) error {
		if err := h.call(ctx, h.addresses[next.Add(1)%int64(len(h.addresses))], body); err != nil {
			return err
		}
		_, err := h.plain.ExecContext(ctx, "UPDATE bench_tick SET n = n + 1 WHERE claimer = $1", one%rounds.Claimers)
		return err
	})
}

// delays has jobs end, one every hookPause regardless of those before, and returns how
// long after its end each was received, in seconds. A fixed pace keeps a slow system
// from slowing down its own load.
func (h *hookService) delays(ctx context.Context, end func(ctx context.Context, n int) (hookJob, error)) ([]float64, error) {
	stop := h.drive(ctx)
	defer stop()
	tick := time.NewTicker(hookPause)
	defer tick.Stop()
	var jobs []hookJob
	for n := range hookJobs {
		job, err := end(ctx, n)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
	received, err := h.await(ctx, jobs)
	if err != nil {
		return nil, err
	}
	ended := map[string]time.Time{}
	for _, job := range jobs {
		ended[job.jobID] = job.ended
	}
	all := make([]float64, len(received))
	for i, hit := range received {
		all[i] = hit.at.Sub(ended[hit.jobID]).Seconds()
	}
	return all, h.settle(ctx)
}
