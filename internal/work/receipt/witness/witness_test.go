package witness_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/receipt/witness"
)

const origin = "renders.example.com/log"

// party is a running witness, which a test can take away.
type party struct {
	witness.Party
	at   *witness.Witness
	away atomic.Bool
}

func newKey(t *testing.T, letter string) signingkey.Key {
	t.Helper()
	key, err := signingkey.New(strings.NewReader(strings.Repeat(letter, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// newParty runs a witness of the log that a key signs.
func newParty(t *testing.T, name string, log signingkey.Public) *party {
	t.Helper()
	key, err := witness.NewKey(name+".example.org", newKey(t, name[:1]))
	if err != nil {
		t.Fatal(err)
	}
	text, err := receipt.LogVerifier(origin, log)
	if err != nil {
		t.Fatal(err)
	}
	known, err := note.NewVerifier(text)
	if err != nil {
		t.Fatal(err)
	}
	p := &party{at: &witness.Witness{
		Key: key, Logs: map[string][]note.Verifier{origin: {known}}, Folder: t.TempDir(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.away.Load() {
			http.Error(w, "away", http.StatusBadGateway)
			return
		}
		p.at.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.Party = witness.Party{Name: name, Key: key.PublicKey, URL: server.URL}
	return p
}

// service is a log in a database, with the key that signs it.
type service struct {
	*db.DB
	t    *testing.T
	ring *signing.Ring
}

func newService(t *testing.T, url string, key signingkey.Key) service {
	t.Helper()
	s := service{dbtest.Open(t, db.Config{URL: url}), t, signing.Given(key)}
	s.write(func(ctx context.Context, tx *db.Tx) error {
		if err := s.ring.Register(ctx, tx); err != nil {
			return err
		}
		return receiptlog.Name(ctx, tx, origin)
	})
	return s
}

func (s service) write(do func(ctx context.Context, tx *db.Tx) error) {
	s.t.Helper()
	if err := s.Write(s.t.Context(), func(tx *db.Tx) error { return do(s.t.Context(), tx) }); err != nil {
		s.t.Fatal(err)
	}
}

// grow appends leaves of their own.
func (s service) grow(leaves int) {
	s.t.Helper()
	for range leaves {
		s.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := receiptlog.Append(ctx, tx, func(int64) (e receipt.Entry, err error) {
				_, err = rand.Read(e[:])
				return e, err
			})
			return err
		})
	}
}

// said collects what is logged.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// take gives what was logged since the last call.
func (s *said) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.text.Reset()
	return s.text.String()
}

func policyOf(t *testing.T, quorum string, parties ...*party) witness.Policy {
	t.Helper()
	text, names := "# who signs\n", ""
	for _, p := range parties {
		text += fmt.Sprintf("witness %s %s %s\n", p.Name, p.Key, p.URL)
		names += " " + p.Name
	}
	policy, err := witness.ParsePolicy(text + "group us " + quorum + names + "\nquorum us\n")
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

func TestALogIsCosignedAndGoesOnWithoutItsWitnesses(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		key := newKey(t, "s")
		s := newService(t, url, key)
		a, b, c := newParty(t, "anna", key.Public()), newParty(t, "bert", key.Public()), newParty(t, "carl", key.Public())
		var log said
		asker := func() *witness.Asker {
			return &witness.Asker{Policy: policyOf(t, "2", a, b, c), DB: s.DB, Keys: s.ring, Client: http.DefaultClient, Log: slog.New(slog.NewTextHandler(&log, nil))}
		}
		asks := asker()
		// round asks and returns which witnesses have co-signed what is
		// published.
		round := func() (size int64, by string) {
			t.Helper()
			if err := asks.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			last := asks.Latest()
			if last == nil {
				return 0, ""
			}
			head, err := receipt.OpenCheckpoint(last.Text, []signingkey.Public{key.Public()})
			if err != nil || head != last.Checkpoint {
				t.Errorf("what is published is not the service's: %v", err)
			}
			for _, p := range []*party{a, b, c} {
				if at, err := p.Key.Check(last.Text); err == nil && time.Since(at) < time.Minute {
					by += p.Name[:1]
				}
			}
			return head.Size, by
		}
		if size, by := round(); size != 0 || by != "" {
			t.Errorf("an empty log: %d by %q", size, by)
		}
		s.grow(3)
		if size, by := round(); size != 3 || by != "abc" || !strings.Contains(log.take(), "all witnesses sign") {
			t.Errorf("three leaves: %d by %q", size, by)
		}
		s.grow(300)
		c.away.Store(true)
		if size, by := round(); size != 303 || by != "ab" {
			t.Errorf("without one: %d by %q", size, by)
		}
		if text := log.take(); !strings.Contains(text, "some do not") || !strings.Contains(text, "carl") {
			t.Errorf("without one it says %q", text)
		}
		s.grow(1)
		b.away.Store(true)
		if size, by := round(); size != 303 || by != "ab" {
			t.Errorf("without two, what counts is %d by %q", size, by)
		}
		if text := log.take(); !strings.Contains(text, "too few witnesses sign") || !strings.Contains(text, "level=WARN") {
			t.Errorf("without two it says %q", text)
		}
		round()
		if text := log.take(); text != "" {
			t.Errorf("it says it again: %q", text)
		}
		b.away.Store(false)
		c.away.Store(false)
		s.grow(20)
		if size, by := round(); size != 324 || by != "abc" {
			t.Errorf("all back, one of them far behind: %d by %q", size, by)
		}
		// A process that knows nothing of what was signed learns it from the witnesses.
		s.grow(1)
		asks = asker()
		if size, by := round(); size != 325 || by != "abc" {
			t.Errorf("after a restart: %d by %q", size, by)
		}
	})
}

func TestAWitnessNeverSignsTwoHistories(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		key := newKey(t, "s")
		p := newParty(t, "anna", key.Public())
		first := newService(t, url, key)
		first.grow(5)
		var log said
		ask := func(s service) *receiptlog.Cosigned {
			t.Helper()
			asker := &witness.Asker{Policy: policyOf(t, "all", p), DB: s.DB, Keys: s.ring, Client: http.DefaultClient, Log: slog.New(slog.NewTextHandler(&log, nil))}
			if err := asker.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			return asker.Latest()
		}
		if ask(first) == nil {
			t.Fatal("the first history is not signed")
		}
		for _, size := range []int{3, 5, 9} {
			log.take()
			other := newService(t, dbtest.URL(t, "sqlite"), key)
			other.grow(size)
			if signed := ask(other); signed != nil {
				t.Errorf("another history of %d leaves is signed: %s", size, signed.Text)
			}
			if text := log.take(); !strings.Contains(text, "another history") && !strings.Contains(text, "leaves are lost") {
				t.Errorf("another history of %d leaves: it says %q", size, text)
			}
		}
		// A witness that was started again has not forgotten.
		p.at = &witness.Witness{Key: p.at.Key, Logs: p.at.Logs, Folder: p.at.Folder, Now: time.Now, Log: p.at.Log}
		other := newService(t, dbtest.URL(t, "sqlite"), key)
		other.grow(7)
		if signed := ask(other); signed != nil {
			t.Errorf("after its restart the witness signs another history: %s", signed.Text)
		}
		first.grow(1)
		if ask(first) == nil {
			t.Error("after its restart the witness does not sign what continues")
		}
	})
}

func TestAWitnessRefusesWhatIsNoCheckpointOfItsLogs(t *testing.T) {
	t.Parallel()
	key := newKey(t, "s")
	p := newParty(t, "anna", key.Public())
	signed := func(origin string, key signingkey.Key) string {
		text, err := receipt.SignCheckpoint(receipt.Checkpoint{Origin: origin, Size: 1}, key)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	good := signed(origin, key)
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"nothing":                    {"", http.StatusBadRequest},
		"no old size":                {"\n" + good, http.StatusBadRequest},
		"a negative size":            {"old -1\n\n" + good, http.StatusBadRequest},
		"a size in another form":     {"old 01\n\n" + good, http.StatusBadRequest},
		"no checkpoint":              {"old 0\n\n", http.StatusNotFound},
		"a proof that is none":       {"old 0\nxyz\n\n" + good, http.StatusBadRequest},
		"too long a proof":           {"old 0\n" + strings.Repeat("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", 64) + "\n" + good, http.StatusBadRequest},
		"too much":                   {"old 0\n\n" + good + strings.Repeat("x", 1<<17), http.StatusBadRequest},
		"an old size beyond the log": {"old 2\n\n" + good, http.StatusBadRequest},
		"an old size that is not":    {"old 1\n\n" + good, http.StatusConflict},
		"another log":                {"old 0\n\n" + signed("other.example.com/log", key), http.StatusNotFound},
		"another key":                {"old 0\n\n" + signed(origin, newKey(t, "x")), http.StatusForbidden},
		"a changed size":             {"old 0\n\n" + strings.Replace(good, "\n1\n", "\n2\n", 1), http.StatusForbidden},
		"a proof from nothing":       {"old 0\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n" + good, http.StatusUnprocessableEntity},
	} {
		answer := httptest.NewRecorder()
		p.at.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, witness.AddPath, strings.NewReader(c.body)))
		if answer.Code != c.status || strings.Contains(answer.Body.String(), "—") {
			t.Errorf("%s: %d %q, wanted %d", name, answer.Code, answer.Body, c.status)
		}
	}
	answer := httptest.NewRecorder()
	p.at.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, witness.AddPath, nil))
	if answer.Code != http.StatusNotFound {
		t.Errorf("GET: %d", answer.Code)
	}
}

