package story

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/sandbox"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/programs"
	"svc.example/internal/test/s3test"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// Run is what the TestMain of each package of stories does; it returns the exit code. It
// also makes the test's binary the server and worker processes that stories kill, and the
// inner half of workers' sandboxes.
func Run(m *testing.M) int {
	if len(os.Args) > 1 && os.Args[1] == sandbox.ExecName {
		return sandbox.Exec(os.Args[2:])
	}
	switch os.Getenv(roleVariable) {
	case ServerRole:
		return serverMain()
	case WorkerRole:
		return workerMain()
	}
	// A story that waits for the build of svc would have less time for what it shows.
	if _, err := programs.Build(programs.Svc); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// The command line, which m.Run reads, has the last word.
	if err := flag.Set("test.parallel", strconv.Itoa(sideBySide)); err != nil {
		panic(err)
	}
	code := apptest.Run(m, shared)
	if err := closeChromium(); err != nil {
		fmt.Fprintln(os.Stderr, "the browser:", err)
		code = max(code, 1)
	}
	return code
}

// sideBySide is how many stories run at once, at least: they mostly wait for what
// they watch, for processes, for a database, for the life of a lease.
var sideBySide = max(6, runtime.GOMAXPROCS(0))

// shared are the services of the stories that need no configuration of their own: in
// each a painter renders what is started there.
var shared = apptest.Share(func(c *app.Config) {
	c.Embedded = &app.EmbeddedWorker{Renderer: &Painter{}}
})

// SharedOn is the shared service on an engine. A story has a workspace of its own
// there, and never stops the service.
func SharedOn(t *testing.T, engine string) *Service {
	t.Helper()
	w := shared.On(t, engine)
	return &Service{T: t, Config: w.App.Config, App: w.App, URL: w.URL}
}

// EachShared runs a story in the shared service on each engine.
func EachShared(t *testing.T, story func(t *testing.T, svc *Service)) {
	t.Helper()
	t.Parallel()
	shared.Each(t, func(t *testing.T, w *apptest.World) { story(t, SharedOn(t, w.Engine)) })
}

// Lapse is the life of a lease where one must lapse and no clock can be moved:
// longer than a busy machine delays a heartbeat.
const Lapse = 2 * time.Second

// Moved gives a configuration a clock that the story moves ahead.
func Moved(config *app.Config) (pass func(time.Duration)) {
	var ahead atomic.Int64
	config.Skew = func() time.Duration { return time.Duration(ahead.Load()) }
	return func(d time.Duration) { ahead.Add(int64(d)) }
}

// reserved are the listeners that keep the ports of this process from others.
var reserved struct {
	sync.Mutex
	next int
	held []net.Listener
}

// FreeAddress is an address without a listener, which is given to no other caller
// until this process ends, so that the story may listen there again: its port is below
// those that the kernel hands out. Of the processes of a run, that one has a port that
// listens there at 127.0.0.2.
func FreeAddress(t *testing.T) string {
	t.Helper()
	reserved.Lock()
	defer reserved.Unlock()
	for range 10000 {
		port := 10000 + (os.Getpid()*500+reserved.next)%10000 // others begin elsewhere
		reserved.next++
		reservation, err := net.Listen("tcp", fmt.Sprintf("127.0.0.2:%d", port))
		if err != nil {
			continue
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if l, err := net.Listen("tcp", address); err == nil {
			reserved.held = append(reserved.held, reservation)
			_ = l.Close()
			return address
		}
		_ = reservation.Close()
	}
	t.Fatal("no port is free")
	return ""
}

// Each runs a story on both databases: on SQLite with files in the data folder, on
// PostgreSQL with files in an S3 store. The configuration has stores of its own and no
// worker.
func Each(t *testing.T, story func(t *testing.T, config app.Config)) {
	t.Helper()
	t.Parallel()
	EachEngine(t, story)
}

// EachEngine is each in a test that is parallel already.
func EachEngine(t *testing.T, story func(t *testing.T, config app.Config)) {
	t.Helper()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		config := app.Config{Listen: FreeAddress(t), Data: t.TempDir(), Database: url, Log: LogOf(t)}
		if strings.HasPrefix(url, "postgres") {
			config.Blobs = s3test.Address(t)
		}
		story(t, config)
	})
}

