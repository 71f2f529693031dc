package damage_test

import (
	"bytes"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/intake"
)

// TestHistoryIsJudgedByItsOwnTerms opens a store with a price, a quote's life and a link's
// life that differ from those under which it was written.
func TestHistoryIsJudgedByItsOwnTerms(t *testing.T) {
	t.Parallel()
	old := contract.Published().Current()
	newer := contract.Terms{Version: "fixed-2c-v2", CentsPerFrame: 2, QuoteLifetime: 2 * old.QuoteLifetime, UploadLinkLife: old.UploadLinkLife / 3}
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			h := &history{T: t, config: app.Config{
				Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, engine), AllowSynthetic: true,
				Rate: ratelimit.Policy{PerMinute: 60_000, Burst: 60_000}, Log: apptest.Logger(t, t.Output()),
			}}
			h.open(nil)
			h.workspace = (&apptest.World{App: h.app}).Workspace(t, 1_000)
			open, ordered := h.quote(), h.quote()
			h.start(ordered, 3)
			link := h.link()
			h.close()

			h.open(append(contract.Published(), newer))
			apptest.Audit(t, h.app)
			h.start(open, 3)
			dear := h.quote()
			if life := dear.ExpiresAt.Sub(dear.CreatedAt); dear.PriceCents != 6 || dear.PricingVersion != newer.Version || life != newer.QuoteLifetime {
				t.Errorf("a new quote costs %d cents by %q and is open for %s", dear.PriceCents, dear.PricingVersion, life)
			}
			h.start(dear, 6)
			short := h.link()
			apptest.Audit(t, h.app)

			for _, harm := range []struct{ table, id, change, want string }{
				{"quote", ordered.QuoteID, "price_cents = 6", `3 frames cost 6 cents; by its terms "fixed-1c-v1" they cost 3`},
				{"quote", dear.QuoteID, "price_cents = 3", `3 frames cost 3 cents; by its terms "fixed-2c-v2" they cost 6`},
				{"quote", ordered.QuoteID, "pricing_version = 'fixed-2c-v2'", `3 frames cost 3 cents; by its terms "fixed-2c-v2" they cost 6`},
				{"quote", ordered.QuoteID, "pricing_version = 'free'", `its terms "free" were never published`},
				{"quote", ordered.QuoteID, "expires_at = expires_at + 86400000000", `it is open for 48h0m0s; by its terms "fixed-1c-v1" it is open for 24h0m0s`},
				{"job", "", "price_cents = 6", `3 frames cost 6 cents; by its terms "fixed-1c-v1" they cost 3`},
				{"awaited_upload", link, "expires_at = created_at + 300000000", `its link lives for 5m0s; by its terms "fixed-1c-v1" it lives for 15m0s`},
				{"awaited_upload", short, "terms_version = ''", `its link lives for 5m0s; by its terms "fixed-1c-v1" it lives for 15m0s`},
			} {
				h.wantBreach(harm.table, harm.id, harm.change, harm.want)
			}
			apptest.Audit(t, h.app) // every damage was undone
			h.close()
		})
	}
}

// history is a store that one service after another opens.
type history struct {
	*testing.T
	config    app.Config
	app       *app.App
	stop      func()
	url       string
	workspace apptest.Workspace
}

// open starts a service with a book of terms on the store.
func (h *history) open(book contract.Book) {
	h.Helper()
	h.config.Book = book
	opened, err := app.Open(h.Context(), h.config)
	if err != nil {
		h.Fatal(err)
	}
	h.app = opened
	h.url, h.stop = apptest.Serve(h.T, opened)
}

func (h *history) close() {
	h.Helper()
	h.stop()
	if err := h.app.Close(); err != nil {
		h.Error(err)
	}
}

// caller calls the service that is open now.
func (h *history) caller() *client.Client {
	h.Helper()
	c, err := client.New(h.url, h.workspace.Agent.Secret)
	if err != nil {
		h.Fatal(err)
	}
	return c
}

// quote prices three frames.
func (h *history) quote() *client.Quote {
	h.Helper()
	q, err := h.caller().Inspect(h.Context(), client.InspectRequest{Filename: demo.Filename, Body: bytes.NewReader(demo.Scene()), FrameStart: new(1), FrameEnd: new(3)})
	if err != nil {
		h.Fatal(err)
	}
	return q
}

// start has a quote's frames rendered, which reserves so many cents.
func (h *history) start(q *client.Quote, cents int) {
	h.Helper()
	job, err := h.caller().Start(h.Context(), q, client.StartRequest{LegalAcceptance: client.LegalV1})
	if err != nil {
		h.Fatal(err)
	}
	if int(job.ReservedCents) != cents {
		h.Errorf("the start of a quote of %s reserves %d cents, want %d", q.PricingVersion, job.ReservedCents, cents)
	}
}

// link makes an upload link.
func (h *history) link() (uploadID string) {
	h.Helper()
	in := &intake.Intake{DB: h.app.DB, Blobs: h.app.Blobs, Envelope: h.app.Config.Envelope, Book: h.app.Config.Book}
	link, err := in.Await(h.Context(), h.workspace.ID, "")
	if err != nil {
		h.Fatal(err)
	}
	return link.UploadID
}

// wantBreach damages a row, looks for what the audit says about it, and undoes the damage.
// Without an id it is the job that was ordered first.
func (h *history) wantBreach(table, id, change, want string) {
	h.Helper()
	raw := openRaw(h.T, h.app.Config.DatabaseURL())
	column := map[string]string{"quote": "quote_id", "awaited_upload": "upload_id", "job": "job_id"}[table]
	if id == "" {
		if err := raw.QueryRow("SELECT min(" + column + ") FROM " + table).Scan(&id); err != nil {
			h.Fatal(err)
		}
	}
	name, _, _ := strings.Cut(change, " ")
	var before any
	if err := raw.QueryRow("SELECT "+name+" FROM "+table+" WHERE "+column+" = $1", id).Scan(&before); err != nil {
		h.Fatal(err)
	}
	if _, err := raw.Exec("UPDATE "+table+" SET "+change+" WHERE "+column+" = $1", id); err != nil {
		h.Fatal(err)
	}
	found, err := h.app.Audit(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	said := false
	for _, b := range found.Breaches {
		said = said || b.Subject == id && b.Detail == want
	}
	if !said {
		h.Errorf("%s of %s: the audit says %v, want %q", change, table, found.Breaches, want)
	}
	if _, err := raw.Exec("UPDATE "+table+" SET "+name+" = $1 WHERE "+column+" = $2", before, id); err != nil {
		h.Fatal(err)
	}
}
