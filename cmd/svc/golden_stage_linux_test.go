package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// stage is the service that all verbs are shown with: one workspace with a job in each
// state, keys and a ledger; a worker that has left, a dead letter, a benchmark result.
//
// Its clock is hours behind, so that what it has stored is always "3 h ago".
type stage struct {
	t      *testing.T
	app    *app.App
	url    string
	folder string            // of all runs; its name always has the same length
	admin  string            // a backup, for svc admin
	names  map[string]string // what {NAME} in a command line means
	main   apptest.Workspace
	ahead  atomic.Int64 // of the clock, a time.Duration
	runs   atomic.Int64
}

// clocks of a stage: while it is filled, and then, when its worker has left. On a slow
// machine most of an hour may pass before what was stored is "4 h ago".
const (
	filling = -3*time.Hour - 8*time.Minute
	playing = -3*time.Hour - 2*time.Minute
)

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, names: map[string]string{}, folder: fmt.Sprintf("/tmp/svc-golden-%010d", rand.IntN(1e10))}
	if err := os.Mkdir(s.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.folder) })
	s.ahead.Store(int64(filling))
	s.app, s.url = apptest.Start(t, app.Config{AllowSynthetic: true, Skew: func() time.Duration { return time.Duration(s.ahead.Load()) }})
	s.main = (&apptest.World{App: s.app, URL: s.url}).WorkspaceOf(t, "anna@example.org", 500)
	s.names["URL"], s.names["LISTEN"] = s.url, strings.TrimPrefix(s.url, "http://")
	s.names["WORKSPACE"], s.names["EMAIL"], s.names["KEY"] = s.main.ID, s.main.Email, s.main.Agent.KeyID

	caller := s.caller(s.main)
	stop := s.worker(t)
	s.names["COMPLETED"] = s.order(caller, 3)
	s.ended(caller, s.names["COMPLETED"])
	stop()
	s.names["FAILED"] = s.order(caller, 2)
	s.fail(s.names["FAILED"])
	s.names["QUEUED"] = s.order(caller, 24)
	s.names["CANCELLED"] = s.order(caller, 1)
	if _, err := caller.Cancel(t.Context(), s.names["CANCELLED"]); err != nil {
		t.Fatal(err)
	}
	s.operatorsThings()
	s.ahead.Store(int64(playing))
	s.fetch()

	s.admin = filepath.Join(s.folder, "backup")
	if _, breaches, err := app.Backup(t.Context(), s.app.Config, s.admin, func(string, int64, int64) {}); err != nil || len(breaches) > 0 {
		t.Fatal(breaches, err)
	}
	return s
}

// operatorsThings makes what only operators see.
func (s *stage) operatorsThings() {
	s.t.Helper()
	ctx := s.t.Context()
	fleet, err := leaderboardtest.NewFleet(ctx, s.app.Board(s.app.Links(s.url)))
	if err != nil {
		s.t.Fatal(err)
	}
	submitted, err := fleet.Submit(ctx, leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9000, time.Now().Add(filling)))
	if err != nil {
		s.t.Fatal(err)
	}
	s.names["RESULT"] = submitted.ResultID
	s.write(func(ctx context.Context, tx *db.Tx) error {
		// For a queue that nothing in the service claims from.
		queue := lease.Queue{Name: "golden", MaxFailures: 1, Life: time.Hour}
		if err := lease.Add(ctx, tx, queue.Name, "UPL-golden", 0, time.Time{}); err != nil {
			return err
		}
		claimed, err := lease.Claim(ctx, tx, queue.Name, "golden", 1, time.Hour)
		if err != nil {
			return err
		}
		s.names["DEAD"] = claimed[0].ID
		_, err = queue.Fail(ctx, tx, claimed[0], "error", "the mail server at mail.example.com does not answer, and has not for a day")
		return err
	})
	s.write(func(ctx context.Context, tx *db.Tx) error {
		revoked, err := identity.CreateAgentKey(ctx, tx, s.main.ID, identity.AgentTerms{Name: "an old laptop of Anna's, with a long name"})
		if err != nil {
			return err
		}
		limit := int64(500)
		if _, err := identity.CreateAgentKey(ctx, tx, s.main.ID, identity.AgentTerms{Name: "nightly", SpendLimitCents: &limit}); err != nil {
			return err
		}
		dashboard, err := identity.CreateOperatorKey(ctx, tx, "dashboard", identity.OperatorReads, 0)
		if err != nil {
			return err
		}
		s.names["OPERATOR_KEY"] = dashboard.KeyID
		return identity.Revoke(ctx, tx, revoked.KeyID)
	})
}

