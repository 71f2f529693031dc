package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/savedfilter"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// webhookSecret is what the receivers of the scripts verify with.
const webhookSecret = "whsec_c2VjcmV0LW9mLXRoZS1zY3JpcHRz"

// TestAccount runs the scripts in testdata/account. Each has a service of its own with a
// workspace of 1 USD, whose keys are AGENT_KEY and ACCOUNT_KEY; SVC_KEY is the first.
func TestAccount(t *testing.T) {
	t.Parallel()
	testscript.Run(t, accountScripts(t))
}

func accountScripts(t *testing.T) testscript.Params {
	return testscript.Params{
		Condition: native,
		Dir:       "testdata/account",
		Setup: func(e *testscript.Env) error {
			started, url := apptest.Start(t, app.Config{AllowSynthetic: true, OperatorAPI: true})
			s := &scriptService{t: t, app: started, url: url}
			w := (&apptest.World{App: started, URL: url}).Workspace(t, 100)
			s.agent, s.err = client.New(url, w.Agent.Secret)
			e.Values[serviceKey{}] = s
			e.Setenv("SVC_SERVER", url)
			e.Setenv("SVC_KEY", w.Agent.Secret)
			e.Setenv("AGENT_KEY", w.Agent.Secret)
			e.Setenv("ACCOUNT_KEY", w.Account.Secret)
			e.Setenv("WORKSPACE", w.ID)
			e.Setenv("SVC_WEBHOOK_SECRET", webhookSecret)
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("SVC_DATA", started.Config.Data)
			key, err := operatorKey(started.DB)
			if err != nil {
				return err
			}
			e.Setenv("OPERATOR_KEY", key)
			s.workspace, s.email = w.ID, w.Email
			if s.session, s.err = sessionOf(started.DB, w.Email); s.err != nil {
				return s.err
			}
			e.Setenv("PERSON_SESSION", s.session)
			return s.err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode": exitCode,
			"job":      func(ts *testscript.TestScript, _ bool, args []string) { serviceOf(ts).start(ts, args[0], args[1]) },
			"scene": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), demo.Scene(), 0o644))
			},
			"project": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS("../../internal/render/scenefiles/testdata/"+args[0])))
			},
			"worker":      func(ts *testscript.TestScript, _ bool, _ []string) { serviceOf(ts).work(ts) },
			"ended":       func(ts *testscript.TestScript, _ bool, args []string) { serviceOf(ts).ended(ts, args[0]) },
			"filter":      func(ts *testscript.TestScript, _ bool, args []string) { serviceOf(ts).filter(ts, args[0], args[1]) },
			"fail":        func(ts *testscript.TestScript, _ bool, args []string) { serviceOf(ts).fail(ts, args[0]) },
			"receiver":    func(ts *testscript.TestScript, _ bool, args []string) { serviceOf(ts).receiver(ts, args[0]) },
			"silent":      func(ts *testscript.TestScript, _ bool, args []string) { serviceOf(ts).silent(ts, args[0]) },
			"unavailable": func(ts *testscript.TestScript, _ bool, args []string) { serviceOf(ts).unavailable(ts, args[0]) },
			"mode":        mode,
			"stale":       stale,
			"device":      func(ts *testscript.TestScript, _ bool, args []string) { serviceOf(ts).device(ts, args[0]) },
			"revokeall":   func(ts *testscript.TestScript, _ bool, _ []string) { serviceOf(ts).revokeAll(ts) },
			"received":    func(ts *testscript.TestScript, _ bool, args []string) { serviceOf(ts).received(ts, args[0]) },
		},
	}
}

// serviceKey is where a script's service is kept.
type serviceKey struct{}

// scriptService is the service of one script.
type scriptService struct {
	t                  *testing.T
	app                *app.App
	url                string
	agent              *client.Client
	workspace, session string       // of the person whose keys the script has
	email              string       // of the same person
	verified           atomic.Int64 // webhooks with a good signature, or requests to a silent server
	err                error
}

func serviceOf(ts *testscript.TestScript) *scriptService {
	return ts.Value(serviceKey{}).(*scriptService)
}

// start is job NAME FRAMES: it starts a job and keeps its id in the variable NAME.
func (s *scriptService) start(ts *testscript.TestScript, name, count string) {
	frames, err := strconv.Atoi(count)
	ts.Check(err)
	ctx, first := context.Background(), 1
	q, err := s.agent.Inspect(ctx, client.InspectRequest{Filename: "scene.blend", Body: bytes.NewReader(demo.Scene()), FrameStart: &first, FrameEnd: &frames})
	ts.Check(err)
	started, err := s.agent.Start(ctx, q, client.StartRequest{LegalAcceptance: client.LegalV1})
	ts.Check(err)
	ts.Setenv(name, started.JobID)
}

