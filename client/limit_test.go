package client_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"svc.example/client"
)

// answering serves status with these headers to the first calls, and an empty success to
// those after; times below 0 never ends. It gives the number of calls.
func answering(t *testing.T, status, times int, header http.Header) (url string, calls *int) {
	t.Helper()
	calls = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if *calls++; times < 0 || *calls <= times {
			for name, values := range header {
				w.Header()[name] = values
			}
			w.WriteHeader(status)
		}
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(s.Close)
	return s.URL, calls
}

// limitedOf is the end of a call to a service that refuses so often by its rate limit.
func limitedOf(t *testing.T, times, attempts int, header http.Header) (waited []time.Duration, told int, err error) {
	t.Helper()
	url, _ := answering(t, http.StatusTooManyRequests, times, header)
	w := &waits{}
	c, err := client.New(url, "svc_agent_test", client.WithWait(w.wait), client.WithAttempts(attempts), client.WithOnRetry(func(client.Retry) { told++ }))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Wallet(t.Context())
	return w.taken, told, err
}

func TestARateLimitIsWaitedOutSilentlyAndWithinABound(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]http.Header{
		"Retry-After": {"Retry-After": {"3"}, "Ratelimit": {`"api";r=0;t=60`}},
		"RateLimit":   {"Ratelimit": {`"parts";r=5;t=90, "api";r=0;t=2`, `"workspace";r=0;t=3`}},
	} {
		waited, told, err := limitedOf(t, 20, 6, header)
		if err != nil || told != 0 || len(waited) != 20 || waited[0] != 3*time.Second {
			t.Errorf("%s: %v, told %d times, after %v", name, err, told, waited)
		}
	}
	const most = 40 + 5 // two minutes, then the tries that count
	waited, told, err := limitedOf(t, -1, 6, http.Header{"Retry-After": {"3"}})
	if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Status != 429 || told != 5 || len(waited) != most {
		t.Errorf("a limit without end: %v, told %d times, after %d waits", err, told, len(waited))
	}
	if waited, _, err := limitedOf(t, -1, 1, http.Header{"Retry-After": {"3"}}); err == nil || len(waited) != 0 {
		t.Errorf("a call that is made once waits %v, %v", waited, err)
	}
}

func TestAnUploadOnWhichTheServiceFailsIsNotSentWithoutEnd(t *testing.T) {
	t.Parallel()
	url, calls := answering(t, http.StatusInternalServerError, -1, nil)
	c, err := client.New(url, "svc_agent_test", client.WithAttempts(client.WithoutEnd), client.WithWait(func(ctx context.Context, _ time.Duration) error { return ctx.Err() }))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Inspect(t.Context(), client.InspectRequest{Filename: "scene.blend", Body: bytes.NewReader([]byte("BLENDER"))})
	if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Status != 500 || *calls != 6 {
		t.Errorf("after %d uploads: %v", *calls, err)
	}
}