// fetch downloads the completed job once, for svc verify.
func (s *stage) fetch() {
	s.t.Helper()
	download := exec.Command(apptest.Binary(s.t), "download", s.names["COMPLETED"], "--out", filepath.Join(s.folder, "template", "out"))
	download.Env = []string{"HOME=" + s.folder, "SVC_SERVER=" + s.url, "SVC_KEY=" + s.main.Agent.Secret}
	if said, err := download.CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, said)
	}
	for name, content := range map[string][]byte{"scene.blend": demo.Scene(), "note.blend": []byte("no scene at all")} {
		if err := os.WriteFile(filepath.Join(s.folder, "template", name), content, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(s.folder, "template", "revisions"), os.DirFS("../../internal/render/contentkey/testdata")); err != nil {
		s.t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(s.folder, "template", "shot"), os.DirFS("../../internal/render/scenefiles/testdata/kinds")); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) write(do func(ctx context.Context, tx *db.Tx) error) {
	s.t.Helper()
	ctx := s.t.Context()
	if err := s.app.DB.Write(ctx, func(tx *db.Tx) error { return do(ctx, tx) }); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) caller(w apptest.Workspace) *client.Client {
	s.t.Helper()
	c, err := client.New(s.url, w.Agent.Secret)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// order starts a job of so many frames and returns its id.
func (s *stage) order(c *client.Client, frames int) string {
	s.t.Helper()
	ctx, first := s.t.Context(), 1
	q, err := c.Inspect(ctx, client.InspectRequest{Filename: "scene.blend", Body: bytes.NewReader(demo.Scene()), FrameStart: &first, FrameEnd: &frames})
	if err != nil {
		s.t.Fatal(err)
	}
	started, err := c.Start(ctx, q, client.StartRequest{LegalAcceptance: client.LegalV1})
	if err != nil {
		s.t.Fatal(err)
	}
	return started.JobID
}

func (s *stage) ended(c *client.Client, jobID string) {
	s.t.Helper()
	if _, err := c.Wait(s.t.Context(), jobID, nil); err != nil {
		s.t.Fatal(err)
	}
}

// nodeKey makes a key for a worker.
func (s *stage) nodeKey(name string) (key identity.NewKey) {
	s.t.Helper()
	s.write(func(ctx context.Context, tx *db.Tx) (err error) {
		key, err = identity.CreateNodeKey(ctx, tx, name)
		return err
	})
	return key
}

// begin starts the workers of a phase.
func (s *stage) begin(when phase) {
	s.t.Helper()
	switch when {
	case alone:
		if _, err := s.caller(s.main).Cancel(s.t.Context(), s.names["QUEUED"]); err != nil {
			s.t.Fatal(err)
		}
	case online:
		s.worker(s.t)
	}
}

// worker paints pictures until stop, or the test's end.
func (s *stage) worker(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	painter := worker.New(worker.Config{
		Farm: farmapi.NewClient(s.url, s.nodeKey("rack-1").Secret), Renderer: synthetic.Renderer{}, WorkDir: t.TempDir(), Name: "rack-1",
		Log: slog.New(slog.DiscardHandler), Jitter: rand.Float64,
	})
	ended := make(chan error, 1)
	go func() { ended <- painter.Run(ctx) }()
	running := true
	stop = func() {
		if !running {
			return
		}
		running = false
		cancel()
		if err := await.Next(t, ended, "the worker's end"); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// fail ends a job as a worker's failures would, once one has claimed a frame.
func (s *stage) fail(jobID string) {
	s.t.Helper()
	ctx := s.t.Context()
	farm := farmapi.NewClient(s.url, s.nodeKey("rack-2").Secret)
	me, err := farm.Register(ctx, farmapi.RegisterRequest{
		Name: "rack-2", BlenderVersion: "4.1.1", BlenderBuildHash: "40a5e739e270", Device: "GPU", DeviceName: "NVIDIA GeForce RTX 4090", Denoise: "keep", Sandbox: "none",
		Lacks: []buildoption.Option{buildoption.OSL, buildoption.USD}, Outputs: true,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.names["WORKER"] = me.WorkerID
	got, err := farm.Lease(ctx, farmapi.LeaseRequest{WorkerID: me.WorkerID, Max: 1})
	if err != nil || len(got.Leases) != 1 {
		s.t.Fatal(got, err)
	}
	jobs := &job.Jobs{DB: s.app.DB, Log: slog.New(slog.DiscardHandler)}
	s.write(func(ctx context.Context, tx *db.Tx) error {
		record, err := job.Read(ctx, tx, jobID)
		if err != nil {
			return err
		}
		return jobs.Fail(ctx, tx, record, fault.NoProgress, "Frame 1 made no progress.")
	})
}

// take is one run of a command line, in a folder of its own.
type take struct {
	*stage
	t      *testing.T
	folder string
	env    map[string]string
	names  map[string]string
	ready  func() // waits until something may be typed; nil for at once
}

func (s *stage) take(t *testing.T) *take {
	t.Helper()
	folder := fmt.Sprintf("%s/%04d", s.folder, s.runs.Add(1))
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(s.folder, "template"))); err != nil {
		t.Fatal(err)
	}
	return &take{s, t, folder, map[string]string{
		"HOME": folder, "PATH": "/nowhere", "TERM": "xterm-256color", "PWD": folder,
		"SVC_SERVER": s.url, "SVC_KEY": s.main.Agent.Secret, "SVC_DATA": s.admin, "SUDO_USER": "ada",
	}, maps.Clone(s.names), nil}
}

// command is the program with the words of a command line. Words in ” have blanks.
func (r *take) command(line string) *exec.Cmd {
	for name, value := range r.names {
		line = strings.ReplaceAll(line, "{"+name+"}", value)
	}
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	command := exec.Command(apptest.Binary(r.t), words...)
	command.Dir = r.folder
	for name, value := range r.env {
		command.Env = append(command.Env, name+"="+value)
	}
	return command
}
