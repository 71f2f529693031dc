package requests

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"time"

	"svc.example/bench/rounds"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
)

// What a round of requests with and without metrics is made of: many short turns, since a
// hundredth is less than what the load of a machine does to a long one.
const (
	metricsTurns    = 400 // pairs of turns
	metricsRequests = 10  // of one turn
	// quiet is the share of turns by which a round is judged: those that met the least
	// other work.
	quiet = 0.25
)

// Metrics measures what it costs a request to be counted, and what a scrape takes.
func Metrics() rounds.Group {
	const request, scrape = "metrics/request", "metrics/scrape"
	return rounds.Group{
		Rows: []rounds.Row{
			{
				Name: request, Unit: rounds.Duration, Goal: rounds.RatioAtMost(1.01), Baseline: "without metrics",
				Note: fmt.Sprintf("status, one caller; of %d turns of %d requests a round, a quarter was faster", metricsTurns, metricsRequests),
			},
			{Name: scrape, Unit: rounds.Duration, Baseline: "a status", Note: "with the figures of the store read again; once in 15 s is usual"},
		},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
			return b.WithStores(ctx, "sqlite", func(store *db.DB, _ *sql.DB, address string) (err error) {
				counted, err := openAPI(ctx, b, address, app.Config{MetricsListen: "127.0.0.1:0"})
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, counted.stop()) }()
				plain, err := openAPI(ctx, b, address, app.Config{})
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, plain.stop()) }()
				callers, err := makeCallers(ctx, store, counted)
				if err != nil {
					return err
				}
				status := statusOf(callers[0])
				return b.Rounds(ctx, into, func(r rounds.Record) error {
					return measureMetrics(ctx, b, r, counted, plain, status, request, scrape)
				})
			})
		},
	}
}

// statusOf asks for the status of a caller's job.
func statusOf(c apiCaller) []byte {
	return request{method: http.MethodGet, path: "/node/v1/jobs/" + c.jobID, key: c.agent}.bytes()
}

// measureMetrics has one caller ask both services by turns, and reads the metrics once.
func measureMetrics(ctx context.Context, b *rounds.Run, r rounds.Record, counted, plain *service, status []byte, request, scrape string) error {
	var subject, baseline []float64 // seconds of a request
	for range metricsTurns {
		b.Swapped = !b.Swapped
		turn := func(on *service, into *[]float64) func() error {
			return func() error {
				seconds, err := askAnew(ctx, on.address, metricsRequests, status)
				*into = append(*into, seconds)
				return err
			}
		}
		if err := b.Turns(turn(counted, &subject), turn(plain, &baseline)); err != nil {
			return err
		}
	}
	if err := r.AddShare(request, subject, baseline, quiet); err != nil {
		return err
	}
	l, err := dial(ctx, counted.metrics)
	if err != nil {
		return err
	}
	defer l.close()
	began := time.Now()
	if _, _, err := l.ask([]byte("GET /metrics HTTP/1.1\r\nHost: bench\r\n\r\n")); err != nil {
		return err
	}
	r.Add(scrape, time.Since(began).Seconds(), baseline[len(baseline)/2])
	return nil
}

// askAnew sends a request n times over a new connection, each after the answer to the one
// before, and returns the seconds that one took, from the second one on. The same two connections for all turns
// would have processors of their own, and one of those more other work.
func askAnew(ctx context.Context, address string, n int, sent []byte) (seconds float64, err error) {
	l, err := dial(ctx, address)
	if err != nil {
		return 0, err
	}
	defer l.close()
	var began time.Time
	for i := range n + 1 {
		if i == 1 {
			began = time.Now()
		}
		if _, _, err := l.ask(sent); err != nil {
			return 0, err
		}
	}
	return time.Since(began).Seconds() / float64(n), nil
}