// filter is filter NAME FRAMES: the person saves a search for queued jobs that have the frames,
// and has a key of their own in OWN_KEY.
func (s *scriptService) filter(ts *testscript.TestScript, name, frames string) {
	var key identity.NewKey
	ctx := context.Background()
	ts.Check(s.app.DB.Write(ctx, func(tx *db.Tx) error {
		person, err := identity.CreateWorkspace(ctx, tx, s.email)
		if err != nil {
			return err
		}
		who := identity.Principal{WorkspaceID: person.WorkspaceID, Credential: identity.Credential{Kind: identity.SessionCredential, PersonID: person.PersonID}}
		if _, err = savedfilter.Save(ctx, tx, who, savedfilter.Filter{Name: name, Status: job.Queued, Search: job.Filter{Frames: frames}}); err == nil {
			key, err = identity.CreateOwnAccountKey(ctx, tx, who, "own", false)
		}
		return err
	}))
	ts.Setenv("OWN_KEY", key.Secret)
}

// operatorKey makes an operator key that acts.
func operatorKey(d *db.DB) (string, error) {
	var key identity.NewKey
	err := d.Write(context.Background(), func(tx *db.Tx) (err error) {
		key, err = identity.CreateOperatorKey(context.Background(), tx, "script", identity.OperatorWrites, 0)
		return err
	})
	return key.Secret, err
}

// farm is a client of the workers' API with a new key.
func (s *scriptService) farm(ts *testscript.TestScript) *farmapi.Client {
	var key identity.NewKey
	ctx := context.Background()
	ts.Check(s.app.DB.Write(ctx, func(tx *db.Tx) (err error) {
		key, err = identity.CreateNodeKey(ctx, tx, "script")
		return err
	}))
	return farmapi.NewClient(s.url, key.Secret)
}

// work is worker: it paints pictures until the script ends.
func (s *scriptService) work(ts *testscript.TestScript) {
	ctx, cancel := context.WithCancel(context.Background())
	painter := worker.New(worker.Config{
		Farm: s.farm(ts), Renderer: synthetic.Renderer{}, WorkDir: s.t.TempDir(), Name: "painter",
		Log: slog.New(slog.DiscardHandler), Jitter: rand.Float64,
	})
	ended := make(chan error, 1)
	go func() { ended <- painter.Run(ctx) }()
	ts.Defer(func() {
		cancel()
		if err := await.Next(s.t, ended, "the worker's end"); err != nil {
			s.t.Error(err)
		}
	})
}

// ended waits for a job's end.
func (s *scriptService) ended(ts *testscript.TestScript, jobID string) {
	_, err := s.agent.Wait(context.Background(), jobID, nil)
	ts.Check(err)
}

// fail ends a job as its workers' failures would, once one has claimed a frame.
func (s *scriptService) fail(ts *testscript.TestScript, jobID string) {
	ctx := context.Background()
	farm := s.farm(ts)
	me, err := farm.Register(ctx, farmapi.RegisterRequest{
		Name: "script", BlenderVersion: "4.1.1", BlenderBuildHash: "script", Device: "GPU", DeviceName: "Script GPU", Denoise: "keep",
	})
	ts.Check(err)
	_, err = farm.Lease(ctx, farmapi.LeaseRequest{WorkerID: me.WorkerID, Max: 1})
	ts.Check(err)
	jobs := &job.Jobs{DB: s.app.DB, Log: slog.New(slog.DiscardHandler)}
	ts.Check(s.app.DB.Write(ctx, func(tx *db.Tx) error {
		record, err := job.Read(ctx, tx, jobID)
		if err != nil {
			return err
		}
		return jobs.Fail(ctx, tx, record, fault.NoProgress, "Frame 1 made no progress.")
	}))
}

// receiver NAME starts a receiver of webhooks and keeps its address in the variable. It
// counts the calls with a good signature, and answers 204 to those, 400 to others.
func (s *scriptService) receiver(ts *testscript.TestScript, name string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if _, err := client.VerifyWebhook(webhookSecret, r.Header, body, time.Now()); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.verified.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}))
	ts.Defer(server.Close)
	ts.Setenv(name, server.URL)
}

// silent NAME starts a server that takes requests and never answers. It counts them as
// received.
func (s *scriptService) silent(ts *testscript.TestScript, name string) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s.verified.Add(1)
		<-r.Context().Done()
	}))
	ts.Defer(server.Close)
	ts.Setenv(name, server.URL)
}

// unavailable NAME starts a server that answers like a proxy without its service. It
// counts requests as received.
func (s *scriptService) unavailable(ts *testscript.TestScript, name string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.verified.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	ts.Defer(server.Close)
	ts.Setenv(name, server.URL)
}

// received COUNT waits until the receiver, or the silent server, got so many requests.
func (s *scriptService) received(ts *testscript.TestScript, count string) {
	want, err := strconv.ParseInt(count, 10, 64)
	ts.Check(err)
	await.Until(s.t, "webhooks at the receiver", func() bool { return s.verified.Load() >= want })
}
