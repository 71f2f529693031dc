package farmapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"svc.example/internal/work/farmapi"
)

const nodeKey = "svc_node_test"

// serve starts a server and a client of it; requests without the key are a fault
// of the client.
func serve(t *testing.T, handler http.HandlerFunc) *farmapi.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer "+nodeKey {
			t.Errorf("%s: Authorization %q", r.URL.Path, got)
		}
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return farmapi.NewClient(server.URL+"/", nodeKey)
}

func TestClientPostsWhatTheWireSays(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 5)
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- r.Method + " " + r.URL.Path + " " + string(body)
		io.WriteString(w, map[string]string{
			farmapi.PathRegister:  `{"ok":true,"worker_id":"W1","lease_seconds":20,"heartbeat_seconds":5}`,
			farmapi.PathLease:     `{"ok":true,"job":{"job_id":"J1","frames_waiting":3},"leases":[{"lease_id":"L1","attempt":2,"frame":7}]}`,
			farmapi.PathHeartbeat: `{"ok":true,"lost":["L1"]}`,
		}[r.URL.Path])
		if r.URL.Path == farmapi.PathFail || r.URL.Path == farmapi.PathRelease {
			io.WriteString(w, `{"ok":true}`)
		}
	})
	ctx := t.Context()
	held := []farmapi.Held{{LeaseID: "L1", Attempt: 2, Progress: 0.5}}

	registered, err := client.Register(ctx, farmapi.RegisterRequest{Name: "n"})
	if err != nil || registered.WorkerID != "W1" || registered.HeartbeatSeconds != 5 {
		t.Errorf("register: %+v, %v", registered, err)
	}
	leased, err := client.Lease(ctx, farmapi.LeaseRequest{WorkerID: "W1", Max: 2})
	if err != nil || leased.Job.FramesWaiting != 3 || leased.Leases[0].Frame != 7 {
		t.Errorf("lease: %+v, %v", leased, err)
	}
	beat, err := client.Heartbeat(ctx, farmapi.HeartbeatRequest{WorkerID: "W1", Leases: held})
	if err != nil || len(beat.Lost) != 1 {
		t.Errorf("heartbeat: %+v, %v", beat, err)
	}
	if err := client.Fail(ctx, farmapi.FailRequest{WorkerID: "W1", Code: "blender_crashed"}); err != nil {
		t.Errorf("fail: %v", err)
	}
	if err := client.Release(ctx, farmapi.ReleaseRequest{WorkerID: "W1", Leases: held}); err != nil {
		t.Errorf("release: %v", err)
	}
	for _, want := range []string{`/register {"name":"n"`, `/lease {"worker_id":"W1","max":2,`, `/heartbeat {"worker_id":"W1","leases":[{"lease_id":"L1","attempt":2,"progress":0.5}]}`, `"code":"blender_crashed"`, `/release {`} {
		if got := <-bodies; !strings.HasPrefix(got, "POST /farm/v1/") || !strings.Contains(got, want) {
			t.Errorf("sent %s, want %s in it", got, want)
		}
	}
}

func TestClientDeliversMetaBeforeTheImage(t *testing.T) {
	t.Parallel()
	image := strings.Repeat("pixels ", 100_000)
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength < int64(len(image)) {
			t.Errorf("Content-Length %d", r.ContentLength)
		}
		parts, err := r.MultipartReader()
		if err != nil {
			t.Error(err)
			return
		}
		meta, err := parts.NextPart()
		if err != nil || meta.FormName() != "meta" {
			t.Errorf("first part %v, %v", meta, err)
			return
		}
		var result farmapi.FrameResult
		if err := json.NewDecoder(meta).Decode(&result); err != nil || result.LeaseID != "L1" {
			t.Errorf("meta %+v, %v", result, err)
		}
		file, err := parts.NextPart()
		if err != nil || file.FormName() != "file" || file.FileName() != "frame_0007.png" {
			t.Errorf("second part %v, %v", file, err)
			return
		}
		got, err := io.ReadAll(file)
		if err == nil && string(got) != image {
			t.Errorf("an image of %d bytes arrived as if it were whole", len(got))
		}
		io.WriteString(w, `{"ok":true}`)
	})
	result := farmapi.FrameResult{LeaseID: "L1", File: "frame_0007.png", SizeBytes: int64(len(image))}
	if err := client.Deliver(t.Context(), result, strings.NewReader(image)); err != nil {
		t.Fatal(err)
	}
	if err := client.Deliver(t.Context(), result, strings.NewReader("too short")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("delivering an image shorter than it claims: %v", err)
	}
}

func TestClientStreamsAPart(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != farmapi.PathInput+"JOB-1/ab" || r.URL.Query().Get("worker_id") != "W1" {
			t.Errorf("asked for %s", r.URL)
		}
		io.WriteString(w, "the scene")
	})
	in, err := client.Part(t.Context(), "W1", "JOB-1", "ab", 9)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if got, err := io.ReadAll(in); err != nil || string(got) != "the scene" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestClientErrorsCarryTheEnvelope(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case farmapi.PathFail:
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, `{"ok":false,"error":{"code":"lease_lost","message":"gone","retryable":false}}`)
		case farmapi.PathLease:
			w.WriteHeader(http.StatusTooManyRequests)
			io.WriteString(w, `{"ok":false,"error":{"code":"rate_limited","message":"slow","retryable":true,"retry_after_seconds":1.5}}`)
		default:
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, `<html>`)
		}
	})
	_, leaseErr := client.Lease(t.Context(), farmapi.LeaseRequest{})
	_, proxyErr := client.Register(t.Context(), farmapi.RegisterRequest{})
	for _, c := range []struct {
		err  error
		want farmapi.Error
	}{
		{client.Fail(t.Context(), farmapi.FailRequest{}), farmapi.Error{Status: 409, Code: "lease_lost", Message: "gone"}},
		{leaseErr, farmapi.Error{Status: 429, Code: "rate_limited", Message: "slow", Retryable: true, RetryAfter: 1500 * time.Millisecond}},
		{proxyErr, farmapi.Error{Status: 502, Message: "not the server's own reply", Retryable: true}},
	} {
		var got *farmapi.Error
		if !errors.As(c.err, &got) || *got != c.want {
			t.Errorf("%v, want %+v", c.err, c.want)
		}
	}
}

func TestClientStopsWaitingWithItsContext(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	client := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // only then does the server notice a caller that leaves
		close(asked)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := client.Lease(ctx, farmapi.LeaseRequest{WaitSeconds: 60}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's end", err)
	}
}