// LogOf shows the log of a story that fails, and fails one whose log has a secret.
func LogOf(t *testing.T) *slog.Logger {
	t.Helper()
	return apptest.Logger(t, t.Output())
}

// Service is a service that runs in this process.
type Service struct {
	T      *testing.T
	Config app.Config
	App    *app.App
	URL    string
	end    func() // ends Serve and waits for it; nil while it does not run
	Lone   bool   // one process serves, also on PostgreSQL
}

// Start opens a service and serves: on PostgreSQL as three processes, of which each request
// meets another one. When the story ends, the service is stopped and audited.
func Start(t *testing.T, config app.Config) *Service {
	t.Helper()
	svc := Open(t, config)
	svc.Serve()
	return svc
}

// StartLone is start of a service that is one process on PostgreSQL too: for stories of
// what each process keeps for itself, and of how it treats a connection.
func StartLone(t *testing.T, config app.Config) *Service {
	t.Helper()
	svc := Open(t, config)
	svc.Lone = true
	svc.Serve()
	return svc
}

// With is the same service for a part of a story; what a part begins, such as a
// worker, ends with it.
func (svc *Service) With(t *testing.T) *Service {
	part := *svc
	part.T = t
	return &part
}

// Open opens a service that does not serve.
func Open(t *testing.T, config app.Config) *Service {
	t.Helper()
	svc := &Service{T: t, Config: config}
	svc.reopen()
	t.Cleanup(func() {
		svc.Stop()
		svc.Audit()
		svc.close()
	})
	return svc
}

func (svc *Service) reopen() {
	svc.T.Helper()
	opened, err := app.Open(context.Background(), svc.Config)
	if err != nil {
		svc.T.Fatal(err)
	}
	svc.App = opened
}

// Serve begins to serve an open service, and again after a stop.
func (svc *Service) Serve() {
	svc.T.Helper()
	svc.App.Config.Listen = svc.Config.Listen
	serve := apptest.Serve
	if svc.App.DB.Engine() == "postgres" && !svc.Lone {
		serve = apptest.ServeBalanced
	}
	svc.URL, svc.end = serve(svc.T, svc.App)
	svc.Config.Listen = strings.TrimPrefix(svc.URL, "http://")
}

// Stop ends serving; the stores stay open.
func (svc *Service) Stop() {
	if svc.end != nil {
		svc.end()
		svc.end = nil
	}
}

func (svc *Service) close() {
	if err := svc.App.Close(); err != nil {
		svc.T.Errorf("close the service: %v", err)
	}
}

// Restart serves again, at the same address, from nothing but what is stored.
func (svc *Service) Restart() {
	svc.T.Helper()
	svc.Stop()
	svc.close()
	svc.reopen()
	svc.Serve()
}

// Audit checks every promise over the whole store.
func (svc *Service) Audit() {
	svc.T.Helper()
	apptest.Audit(svc.T, svc.App)
}

// Write runs do in a transaction of the store.
func (svc *Service) Write(do func(ctx context.Context, tx *db.Tx) error) {
	svc.T.Helper()
	ctx := context.Background()
	if err := svc.App.DB.Write(ctx, func(tx *db.Tx) error { return do(ctx, tx) }); err != nil {
		svc.T.Fatal(err)
	}
}

// Read is write for what only looks.
func (svc *Service) Read(do func(ctx context.Context, tx *db.Tx) error) {
	svc.T.Helper()
	ctx := context.Background()
	if err := svc.App.DB.Read(ctx, func(tx *db.Tx) error { return do(ctx, tx) }); err != nil {
		svc.T.Fatal(err)
	}
}

// NodeKey makes a worker's key.
func (svc *Service) NodeKey() (key identity.NewKey) {
	svc.T.Helper()
	svc.Write(func(ctx context.Context, tx *db.Tx) (err error) {
		key, err = identity.CreateNodeKey(ctx, tx, "story")
		return err
	})
	return key
}

