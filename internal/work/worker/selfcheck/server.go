package selfcheck

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"svc.example/internal/ground/redact"
	"svc.example/internal/work/farmapi"
)

// serverTime bounds the service's answer.
const serverTime = 10 * time.Second

// clockApart is the difference between two clocks from which their logs confuse a
// reader. Leases use only the server's clock.
const clockApart = 30 * time.Second

// server calls the service once without a key, then once with it. An unreachable server
// is the only finding then: its clock and the key cannot be judged.
func (e Examination) server(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, serverTime)
	defer cancel()
	unreachable := func(err error) []Finding {
		return []Finding{{"server", Fail, err.Error(), "is --server right, and may this machine call it?"}}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(e.Server, "/")+"/v1/health", nil)
	if err != nil {
		return unreachable(redact.URLs(err))
	}
	sent := e.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return unreachable(redact.URLs(err))
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return unreachable(fmt.Errorf("%s answers %s", redact.Address(e.Server), res.Status))
	}
	return []Finding{{"server", OK, redact.Address(e.Server), ""}, e.clock(sent, res.Header.Get("Date")), e.key(ctx)}
}

// clock compares this machine's time with the Date header of the service's answer, which
// has a resolution of one second.
func (Examination) clock(here time.Time, date string) Finding {
	there, err := http.ParseTime(date)
	if err != nil {
		return Finding{"clock", Warn, "the server sends no Date header", ""}
	}
	if apart := here.Sub(there).Abs().Round(time.Second); apart > clockApart {
		return Finding{"clock", Warn, apart.String() + " away from the server's", "set the clock (NTP): leases do not need it, TLS and whoever reads both logs do"}
	}
	return Finding{"clock", OK, "within " + clockApart.String() + " of the server's", ""}
}

// key tests the worker's key with a heartbeat for an unknown worker: the server
// checks the key first, and the call changes nothing.
func (e Examination) key(ctx context.Context) Finding {
	if e.Farm == nil {
		return Finding{"node key", Warn, "none given", "--key, from svc admin key create --kind node"}
	}
	_, err := e.Farm.Heartbeat(ctx, farmapi.HeartbeatRequest{WorkerID: "doctor"})
	var refused *farmapi.Error
	switch {
	case errors.As(err, &refused) && refused.Code == "worker_not_registered":
		return Finding{"node key", OK, "accepted", ""}
	case refused != nil && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden):
		return Finding{"node key", Fail, "not accepted: " + err.Error(), "make one on the service's machine: svc admin key create --kind node"}
	case err == nil:
		err = errors.New("an unknown worker was accepted")
	}
	return Finding{"node key", Fail, err.Error(), "is --server the address of svc?"}
}
