package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
)

// What a round of webhooks is made of. Workspaces have as many endpoints as they
// may; each endpoint is an HTTPS server of its own.
const (
	hookEndpoints = 100
	hookBacklog   = 2000 // deliveries that wait when the clock starts
	hookAtOnce    = 64   // calls that the bare client has open at once
	hookJobs      = 100  // that end one behind the other while delays are taken
	hookPause     = 50 * time.Millisecond
	hookPasses    = 2 // of a round beside the two that hinder, and as many without
	// hookNeed is the deliveries a second that a large house needs: 36,000 jobs end
	// in an hour, each heard by ten endpoints.
	hookNeed = 100
)

// hookRows are the names of a database's rows.
type hookRows struct{ rate, half, most, beside string }

func hookRowsOf(engine string) hookRows {
	name := "webhook/" + engine + " "
	return hookRows{
		rate: name + "deliveries a second", half: name + "delay, median", most: name + "delay, 99 %",
		beside: fmt.Sprintf("%sdelay, 99 %% of %d beside a dead one and a tarpit", name, hookEndpoints-2),
	}
}

// webhookGroup measures how fast a backlog goes out, how long after the commit of
// a job's end its receivers hear of it, and whether a dead receiver and one that
// never answers delay the others. Beside the deliveries: the same bytes to the
// same receivers by net/http alone, and for each call one row of the same
// database updated and committed, which is the least that a delivery is. Beside
// the delays: the calls alone.
func webhookGroup(engine string) group {
	names := hookRowsOf(engine)
	commits := "each commit is an fsync"
	if engine == "postgres" {
		commits = "scripts/with-postgres runs it with fsync=off"
	}
	paced := fmt.Sprintf("from the commit to the receiver's handler; %d jobs, one every %s, each heard by %d endpoints", hookJobs, hookPause, contract.MaxWebhookEndpoints)
	return group{
		rows: []row{
			{name: names.rate, unit: perSecond, baseline: "bare net/http and a commit a call", goal: over(hookNeed, perSecond), note: fmt.Sprintf("%d that wait for %d receivers in this process; %s", hookBacklog, hookEndpoints, commits)},
			{name: names.half, unit: duration, baseline: "bare net/http", goal: under(0.050, duration), note: paced},
			{name: names.most, unit: duration, baseline: "bare net/http", goal: under(0.250, duration), note: "likewise"},
			{name: names.beside, unit: duration, baseline: "without the two", goal: ratioAtMost(1.25), note: "the two hear of every tenth job, as their neighbours do"},
		},
		measure: func(ctx context.Context, b *bench, into record) error {
			return b.withStores(ctx, engine, func(house *db.DB, bare *sql.DB, _ string) error {
				h, err := openHooks(ctx, house, bare)
				if err != nil {
					return err
				}
				defer h.close()
				return b.rounds(ctx, into, func(r record) error { return h.measure(ctx, b, r, names) })
			})
		},
	}
}

func (h *hookHouse) measure(ctx context.Context, b *bench, r record, names hookRows) error {
	var rate, bareRate float64
	var ours, bare, beside, without []float64
	err := b.turns(func() (err error) {
		if rate, err = h.rate(ctx); err == nil {
			ours, err = h.delays(ctx, h.tell)
		}
		return err
	}, func() (err error) {
		if bareRate, err = h.bareRate(ctx); err == nil {
			bare, err = h.delays(ctx, h.post)
		}
		return err
	})
	if err != nil {
		return err
	}
	for range hookPasses { // each has the other order: the machine's load drifts
		err := b.turns(func() error {
			if err := h.hinder(ctx, true); err != nil {
				return err
			}
			some, err := h.delays(ctx, h.tell)
			beside = append(beside, some...)
			return errors.Join(err, h.hinder(ctx, false))
		}, func() error {
			some, err := h.delays(ctx, h.tell)
			without = append(without, some...)
			return err
		})
		if err != nil {
			return err
		}
		b.swapped = !b.swapped
	}
	r.add(names.rate, rate, bareRate)
	return errors.Join(
		r.addShare(names.half, ours, bare, 0.5),
		r.addShare(names.most, ours, bare, 0.99),
		r.addShare(names.beside, beside, without, 0.99),
	)
}

// addShare records what a share of figures does not exceed.
func (r record) addShare(name string, subject, baseline []float64, share float64) error {
	a, errA := percentile(subject, share)
	b, errB := percentile(baseline, share)
	r.add(name, a, b)
	return errors.Join(errA, errB)
}

// rate has a backlog wait and then be delivered, and returns deliveries a second.
func (h *hookHouse) rate(ctx context.Context) (float64, error) {
	var jobs []hookJob
	for n, waiting := 0, 0; waiting < hookBacklog; n++ {
		job, err := h.tell(ctx, n)
		if err != nil {
			return 0, err
		}
		jobs, waiting = append(jobs, job), waiting+job.hearers
	}
	began := time.Now()
	stop := h.drive(ctx)
	defer stop()
	heard, err := h.hear(ctx, jobs)
	if err != nil {
		return 0, err
	}
	last := began
	for _, at := range heard {
		if at.at.After(last) {
			last = at.at
		}
	}
	return float64(len(heard)) / last.Sub(began).Seconds(), h.settle(ctx)
}

// bareRate is how many calls a second a bare client makes that commits a row
// behind each.
func (h *hookHouse) bareRate(ctx context.Context) (float64, error) {
	defer h.clear()
	body := h.body(id.New(id.Job))
	var next atomic.Int64
	return crowd(hookAtOnce, hookBacklog, func(one int) error {
		if err := h.call(ctx, h.addresses[next.Add(1)%int64(len(h.addresses))], body); err != nil {
			return err
		}
		_, err := h.bare.ExecContext(ctx, "UPDATE bench_tick SET n = n + 1 WHERE claimer = $1", one%claimers)
		return err
	})
}

// delays has jobs end, one every hookPause whatever became of those before, and
// returns how long after its end each was heard of, in seconds.
func (h *hookHouse) delays(ctx context.Context, end func(ctx context.Context, n int) (hookJob, error)) ([]float64, error) {
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
	heard, err := h.hear(ctx, jobs)
	if err != nil {
		return nil, err
	}
	ended := map[string]time.Time{}
	for _, job := range jobs {
		ended[job.jobID] = job.ended
	}
	all := make([]float64, len(heard))
	for i, hit := range heard {
		all[i] = hit.at.Sub(ended[hit.jobID]).Seconds()
	}
	return all, h.settle(ctx)
}