// Worker runs a worker in this process until the story ends, or stop is called.
func (svc *Service) Worker(r worker.Renderer, options ...func(*worker.Config)) (stop func()) {
	svc.T.Helper()
	config := worker.Config{
		Farm: farmapi.NewClient(svc.URL, svc.NodeKey().Secret), Renderer: r, WorkDir: svc.T.TempDir(), Name: "story", Log: LogOf(svc.T), Jitter: rand.Float64,
	}
	for _, option := range options {
		option(&config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- worker.New(config).Run(ctx) }()
	running := true
	stop = func() {
		if !running {
			return
		}
		running = false
		cancel()
		if err := await.Next(svc.T, ended, "the worker's end"); err != nil {
			svc.T.Errorf("the worker ended with %v", err)
		}
	}
	svc.T.Cleanup(stop)
	return stop
}

// WithKey lets a worker use a key that others use as well, under a name of its own.
func (svc *Service) WithKey(key identity.NewKey, name string) func(*worker.Config) {
	return func(c *worker.Config) { c.Farm, c.Name = farmapi.NewClient(svc.URL, key.Secret), name }
}

// ManualWorker calls the workers' API step by step, as the story wants.
type ManualWorker struct {
	*farmapi.Client
	ID string
}

// ManualWorker registers a manual worker.
func (svc *Service) ManualWorker() ManualWorker {
	svc.T.Helper()
	client := farmapi.NewClient(svc.URL, svc.NodeKey().Secret)
	reply, err := client.Register(svc.T.Context(), farmapi.RegisterRequest{
		Name: "manual", BlenderVersion: "4.1.1", BlenderBuildHash: "story", Device: "GPU", DeviceName: "Story GPU", Denoise: "keep", Outputs: true, Views: true,
	})
	if err != nil {
		svc.T.Fatal(err)
	}
	return ManualWorker{client, reply.WorkerID}
}

// LeaseOne asks for one frame, without waiting for it.
func (w ManualWorker) LeaseOne(ctx context.Context) (farmapi.LeaseReply, error) {
	return w.Lease(ctx, farmapi.LeaseRequest{WorkerID: w.ID, Max: 1})
}

// ReleaseOf gives everything of a reply back.
func (w ManualWorker) ReleaseOf(got farmapi.LeaseReply) farmapi.ReleaseRequest {
	r := farmapi.ReleaseRequest{WorkerID: w.ID}
	for _, l := range got.Leases {
		r.Leases = append(r.Leases, farmapi.Held{LeaseID: l.LeaseID, Attempt: l.Attempt})
	}
	return r
}

// Frames reads the accepted frames of a job.
func (svc *Service) Frames(jobID string) (frames []query.Frame) {
	svc.T.Helper()
	svc.Read(func(ctx context.Context, tx *db.Tx) error {
		rows, err := tx.FramesOf(ctx, jobID)
		for _, r := range rows {
			f, missing := tx.FrameGet(ctx, query.FrameGetParams{JobID: jobID, Frame: r.Frame})
			frames, err = append(frames, f), errors.Join(err, missing)
		}
		return err
	})
	return frames
}

// WantMoney checks a workspace's balance, in cents, and what its ledger has seen
// happen, such as "credit", "reserve", "capture", oldest first.
func (svc *Service) WantMoney(workspaceID string, available int64, kinds ...wallet.Kind) {
	svc.T.Helper()
	var balance wallet.Balance
	var got []wallet.Kind
	svc.Read(func(ctx context.Context, tx *db.Tx) (err error) {
		if balance, err = wallet.Get(ctx, tx, workspaceID); err != nil {
			return err
		}
		entries, err := tx.LedgerOfWorkspace(ctx, query.LedgerOfWorkspaceParams{WorkspaceID: workspaceID, Before: id.Behind(id.Transaction), Max: 1000})
		for _, e := range slices.Backward(entries) {
			got = append(got, wallet.Kind(e.Kind))
		}
		return err
	})
	if want := (wallet.Balance{AvailableCents: available}); balance != want {
		svc.T.Errorf("the wallet has %+v, want %+v", balance, want)
	}
	if !slices.Equal(got, kinds) {
		svc.T.Errorf("the ledger says %v, want %v", got, kinds)
	}
}