func TestAPolicySaysHowManyMustSign(t *testing.T) {
	t.Parallel()
	var lines string
	for _, name := range []string{"anna", "bert", "carl"} {
		key, err := witness.NewKey(name, newKey(t, name[:1]))
		if err != nil {
			t.Fatal(err)
		}
		lines += fmt.Sprintf("witness %s %s https://%s.example.org/w/\n", name, key.PublicKey, name)
	}
	for policy, met := range map[string]map[string]bool{
		"quorum none":                                           {"": true},
		"quorum bert":                                           {"anna,carl": false, "bert": true},
		"group g any anna bert\nquorum g":                       {"carl": false, "bert": true},
		"group g all anna bert\nquorum g":                       {"anna": false, "bert,anna": true},
		"group g 2 anna bert carl\nquorum g":                    {"anna": false, "carl,anna": true, "": false},
		"group g any anna bert\ngroup h all g carl\n\nquorum h": {"anna,bert": false, "carl,bert": true},
	} {
		p, err := witness.ParsePolicy("# us\n" + lines + policy + "\n")
		if err != nil || p.Witnesses[0].URL != "https://anna.example.org/w" {
			t.Errorf("%q: %v", policy, err)
		}
		for by, want := range met {
			if got := p.Met(strings.Split(by, ",")); got != want {
				t.Errorf("%q, signed by %q: %t", policy, by, got)
			}
		}
	}
	for policy, words := range map[string]string{
		"":                                      "no quorum",
		"quorum dora":                           "no witness or group above",
		"quorum none\nquorum none":              "last line",
		"group g 4 anna bert carl\nquorum g":    "no number",
		"group g 0 anna\nquorum g":              "no number",
		"group g 1 anna anna\nquorum g":         "stands twice",
		"group anna 1 bert\nquorum anna":        "is taken",
		"group none 1 bert\nquorum none":        "is taken",
		"group g 1 h\ngroup h 1 g\nquorum g":    "no witness or group above",
		"witness x notakey https://x\nquorum x": "no witness's key",
		"hello":                                 "wanted witness",
	} {
		if _, err := witness.ParsePolicy(lines + policy); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v, wanted %q", policy, err, words)
		}
	}
}

func TestAWitnessesKeyHasOneForm(t *testing.T) {
	t.Parallel()
	key, err := witness.NewKey("anna.example.org", newKey(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	text := key.PublicKey.String()
	if again, err := witness.ParseKey(text); err != nil || again.String() != text {
		t.Errorf("%s: %v", text, err)
	}
	log, err := receipt.LogVerifier("anna.example.org", newKey(t, "a").Public())
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"", "anna", log, strings.Replace(text, "anna", "bert", 1), text + "AAAA", "an na" + text[4:]} {
		if _, err := witness.ParseKey(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	if _, err := witness.NewKey("two words", newKey(t, "a")); err == nil {
		t.Error("a name with a space is taken")
	}
}
