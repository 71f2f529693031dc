package story_test

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
	"svc.example/internal/test/s3test"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// TestMain also makes this binary the server and worker processes that stories
// kill, and the inner half of workers' sandboxes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.ExecName {
		os.Exit(sandbox.Exec(os.Args[2:]))
	}
	switch os.Getenv(roleVariable) {
	case serverRole:
		os.Exit(serverMain())
	case workerRole:
		os.Exit(workerMain())
	}
	flag.Parse()
	if !parallelGiven() {
		if err := flag.Set("test.parallel", strconv.Itoa(sideBySide)); err != nil {
			panic(err)
		}
	}
	os.Exit(apptest.Run(m, shared))
}

// sideBySide is how many stories run at once, at least: they mostly wait for what
// they watch, for processes, for a database, for the life of a lease.
var sideBySide = max(6, runtime.GOMAXPROCS(0))

// parallelGiven reports whether the command line says how many tests run at once.
func parallelGiven() (given bool) {
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	return given
}

// shared are the services of the stories that need no configuration of their own: in
// each a painter renders what is started there.
var shared = apptest.Share(func(c *app.Config) {
	c.Embedded = &app.EmbeddedWorker{Renderer: &painter{}}
})

// sharedOn is the shared service on an engine. A story has a workspace of its own
// there, and never stops the service.
func sharedOn(t *testing.T, engine string) *service {
	t.Helper()
	w := shared.On(t, engine)
	return &service{t: t, config: w.App.Config, app: w.App, url: w.URL}
}

// eachShared runs a story in the shared service on each engine.
func eachShared(t *testing.T, story func(t *testing.T, svc *service)) {
	t.Helper()
	t.Parallel()
	shared.Each(t, func(t *testing.T, w *apptest.World) { story(t, sharedOn(t, w.Engine)) })
}

// lapse is the life of a lease where one must lapse and no clock can be moved:
// longer than a busy machine delays a heartbeat.
const lapse = 2 * time.Second

// moved gives a configuration a clock that the story moves ahead.
func moved(config *app.Config) (pass func(time.Duration)) {
	var ahead atomic.Int64
	config.Skew = func() time.Duration { return time.Duration(ahead.Load()) }
	return func(d time.Duration) { ahead.Add(int64(d)) }
}

// ports counts the ports that freeAddress has tried.
var ports atomic.Int64

// freeAddress is an address on which nobody listens, and that nobody else is given
// until the story listens there, or listens there again: its port is below those
// that the kernel hands out.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		// Another run beside this one begins elsewhere.
		address := fmt.Sprintf("127.0.0.1:%d", 10000+(int64(os.Getpid())*500+ports.Add(1))%10000)
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// each runs a story on both databases: on SQLite with files in the data folder, on
// PostgreSQL with files in an S3 store. The configuration has stores of its own and no
// worker.
func each(t *testing.T, story func(t *testing.T, config app.Config)) {
	t.Helper()
	t.Parallel()
	eachEngine(t, story)
}

// eachEngine is each in a test that is parallel already.
func eachEngine(t *testing.T, story func(t *testing.T, config app.Config)) {
	t.Helper()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		config := app.Config{Listen: freeAddress(t), Data: t.TempDir(), Database: url, Log: logOf(t)}
		if strings.HasPrefix(url, "postgres") {
			config.Blobs = s3test.Address(t)
		}
		story(t, config)
	})
}

// logOf shows the log of a story that fails, and fails one whose log has a secret.
func logOf(t *testing.T) *slog.Logger {
	t.Helper()
	return apptest.Logger(t, t.Output())
}

// service is a service that runs in this process.
type service struct {
	t      *testing.T
	config app.Config
	app    *app.App
	url    string
	end    func() // ends Serve and waits for it; nil while it does not run
	lone   bool   // one process serves, also on PostgreSQL
}

// start opens a service and serves: on PostgreSQL as three processes, of which each request
// meets another one. When the story ends, the service is stopped and audited.
func start(t *testing.T, config app.Config) *service {
	t.Helper()
	svc := open(t, config)
	svc.serve()
	return svc
}

// startLone is start of a service that is one process on PostgreSQL too: for stories of
// what each process keeps for itself, and of how it treats a connection.
func startLone(t *testing.T, config app.Config) *service {
	t.Helper()
	svc := open(t, config)
	svc.lone = true
	svc.serve()
	return svc
}

// with is the same service for a part of a story; what a part begins, such as a
// worker, ends with it.
func (svc *service) with(t *testing.T) *service {
	part := *svc
	part.t = t
	return &part
}

// open opens a service that does not serve.
func open(t *testing.T, config app.Config) *service {
	t.Helper()
	svc := &service{t: t, config: config}
	svc.reopen()
	t.Cleanup(func() {
		svc.stop()
		svc.audit()
		svc.close()
	})
	return svc
}

func (svc *service) reopen() {
	svc.t.Helper()
	opened, err := app.Open(context.Background(), svc.config)
	if err != nil {
		svc.t.Fatal(err)
	}
	svc.app = opened
}

