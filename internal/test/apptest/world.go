package apptest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// Worlds are the services that the tests of a package share: one on each database
// engine, started when a test first asks for it. A test takes a workspace of its
// own there in a few milliseconds; starting a service takes a few hundred.
//
// A test needs a service of its own (Start) when it has another configuration,
// stops or damages the service, moves its clock, brings workers, or reads what
// belongs to no workspace, such as the log of receipts, the queue or the
// leaderboard.
type Worlds struct {
	configure func(*app.Config)

	mu      sync.Mutex
	running map[string]*World
	life    lifetime
}

// World is one running service, for as long as the package's tests run.
type World struct {
	App    *app.App
	URL    string
	Engine string
}

// Share makes worlds whose configuration configure may change; it may be nil. The
// package's TestMain must pass them to Run, which stops and audits them.
func Share(configure func(*app.Config)) *Worlds {
	return &Worlds{configure: configure, running: map[string]*World{}}
}

// On returns the world on an engine, and starts it on the first call. Concurrent
// callers wait for it.
func (w *Worlds) On(t testing.TB, engine string) *World {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if running := w.running[engine]; running != nil {
		return running
	}
	cfg := app.Config{Database: dbtest.URL(&w.life, engine)}
	if w.configure != nil {
		w.configure(&cfg)
	}
	serve := Serve
	if engine == "postgres" {
		serve = ServeBalanced
	}
	started, url := startBy(&w.life, cfg, serve)
	w.running[engine] = &World{App: started, URL: url, Engine: engine}
	return w.running[engine]
}

// Each runs test once on each engine, in parallel, in the world on that engine.
func (w *Worlds) Each(t *testing.T, test func(t *testing.T, world *World)) {
	t.Helper()
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, w.On(t, engine))
		})
	}
}

// Run is what a package's TestMain does: it runs the tests, and then stops and
// audits the worlds that they shared. A breach of a promise fails the run.
func Run(m *testing.M, shared ...*Worlds) (code int) {
	code = m.Run()
	for _, w := range shared {
		if !w.life.end() {
			code = max(code, 1)
		}
	}
	return code
}

// Workspace is a test's own workspace in a world, with a person, keys and money.
type Workspace struct {
	ID             string
	Email          string
	Agent, Account identity.NewKey // both may do all that their kind may
}

// Workspace makes a workspace with a balance of so many cents.
func (w *World) Workspace(t testing.TB, cents int64) Workspace {
	t.Helper()
	return w.WorkspaceOf(t, id.New("person-")+"@example.com", cents)
}

// WorkspaceOf is Workspace of a person with a known address.
func (w *World) WorkspaceOf(t testing.TB, email string, cents int64) (made Workspace) {
	t.Helper()
	made.Email = email
	ctx := context.Background()
	err := w.App.DB.Write(ctx, func(tx *db.Tx) error {
		owner, err := identity.CreateWorkspace(ctx, tx, made.Email)
		if err != nil {
			return err
		}
		made.ID = owner.WorkspaceID
		if made.Agent, err = identity.CreateAgentKey(ctx, tx, made.ID, identity.AgentTerms{Name: "agent"}); err != nil {
			return err
		}
		if made.Account, err = identity.CreateAccountKey(ctx, tx, made.ID, "account"); err != nil || cents == 0 {
			return err
		}
		return wallet.Credit(ctx, tx, made.ID, made.ID, cents)
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// lifetime is a testing.TB that lives as long as all tests of a package: shared
// services must not end with the test that happened to start them. Only what
// helpers use of a testing.TB is there; any other method panics.
type lifetime struct {
	testing.TB

	mu      sync.Mutex
	cleanup []func()
	failed  bool
}

func (l *lifetime) Helper() {}

func (l *lifetime) Context() context.Context { return context.Background() }

func (l *lifetime) Cleanup(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cleanup = append(l.cleanup, f)
}

func (l *lifetime) TempDir() string {
	folder, err := os.MkdirTemp("", "svc-world-")
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			l.Error(err)
		}
	})
	return folder
}

func (l *lifetime) Failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

func (l *lifetime) Error(args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = true
	fmt.Fprint(os.Stderr, "the shared service: ", fmt.Sprintln(args...))
}

func (l *lifetime) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }

func (l *lifetime) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// Fatal ends all tests: without the service none of them can continue.
func (l *lifetime) Fatal(args ...any) { panic(errors.New(fmt.Sprint(args...))) }

func (l *lifetime) Fatalf(format string, args ...any) { l.Fatal(fmt.Sprintf(format, args...)) }

// end runs the cleanups, the last one first, and reports whether nothing failed.
func (l *lifetime) end() bool {
	for len(l.cleanup) > 0 {
		last := l.cleanup[len(l.cleanup)-1]
		l.cleanup = l.cleanup[:len(l.cleanup)-1]
		last()
	}
	return !l.failed
}
