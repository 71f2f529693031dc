package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// realService is a real service with one workspace, and a client for each kind of key.
type realService struct {
	t              *testing.T
	world          *apptest.World
	workspace      apptest.Workspace
	agent, account *client.Client
}

func startReal(t *testing.T) *realService {
	t.Helper()
	started, address := apptest.Start(t, app.Config{Database: dbtest.URL(t, "sqlite"), AllowSynthetic: true})
	r := &realService{t: t, world: &apptest.World{App: started, URL: address, Engine: "sqlite"}}
	r.workspace = r.world.Workspace(t, 100)
	r.agent, r.account = r.client(r.workspace.Agent.Secret), r.client(r.workspace.Account.Secret)
	return r
}

func (r *realService) client(key string) *client.Client {
	r.t.Helper()
	c, err := client.New(r.world.URL, key)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// start starts a job of so many frames.
func (r *realService) start(frames int) *client.Job {
	r.t.Helper()
	ctx := r.t.Context()
	first := 1
	q, err := r.agent.Inspect(ctx, client.InspectRequest{Filename: "scene.blend", Body: bytes.NewReader(demo.Scene()), FrameStart: &first, FrameEnd: &frames})
	if err != nil {
		r.t.Fatal(err)
	}
	job, err := r.agent.Start(ctx, q, client.StartRequest{LegalAcceptance: client.LegalV1})
	if err != nil {
		r.t.Fatal(err)
	}
	return job
}

func (r *realService) cancel(jobID string) {
	r.t.Helper()
	if _, err := r.agent.Cancel(r.t.Context(), jobID); err != nil {
		r.t.Fatal(err)
	}
}

// work runs a worker that paints pictures, until the test ends.
func (r *realService) work() {
	r.t.Helper()
	var key identity.NewKey
	ctx, cancel := context.WithCancel(context.Background())
	err := r.world.App.DB.Write(ctx, func(tx *db.Tx) (err error) {
		key, err = identity.CreateNodeKey(ctx, tx, "test")
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	painter := worker.New(worker.Config{
		Farm: farmapi.NewClient(r.world.URL, key.Secret), Renderer: synthetic.Renderer{}, WorkDir: r.t.TempDir(), Name: "painter",
		Log: r.world.App.Config.Log, Jitter: rand.Float64,
	})
	ended := make(chan error, 1)
	go func() { ended <- painter.Run(ctx) }()
	r.t.Cleanup(func() {
		cancel()
		if err := await.Next(r.t, ended, "the worker's end"); err != nil {
			r.t.Error(err)
		}
	})
}

// TestBothKindsOfKeysReadTheWorkspacesJobs follows a job to its end and reads what it left.
func TestBothKindsOfKeysReadTheWorkspacesJobs(t *testing.T) {
	t.Parallel()
	r := startReal(t)
	r.work()
	job := r.start(2)
	for name, c := range map[string]*client.Client{"agent": r.agent, "account": r.account} {
		ctx := t.Context()
		done, err := c.Wait(ctx, job.JobID, nil)
		if err != nil || done.Status != client.StatusCompleted {
			t.Fatalf("%s key: %+v, %v", name, done, err)
		}
		frames, err := c.Frames(ctx, job.JobID)
		if err != nil || len(frames) != 2 || frames[1].Frame != 2 || frames[1].Width == 0 || frames[1].SHA256 == "" {
			t.Errorf("%s key: frames %+v, %v", name, frames, err)
		}
		picture, err := c.FramePreview(ctx, job.JobID, 2)
		if err != nil || http.DetectContentType(picture) != "image/jpeg" {
			t.Errorf("%s key: preview of %d bytes, %v", name, len(picture), err)
		}
		var refused *client.Error
		if _, err := c.FramePreview(ctx, job.JobID, 3); !errors.As(err, &refused) || refused.Code != "frame_not_found" {
			t.Errorf("%s key: a frame that is not there: %v", name, err)
		}
		log, err := c.Log(ctx, job.JobID)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(log)
		if err = errors.Join(err, log.Close()); err != nil || !strings.Contains(string(text), "frame 2") {
			t.Errorf("%s key: log %q, %v", name, text, err)
		}
		if _, err := c.Artifact(ctx, job.JobID); err != nil {
			t.Errorf("%s key: %v", name, err)
		}
		wallet, err := c.Wallet(ctx)
		if err != nil || wallet.AvailableCents != 98 || wallet.WorkspaceID != r.workspace.ID {
			t.Errorf("%s key: wallet %+v, %v", name, wallet, err)
		}
	}
}

func TestListsAreReadPageByPageAsFarAsTheCallerGoes(t *testing.T) {
	t.Parallel()
	r := startReal(t)
	var ids []string
	for range 3 {
		ids = append(ids, r.start(1).JobID)
	}
	r.cancel(ids[1])
	slices.Reverse(ids) // the newest first
	for _, c := range []*client.Client{r.agent, r.account} {
		for request, want := range map[client.JobsRequest][]string{
			{}: ids, {Limit: 2}: ids[:2], {Limit: 3}: ids, {Status: client.StatusCancelled}: ids[1:2], {Status: client.StatusFailed}: nil,
		} {
			var got []string
			for job, err := range c.Jobs(t.Context(), request) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, job.JobID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: %v, want %v", request, got, want)
			}
		}
		var kinds []string
		for entry, err := range c.Transactions(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, entry.Kind)
		}
		if got := strings.Join(kinds, " "); got != "release reserve reserve reserve credit" {
			t.Errorf("the ledger is %s", got)
		}
	}
	for _, err := range r.client("svc_agent_nobody").Jobs(t.Context(), client.JobsRequest{}) {
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Status != 401 {
			t.Errorf("with a wrong key: %v", err)
		}
	}
}

func TestAnAccountKeyListsAndRevokesAgentKeys(t *testing.T) {
	t.Parallel()
	r := startReal(t)
	keys, err := r.account.AgentKeys(t.Context())
	if err != nil || len(keys) != 1 || keys[0].RevokedAt != nil {
		t.Fatalf("listed %+v, %v", keys, err)
	}
	if err := r.account.RevokeAgentKey(t.Context(), keys[0].KeyID); err != nil {
		t.Error(err)
	}
	var refused *client.Error
	if _, err := r.agent.Wallet(t.Context()); !errors.As(err, &refused) || refused.Status != 401 {
		t.Errorf("the revoked key: %v", err)
	}
	if err := r.account.RevokeAgentKey(t.Context(), "key_"+strings.Repeat("0", 32)); !errors.As(err, &refused) || refused.Code != "key_not_found" {
		t.Errorf("an unknown key: %v", err)
	}
}

func TestDiscoveryNeedsNoKey(t *testing.T) {
	t.Parallel()
	c := startReal(t).client("")
	health, err := c.Health(t.Context())
	if err != nil || health.Service == "" || health.Time.IsZero() {
		t.Errorf("%+v, %v", health, err)
	}
	limits, err := c.Limits(t.Context())
	if err != nil || limits.FrameCount.Maximum != 10000 || limits.MaximumUploadBytes != 104857600 || limits.UnstartedStorageBytes == 0 {
		t.Errorf("%+v, %v", limits, err)
	}
	can, err := c.Capabilities(t.Context())
	if err != nil || len(can.Renderers) != 1 || can.Renderers[0].Version == "" || can.Pricing.AmountMinor != 1 || can.Availability.QueueState == "" {
		t.Errorf("%+v, %v", can, err)
	}
}

// TestWebhookEventsMissNothingWhereTheLineIsCut puts a proxy between, which cuts the
// first connections: after the place where the stream begins, within an event, and
// between two.
func TestWebhookEventsMissNothingWhereTheLineIsCut(t *testing.T) {
	t.Parallel()
	r := startReal(t)
	var want []string
	target, err := url.Parse(r.world.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	var connections, bytesOut atomic.Int64
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = &counting{w, &bytesOut}
		n, lengths := connections.Add(1), []int{len("id: 0\n\n"), 100, 3000}
		if int(n) > len(lengths) {
			proxy.ServeHTTP(w, r)
			return
		}
		cutAfter(lengths[n-1])(w, r, proxy.ServeHTTP)
	}))
	t.Cleanup(cut.Close)
	c, err := client.New(cut.URL, r.workspace.Account.Secret, client.WithWait(func(ctx context.Context, _ time.Duration) error { return ctx.Err() }))
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan client.RawWebhook, 20)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		for event, err := range c.WebhookEvents(ctx, "") {
			if err != nil {
				ended <- err
				return
			}
			events <- event
		}
	}()
	await.Until(t, "the place where the stream begins", func() bool { return bytesOut.Load() > 0 })
	for range 5 {
		job := r.start(1)
		r.cancel(job.JobID)
		want = append(want, job.JobID)
	}
	for _, id := range want {
		if event := await.Next(t, events, "an event"); event.Type != client.EventCancelled || !bytes.Contains(event.Body, []byte(id)) {
			t.Errorf("got %s %s, want %s", event.Type, event.Body, id)
		}
	}
	cancel()
	if err := await.Next(t, ended, "the end"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestWebhookEventsOfAWrongKeyOrServerEnd(t *testing.T) {
	t.Parallel()
	r := startReal(t)
	for event, err := range r.client("svc_nobody").WebhookEvents(t.Context(), "") {
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Status != 401 {
			t.Errorf("a wrong key: %v, %v", event, err)
		}
	}
	nobody, err := client.New("http://127.0.0.1:1", "svc_x", client.WithAttempts(2), client.WithWait(func(context.Context, time.Duration) error { return nil }))
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, err := range nobody.WebhookEvents(t.Context(), "") {
		if err != nil {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("a server that is down: %d errors", failed)
	}
}

// counting counts what a proxy has sent.
type counting struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

func (c *counting) Unwrap() http.ResponseWriter { return c.ResponseWriter }
