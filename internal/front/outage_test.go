package front

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"svc.example/internal/ground/fault"
)

// outages are errors as the database, the disk and the store of files return them.
var outages = map[string]error{
	"no connection": &pgconn.ConnectError{Config: &pgconn.Config{}},
	"stopping":      &pgconn.PgError{Code: "57P01"},
	"too many":      &pgconn.PgError{Code: "53300"},
	"read-only":     &pgconn.PgError{Code: "25006"},
	"store away":    &url.Error{Op: "Put", URL: "http://store", Err: syscall.ECONNREFUSED},
}

func TestAnOutageAnswersUnavailableAndSaysWhenToRetry(t *testing.T) {
	t.Parallel()
	for name, err := range outages {
		errs := &Errors{Log: slog.New(slog.DiscardHandler)}
		w := httptest.NewRecorder()
		errs.Answer(w, httptest.NewRequest(http.MethodGet, "/v1/wallet", nil), fmt.Errorf("read: %w", err))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"unavailable"`) {
			t.Errorf("%s answers %d %v: %s", name, w.Code, w.Header(), w.Body)
		}
	}
	for name, err := range map[string]error{
		"a refusal":        fault.New(fault.RenderNotFound, "It is not there.").Wrap(outages["stopping"]),
		"a bug":            &pgconn.PgError{Code: "42703"},
		"a caller's break": io.ErrUnexpectedEOF,
	} {
		if IsOutage(err) && fault.Is(duringOutage(err), fault.Unavailable) {
			t.Errorf("%s counts as an outage", name)
		}
	}
}

func TestTheLogHasOneLineOfAnOutage(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	handler := NewOutageLog(slog.NewTextHandler(&out, nil))
	log := slog.New(handler)
	for range 2 {
		for range 3 {
			log.Error("cannot claim work", "err", fmt.Errorf("begin: %w", outages["no connection"]))
			log.With("queue", "a").Error("request failed", "err", outages["too many"])
		}
		log.Error("cannot claim work", "err", errors.New("another reason"))
		select {
		case <-handler.Noticed():
		default:
			t.Error("nobody is told of the outage")
		}
		handler.Over()
	}
	if n := strings.Count(out.String(), "\n"); n != 4 {
		t.Errorf("two outages and two other errors are %d lines:\n%s", n, &out)
	}
}
