package console

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/door/web/page"
	"svc.example/internal/front"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/seal"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// statements keeps the names of the statements that a database is sent.
type statements struct {
	mu    sync.Mutex
	names []string
}

func (s *statements) add(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = append(s.names, name)
}

// take gives the names so far and starts over.
func (s *statements) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := s.names
	s.names = nil
	return names
}

// TestTheWebhooksPageTakesSixQueriesAtMost fills the page to its bounds, and looks
// that each endpoint shows its own newest deliveries.
func TestTheWebhooksPageTakesSixQueriesAtMost(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		sent := &statements{}
		d := dbtest.Open(t, db.Config{URL: url, OnStatement: sent.add})
		site, session := siteWithWebhooks(t, d, contract.MaxWebhookEndpoints, newest+2)
		sent.take()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, webhook.ConsolePage, nil)
		r.AddCookie(&http.Cookie{Name: contract.SessionCookie, Value: session.Token})
		w, mux := httptest.NewRecorder(), http.NewServeMux()
		site.Routes(mux)
		mux.ServeHTTP(w, r)
		names := sent.take()
		if d.Engine() == "postgres" && (len(names) < 3 || len(names) > 6) {
			t.Errorf("the page takes %d queries: %v", len(names), names)
		}
		sections := strings.Split(w.Body.String(), `<section class="endpoint"`)[1:]
		if w.Code != http.StatusOK || len(sections) != contract.MaxWebhookEndpoints {
			t.Fatalf("status %d, %d endpoints", w.Code, len(sections))
		}
		for i, section := range sections {
			var want []string
			all, _, err := site.Webhooks.OfEndpoint(t.Context(), session.Person.WorkspaceID, between(section, `id="`, `"`), webhook.Page{Limit: newest})
			if err != nil || len(all) != newest {
				t.Fatalf("%d deliveries, %v", len(all), err)
			}
			for _, one := range all {
				want = append(want, one.DeliveryID)
			}
			var got []string
			for _, rest := range strings.Split(section, "/deliveries/")[1:] {
				got = append(got, rest[:strings.IndexByte(rest, '"')])
			}
			if !slices.Equal(got, want) {
				t.Errorf("endpoint %d shows %v, want %v", i, got, want)
			}
		}
	})
}

func between(text, before, after string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, after)
	return text
}

// siteWithWebhooks makes a workspace with endpoints, each told of so many jobs,
// and signs its owner in.
func siteWithWebhooks(t *testing.T, d *db.DB, endpoints, jobs int) (site *Site, session identity.Opened) {
	t.Helper()
	key, err := seal.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := seal.Parse(key)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	guard := outbound.New(outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	hooks := webhook.New(webhook.Config{DB: d, LockWorkspace: identity.LockWorkspace, Keys: keys, Random: rand.Reader, Guard: guard, Log: log})
	write := func(do func(ctx context.Context, tx *db.Tx) error) {
		t.Helper()
		if err := d.Write(t.Context(), func(tx *db.Tx) error { return do(t.Context(), tx) }); err != nil {
			t.Fatal(err)
		}
	}
	write(func(ctx context.Context, tx *db.Tx) error {
		token, err := identity.CreateSignInLink(ctx, tx, "owner@example.com")
		if err == nil {
			session, err = identity.SignIn(ctx, tx, token, "")
		}
		return err
	})
	for n := range endpoints {
		if _, _, err := hooks.Create(t.Context(), session.Person.WorkspaceID, webhook.NewEndpoint{URL: fmt.Sprintf("https://127.0.0.1:1024/%d", n)}); err != nil {
			t.Fatal(err)
		}
	}
	for range jobs {
		write(func(ctx context.Context, tx *db.Tx) error {
			return webhook.Publish(ctx, tx, webhook.Event{WorkspaceID: session.Person.WorkspaceID, JobID: id.New(id.Job), Type: contract.EventCompleted, Data: struct{}{}})
		})
	}
	return &Site{Base: page.NewBase(page.Shared{DB: d, Errors: &front.Errors{Log: log}}, pages), Config: Config{Webhooks: hooks}}, session
}
