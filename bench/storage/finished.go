package storage

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"svc.example/bench/rounds"
	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// FinishedJobs is how many finished jobs the larger store has, unless a flag says
// otherwise.
const FinishedJobs = 1_000_000

const (
	finishedFew   = 1000 // jobs of the baseline
	finishedAsked = 40   // requests of each kind in a turn
)

// Finished measures what callers and the operator ask of a store with so many finished
// jobs of one workspace, compared with one with a thousand. Only the audit may depend
// on how much a service has stored.
func Finished(engine string, jobs int) rounds.Group {
	name := func(what string) string { return "finished/" + engine + " " + what }
	baseline := fmt.Sprintf("%d jobs", finishedFew)
	note := fmt.Sprintf("%d finished jobs of one workspace; median of %d requests, one after the other", jobs, finishedAsked)
	rows := []rounds.Row{}
	for _, kind := range finishedKinds {
		rows = append(rows, rounds.Row{Name: name(kind.what), Unit: rounds.Duration, Baseline: baseline, Goal: rounds.RatioAtMost(1.5), Note: note})
	}
	rows = append(rows, rounds.Row{Name: name("audit"), Unit: rounds.PerSecond, Baseline: baseline, Goal: rounds.RatioAtLeast(0.7), Note: "jobs that are audited; once, whatever -rounds says"})
	return rounds.Group{Rows: rows, Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
		few, err := openFinished(ctx, b, engine, finishedFew)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, few.stop()) }()
		many, err := openFinished(ctx, b, engine, jobs)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, many.stop()) }()
		if err := b.Rounds(ctx, into, func(r rounds.Record) error { return askFinished(ctx, b, r, name, many, few) }); err != nil {
			return err
		}
		b.Say("auditing")
		fewRate, err := few.audit(ctx)
		if err != nil {
			return err
		}
		manyRate, err := many.audit(ctx)
		if err == nil {
			into.Add(name("audit"), manyRate, fewRate)
		}
		return err
	}}
}

// askFinished has both services asked for everything, in turns.
func askFinished(ctx context.Context, b *rounds.Run, r rounds.Record, name func(string) string, many, few *finished) error {
	for _, kind := range finishedKinds {
		var ours, theirs float64
		err := b.Turns(func() (err error) {
			ours, err = many.median(ctx, kind.ask)
			return err
		}, func() (err error) {
			theirs, err = few.median(ctx, kind.ask)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", kind.what, err)
		}
		r.Add(name(kind.what), ours, theirs)
	}
	return nil
}

// finishedKinds are the requests that are measured. Each returns the seconds that it took,
// without what must come before it.
var finishedKinds = []struct {
	what string
	ask  func(*finished, context.Context) (float64, error)
}{
	{"list of jobs", (*finished).list},
	{"list of failed jobs, of which there are none", (*finished).listFailed},
	{"status", (*finished).status},
	{"inspect", (*finished).inspect},
	{"start", (*finished).start},
	{"metrics", (*finished).scrape},
}

// finished is a service in this process over a store of finished jobs.
type finished struct {
	app             *app.App
	url, metricsURL string
	jobs            int
	agent           *client.Client
	account         string // an account key
	asked           int    // jobs whose status was asked for
	drop            func() error
	end             context.CancelFunc
	served          chan error
}

// openFinished makes a store of so many finished jobs and serves it. End it with stop.
func openFinished(ctx context.Context, b *rounds.Run, engine string, jobs int) (f *finished, err error) {
	f = &finished{jobs: jobs, served: make(chan error, 1), drop: func() error { return nil }}
	listening := make(chan string, 1)
	config := app.Config{
		Listen: "127.0.0.1:0", MetricsListen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), LogOrigin: "bench.example.com/log",
		Announce: func(address string) { listening <- address }, AnnounceMetrics: func(address string) { f.metricsURL = address + "/metrics" },
	}
	if config.Data, err = b.Dir("finished-"); err != nil {
		return nil, err
	}
	if engine == "postgres" {
		if config.Database, f.drop, err = b.Database(ctx, engine); err != nil {
			return nil, err
		}
	}
	drop := f.drop
	defer func() {
		if err != nil {
			err = errors.Join(err, drop())
		}
	}()
	workspace, err := finishedJobs(ctx, engine, config, jobs)
	if err != nil {
		return nil, fmt.Errorf("make %d jobs: %w", jobs, err)
	}
	b.Say("%d jobs are made", jobs)
	if f.app, err = app.Open(ctx, config); err != nil {
		return nil, err
	}
	b.Say("their rows have checksums")
	if err := f.settle(ctx, engine); err != nil {
		return nil, errors.Join(err, f.app.Close())
	}
	agent, err := f.keys(ctx, workspace)
	if err != nil {
		return nil, errors.Join(err, f.app.Close())
	}
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	f.end = end
	go func() { f.served <- f.app.Serve(serving) }()
	select {
	case f.url = <-listening:
	case err := <-f.served:
		end()
		return nil, errors.Join(fmt.Errorf("the service ended before it listened: %w", err), f.app.Close())
	}
	if f.agent, err = client.New(f.url, agent); err != nil {
		f.end()
		return nil, errors.Join(err, <-f.served, f.app.Close())
	}
	return f, nil
}