func (svc *service) serve() {
	svc.t.Helper()
	svc.app.Config.Listen = svc.config.Listen
	serve := apptest.Serve
	if svc.app.DB.Engine() == "postgres" && !svc.lone {
		serve = apptest.ServeBalanced
	}
	svc.url, svc.end = serve(svc.t, svc.app)
	svc.config.Listen = strings.TrimPrefix(svc.url, "http://")
}

// stop ends serving; the stores stay open.
func (svc *service) stop() {
	if svc.end != nil {
		svc.end()
		svc.end = nil
	}
}

func (svc *service) close() {
	if err := svc.app.Close(); err != nil {
		svc.t.Errorf("close the service: %v", err)
	}
}

// restart serves again, at the same address, from nothing but what is stored.
func (svc *service) restart() {
	svc.t.Helper()
	svc.stop()
	svc.close()
	svc.reopen()
	svc.serve()
}

// audit checks every promise over the whole store.
func (svc *service) audit() {
	svc.t.Helper()
	apptest.Audit(svc.t, svc.app)
}

// write runs do in a transaction of the store.
func (svc *service) write(do func(ctx context.Context, tx *db.Tx) error) {
	svc.t.Helper()
	ctx := context.Background()
	if err := svc.app.DB.Write(ctx, func(tx *db.Tx) error { return do(ctx, tx) }); err != nil {
		svc.t.Fatal(err)
	}
}

// read is write for what only looks.
func (svc *service) read(do func(ctx context.Context, tx *db.Tx) error) {
	svc.t.Helper()
	ctx := context.Background()
	if err := svc.app.DB.Read(ctx, func(tx *db.Tx) error { return do(ctx, tx) }); err != nil {
		svc.t.Fatal(err)
	}
}

// nodeKey makes a worker's key.
func (svc *service) nodeKey() (key identity.NewKey) {
	svc.t.Helper()
	svc.write(func(ctx context.Context, tx *db.Tx) (err error) {
		key, err = identity.CreateNodeKey(ctx, tx, "story")
		return err
	})
	return key
}

// worker runs a worker in this process until the story ends, or stop is called.
func (svc *service) worker(r worker.Renderer, options ...func(*worker.Config)) (stop func()) {
	svc.t.Helper()
	config := worker.Config{
		Farm: farmapi.NewClient(svc.url, svc.nodeKey().Secret), Renderer: r, WorkDir: svc.t.TempDir(), Name: "story", Log: logOf(svc.t), Jitter: rand.Float64,
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
		if err := await.Next(svc.t, ended, "the worker's end"); err != nil {
			svc.t.Errorf("the worker ended with %v", err)
		}
	}
	svc.t.Cleanup(stop)
	return stop
}

// withKey lets a worker use a key that others use as well, under a name of its own.
func (svc *service) withKey(key identity.NewKey, name string) func(*worker.Config) {
	return func(c *worker.Config) { c.Farm, c.Name = farmapi.NewClient(svc.url, key.Secret), name }
}

// manualWorker calls the workers' API step by step, as the story wants.
type manualWorker struct {
	*farmapi.Client
	id string
}

func (svc *service) manualWorker() manualWorker {
	svc.t.Helper()
	client := farmapi.NewClient(svc.url, svc.nodeKey().Secret)
	reply, err := client.Register(svc.t.Context(), farmapi.RegisterRequest{
		Name: "manual", BlenderVersion: "4.1.1", BlenderBuildHash: "story", Device: "GPU", DeviceName: "Story GPU", Denoise: "keep",
	})
	if err != nil {
		svc.t.Fatal(err)
	}
	return manualWorker{client, reply.WorkerID}
}

// lease asks for one frame, without waiting for it.
func (w manualWorker) lease(ctx context.Context) (farmapi.LeaseReply, error) {
	return w.Lease(ctx, farmapi.LeaseRequest{WorkerID: w.id, Max: 1})
}

// release gives everything of a reply back.
func (w manualWorker) release(got farmapi.LeaseReply) farmapi.ReleaseRequest {
	r := farmapi.ReleaseRequest{WorkerID: w.id}
	for _, l := range got.Leases {
		r.Leases = append(r.Leases, farmapi.Held{LeaseID: l.LeaseID, Attempt: l.Attempt})
	}
	return r
}

// frames reads the accepted frames of a job.
func (svc *service) frames(jobID string) (frames []query.Frame) {
	svc.t.Helper()
	svc.read(func(ctx context.Context, tx *db.Tx) error {
		rows, err := tx.FramesOf(ctx, jobID)
		for _, r := range rows {
			f, missing := tx.FrameGet(ctx, query.FrameGetParams{JobID: jobID, Frame: r.Frame})
			frames, err = append(frames, f), errors.Join(err, missing)
		}
		return err
	})
	return frames
}

// wantMoney checks a workspace's balance, in cents, and what its ledger has seen
// happen, such as "credit", "reserve", "capture", oldest first.
func (svc *service) wantMoney(workspaceID string, available int64, kinds ...wallet.Kind) {
	svc.t.Helper()
	var balance wallet.Balance
	var got []wallet.Kind
	svc.read(func(ctx context.Context, tx *db.Tx) (err error) {
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
		svc.t.Errorf("the wallet has %+v, want %+v", balance, want)
	}
	if !slices.Equal(got, kinds) {
		svc.t.Errorf("the ledger says %v, want %v", got, kinds)
	}
}
