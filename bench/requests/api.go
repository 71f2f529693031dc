// Package requests measures what the HTTP interface costs: routes of the API, starts,
// uploads and the leaderboard.
//
// What always holds: requests go over loopback TCP, but for the leaderboard's, which go
// to its handler; the baseline is a handler that does nothing but write. Start reading at
// API.
package requests

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"

	"svc.example/bench/rounds"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/ratelimit"
)

// What a round of requests is made of.
const (
	apiAtOnce   = 64   // callers that ask at once, each with keys and a job of its own
	apiRequests = 4000 // of each kind while the clock runs
	apiStarts   = 640  // quotes that are started while the clock runs
)

// API measures the API over loopback HTTP, with the rate limit counting: what a
// status, a preflight and the capabilities cost, compared with a net/http
// handler that only writes the same bytes; what counting costs; and how many
// quotes are started a second.
func API(engine string) rounds.Group {
	const plain = "plain net/http, same bytes"
	name := apiRow(engine)
	status := rounds.Row{Name: name("status"), Unit: rounds.PerSecond, Baseline: plain, Note: fmt.Sprintf("%d callers at once, who share the processors", apiAtOnce)}
	if engine == "sqlite" {
		status.Goal = rounds.RatioAtLeast(0.3)
	} else {
		status.Note += "; each waits for two statements of a server that shares them too"
	}
	return rounds.Group{
		Rows: []rounds.Row{
			status,
			{Name: name("status, p99"), Unit: rounds.Duration, Baseline: plain, Note: "of those requests"},
			{Name: name("preflight"), Unit: rounds.PerSecond, Baseline: plain, Note: "likewise"},
			{Name: name("capabilities"), Unit: rounds.PerSecond, Goal: rounds.RatioAtLeast(0.6), Baseline: plain, Note: "likewise, without a key"},
			{Name: name("counted"), Unit: rounds.PerSecond, Baseline: "without a rate limit", Note: "status"},
			{Name: name("status by tool"), Unit: rounds.PerSecond, Baseline: "status", Note: "svc_status at /mcp, compared with the route of the Job API"},
			{Name: name("start"), Unit: rounds.PerSecond, Baseline: "one-row commits", Note: "each reserves money and adds work"},
		},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
			return b.WithStores(ctx, engine, func(store *db.DB, plain *sql.DB, address string) error {
				return measureAPI(ctx, b, into, name, store, plain, address)
			})
		},
	}
}

// apiRow names the rows of an engine.
func apiRow(engine string) func(what string) string {
	return func(what string) string { return "api/" + engine + ", " + what }
}

func measureAPI(ctx context.Context, b *rounds.Run, into rounds.Record, name func(string) string, store *db.DB, plain *sql.DB, address string) (err error) {
	counting, err := openAPI(ctx, b, address, app.Config{Rate: ratelimit.Policy{PerMinute: 12_000_000, Burst: 1_000_000}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, counting.stop()) }()
	free, err := openAPI(ctx, b, address, app.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free.stop()) }()
	callers, err := makeCallers(ctx, store, counting)
	if err != nil {
		return err
	}
	status := func(c apiCaller) request {
		return request{method: http.MethodGet, path: "/node/v1/jobs/" + c.jobID, key: c.agent}
	}
	preflight := func(c apiCaller) request {
		return request{method: http.MethodPost, path: "/v1/renders/preflight", key: c.account, body: `{"filename":"scene.blend","frame_start":1,"frame_count":10}`}
	}
	tool := func(c apiCaller) request {
		return request{method: http.MethodPost, path: "/mcp", key: c.agent, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"svc_status","arguments":{"job_id":"` + c.jobID + `"}}}`}
	}
	capabilities := func(apiCaller) request { return request{method: http.MethodGet, path: "/v1/capabilities"} }
	return b.Rounds(ctx, into, func(r rounds.Record) error {
		for what, ask := range map[string]func(apiCaller) request{"status": status, "preflight": preflight, "capabilities": capabilities} {
			ours, theirs, err := besidePlain(ctx, b, counting, callers, ask)
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			r.Add(name(what), ours.rate, theirs.rate)
			if what == "status" {
				r.Add(name("status, p99"), ours.p99, theirs.p99)
			}
		}
		var with, without flow
		err := b.Turns(func() (err error) {
			with, err = askMany(ctx, counting.address, callers, apiRequests, status)
			return err
		}, func() (err error) {
			without, err = askMany(ctx, free.address, callers, apiRequests, status)
			return err
		})
		if err != nil {
			return err
		}
		r.Add(name("counted"), with.rate, without.rate)
		if err := b.Turns(func() (err error) {
			with, err = askMany(ctx, counting.address, callers, apiRequests, tool)
			return err
		}, func() (err error) {
			without, err = askMany(ctx, counting.address, callers, apiRequests, status)
			return err
		}); err != nil {
			return fmt.Errorf("status by tool: %w", err)
		}
		r.Add(name("status by tool"), with.rate, without.rate)
		return measureStarts(ctx, b, r, name("start"), counting, callers, plain)
	})
}

// besidePlain sends the same requests to the service and to a plain handler in turns.
func besidePlain(ctx context.Context, b *rounds.Run, on *service, callers []apiCaller, ask func(apiCaller) request) (ours, theirs flow, err error) {
	plain, err := copyAnswer(ctx, on.address, ask(callers[0]))
	if err != nil {
		return flow{}, flow{}, err
	}
	defer plain.Close()
	err = b.Turns(func() (err error) {
		ours, err = askMany(ctx, on.address, callers, apiRequests, ask)
		return err
	}, func() (err error) {
		theirs, err = askMany(ctx, plain.Listener.Addr().String(), callers, apiRequests, ask)
		return err
	})
	return ours, theirs, err
}

// measureStarts starts quotes that were made before the clock runs. The jobs are
// cancelled after it, so that no round meets a longer queue than the one before.
func measureStarts(ctx context.Context, b *rounds.Run, r rounds.Record, name string, on *service, callers []apiCaller, plain *sql.DB) error {
	quotes := make([][]string, len(callers))
	for i, c := range callers {
		for range apiStarts / len(callers) {
			var made struct {
				QuoteID string `json:"quote_id"`
			}
			if err := askJSON(ctx, on.address, request{method: http.MethodPost, path: "/node/v1/uploads/" + c.uploadID + "/quote", key: c.agent, body: `{"frame_start":1,"frame_end":10}`}, &made); err != nil {
				return err
			}
			quotes[i] = append(quotes[i], made.QuoteID)
		}
	}
	var started flow
	var commits float64
	err := b.Turns(func() (err error) {
		taken := make([]int, len(callers))
		started, err = askMany(ctx, on.address, callers, apiStarts, func(c apiCaller) request {
			quoteID := quotes[c.number][taken[c.number]]
			taken[c.number]++
			return request{method: http.MethodPost, path: "/node/v1/uploads/" + c.uploadID + "/start", key: c.agent, body: `{"quote_id":"` + quoteID + `","legal_acceptance":"SVC_LEGAL_V1"}`}
		})
		return err
	}, func() (err error) {
		commits, err = rounds.CommitRate(ctx, plain)
		return err
	})
	if err != nil {
		return err
	}
	r.Add(name, started.rate, commits)
	for _, c := range callers {
		if err := c.cancelOthers(ctx, on.address); err != nil {
			return err
		}
	}
	return nil
}