// settle gives the database what it has after years and not after minutes: PostgreSQL
// counts its rows automatically, but not at once.
func (f *finished) settle(ctx context.Context, engine string) (err error) {
	if engine != "postgres" {
		return nil
	}
	plain, err := sql.Open("pgx", f.app.Config.DatabaseURL())
	if err != nil {
		return err
	}
	_, err = plain.ExecContext(ctx, "VACUUM ANALYZE")
	return errors.Join(err, plain.Close())
}

// keys makes the keys that ask, and gives the workspace money.
func (f *finished) keys(ctx context.Context, workspace string) (agent string, err error) {
	err = f.app.DB.Write(ctx, func(tx *db.Tx) error {
		agentKey, err := identity.CreateAgentKey(ctx, tx, workspace, identity.AgentTerms{Name: "bench"})
		if err != nil {
			return err
		}
		account, err := identity.CreateAccountKey(ctx, tx, workspace, "bench")
		agent, f.account = agentKey.Secret, account.Secret
		return errors.Join(err, wallet.Credit(ctx, tx, workspace, "for starts", 1_000_000))
	})
	return agent, err
}

func (f *finished) stop() error {
	f.end()
	return errors.Join(<-f.served, f.app.Close(), f.drop())
}

// audit returns how many jobs are audited in a second.
func (f *finished) audit(ctx context.Context) (rate float64, err error) {
	began := time.Now()
	found, err := f.app.Audit(ctx)
	if err == nil && len(found.Breaches) > 0 {
		err = fmt.Errorf("%d breaches, the first %+v", len(found.Breaches), found.Breaches[0])
	}
	return float64(f.jobs) / time.Since(began).Seconds(), err
}

// median asks again and again and returns the median of the seconds.
func (f *finished) median(ctx context.Context, ask func(*finished, context.Context) (float64, error)) (float64, error) {
	var all []float64
	for range finishedAsked {
		took, err := ask(f, ctx)
		if err != nil {
			return 0, err
		}
		all = append(all, took)
	}
	return rounds.Percentile(all, 0.5)
}

func (f *finished) list(ctx context.Context) (float64, error) {
	return f.get(ctx, f.url+"/v1/workspace/renders?limit=50")
}

func (f *finished) listFailed(ctx context.Context) (float64, error) {
	return f.get(ctx, f.url+"/v1/workspace/renders?limit=50&status=failed")
}

// status asks for a job that was not asked for before, as far as there are any.
func (f *finished) status(ctx context.Context) (float64, error) {
	f.asked += 7919 // a prime: the jobs are far apart
	return f.get(ctx, f.url+"/v1/renders/"+numbered(id.Job, 1+f.asked%f.jobs))
}

func (f *finished) scrape(ctx context.Context) (float64, error) {
	return f.get(ctx, f.metricsURL)
}

// inspect sends a scene.
func (f *finished) inspect(ctx context.Context) (float64, error) {
	began := time.Now()
	_, err := f.send(ctx)
	return time.Since(began).Seconds(), err
}

// send sends the scene for a quote of its first frame.
func (f *finished) send(ctx context.Context) (*client.Quote, error) {
	frame := 1
	return f.agent.Inspect(ctx, client.InspectRequest{Filename: demo.Filename, Body: bytes.NewReader(demo.Scene()), FrameStart: &frame, FrameEnd: &frame})
}

// start starts a job of one frame and cancels it: no turn meets a longer queue.
func (f *finished) start(ctx context.Context) (float64, error) {
	quote, err := f.send(ctx)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	job, err := f.agent.Start(ctx, quote, client.StartRequest{LegalAcceptance: client.LegalV1})
	took := time.Since(began).Seconds()
	if err == nil {
		_, err = f.agent.Cancel(ctx, job.JobID)
	}
	return took, err
}

// get asks for a page with the account key and returns the seconds to its last byte.
func (f *finished) get(ctx context.Context, url string) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+f.account)
	began := time.Now()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err = io.Copy(io.Discard, answer.Body); err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, answer.Status)
	}
	return time.Since(began).Seconds(), err
}
