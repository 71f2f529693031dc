package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/ratelimit"
)

// What a round of requests is made of.
const (
	apiAtOnce   = 64   // callers that ask at once, each with keys and a job of its own
	apiRequests = 4000 // of each kind while the clock runs
	apiStarts   = 640  // quotes that are started while the clock runs
)

// apiGroup measures the API over loopback HTTP, with the rate limit counting:
// what a status, a preflight and the capabilities cost, beside a handler of
// net/http that writes the same bytes and does nothing else; what counting
// costs; and how many quotes are started a second.
func apiGroup(engine string) group {
	const bare = "bare net/http, same bytes"
	name := apiRow(engine)
	status := row{name: name("status"), unit: perSecond, baseline: bare, note: fmt.Sprintf("%d callers at once, who share the processors", apiAtOnce)}
	if engine == "sqlite" {
		status.goal = ratioAtLeast(0.3)
	} else {
		status.note += "; each waits for two statements of a server that shares them too"
	}
	return group{
		rows: []row{
			status,
			{name: name("status, p99"), unit: duration, baseline: bare, note: "of those requests"},
			{name: name("preflight"), unit: perSecond, baseline: bare, note: "likewise"},
			{name: name("capabilities"), unit: perSecond, goal: ratioAtLeast(0.6), baseline: bare, note: "likewise, without a key"},
			{name: name("counted"), unit: perSecond, baseline: "without a rate limit", note: "status"},
			{name: name("status by tool"), unit: perSecond, baseline: "status", note: "svc_status at /mcp, beside the route of the Job API"},
			{name: name("start"), unit: perSecond, baseline: "one-row commits", note: "each reserves money and adds work"},
		},
		measure: func(ctx context.Context, b *bench, into record) error {
			return b.withStores(ctx, engine, func(house *db.DB, bare *sql.DB, address string) error {
				return measureAPI(ctx, b, into, name, house, bare, address)
			})
		},
	}
}

// apiRow names the rows of an engine.
func apiRow(engine string) func(what string) string {
	return func(what string) string { return "api/" + engine + ", " + what }
}

func measureAPI(ctx context.Context, b *bench, into record, name func(string) string, house *db.DB, bare *sql.DB, address string) (err error) {
	counting, err := b.openAPI(ctx, address, ratelimit.Policy{PerMinute: 60_000_000, Burst: 1_000_000})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, counting.stop()) }()
	free, err := b.openAPI(ctx, address, ratelimit.Policy{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free.stop()) }()
	callers, err := makeCallers(ctx, house, counting)
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
	return b.rounds(ctx, into, func(r record) error {
		for what, ask := range map[string]func(apiCaller) request{"status": status, "preflight": preflight, "capabilities": capabilities} {
			ours, theirs, err := b.besideBare(ctx, counting, callers, ask)
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			r.add(name(what), ours.rate, theirs.rate)
			if what == "status" {
				r.add(name("status, p99"), ours.p99, theirs.p99)
			}
		}
		var with, without flow
		err := b.turns(func() (err error) {
			with, err = askMany(ctx, counting.address, callers, apiRequests, status)
			return err
		}, func() (err error) {
			without, err = askMany(ctx, free.address, callers, apiRequests, status)
			return err
		})
		if err != nil {
			return err
		}
		r.add(name("counted"), with.rate, without.rate)
		if err := b.turns(func() (err error) {
			with, err = askMany(ctx, counting.address, callers, apiRequests, tool)
			return err
		}, func() (err error) {
			without, err = askMany(ctx, counting.address, callers, apiRequests, status)
			return err
		}); err != nil {
			return fmt.Errorf("status by tool: %w", err)
		}
		r.add(name("status by tool"), with.rate, without.rate)
		return measureStarts(ctx, b, r, name("start"), counting, callers, bare)
	})
}

// besideBare asks the service and a bare handler the same.
func (b *bench) besideBare(ctx context.Context, service *apiHouse, callers []apiCaller, ask func(apiCaller) request) (ours, theirs flow, err error) {
	plain, err := copyAnswer(ctx, service.address, ask(callers[0]))
	if err != nil {
		return flow{}, flow{}, err
	}
	defer plain.Close()
	err = b.turns(func() (err error) {
		ours, err = askMany(ctx, service.address, callers, apiRequests, ask)
		return err
	}, func() (err error) {
		theirs, err = askMany(ctx, plain.Listener.Addr().String(), callers, apiRequests, ask)
		return err
	})
	return ours, theirs, err
}

// measureStarts starts quotes that were made beforehand; what it has started is
// cancelled behind the clock.
func measureStarts(ctx context.Context, b *bench, r record, name string, service *apiHouse, callers []apiCaller, bare *sql.DB) error {
	quotes := make([][]string, len(callers))
	for i, c := range callers {
		for range apiStarts / len(callers) {
			var made struct {
				QuoteID string `json:"quote_id"`
			}
			if err := askJSON(ctx, service.address, request{method: http.MethodPost, path: "/node/v1/uploads/" + c.uploadID + "/quote", key: c.agent, body: `{"frame_start":1,"frame_end":10}`}, &made); err != nil {
				return err
			}
			quotes[i] = append(quotes[i], made.QuoteID)
		}
	}
	var started flow
	var commits float64
	err := b.turns(func() (err error) {
		taken := make([]int, len(callers))
		started, err = askMany(ctx, service.address, callers, apiStarts, func(c apiCaller) request {
			quoteID := quotes[c.number][taken[c.number]]
			taken[c.number]++
			return request{method: http.MethodPost, path: "/node/v1/uploads/" + c.uploadID + "/start", key: c.agent, body: `{"quote_id":"` + quoteID + `","legal_acceptance":"SVC_LEGAL_V1"}`}
		})
		return err
	}, func() (err error) {
		commits, err = commitRate(ctx, bare)
		return err
	})
	if err != nil {
		return err
	}
	r.add(name, started.rate, commits)
	for _, c := range callers {
		if err := c.cancelOthers(ctx, service.address); err != nil {
			return err
		}
	}
	return nil
}
