package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc.example/client"
)

// TestUploadsAndOtherRoutesAreAskedOnceWhereTheyChange counts the calls of a server that fails.
func TestUploadsAndOtherRoutesAreAskedOnceWhereTheyChange(t *testing.T) {
	t.Parallel()
	var lock sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		asked = append(asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Idempotency-Key")))
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer s.Close()
	for key, uploads := range map[string]string{"svc_agent_a": "/node/v1/uploads/", "svc_b": "/v1/uploads/"} {
		asked = nil
		c, err := client.New(s.URL, key, client.WithAttempts(2), client.WithWait((&waits{}).wait))
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []func(context.Context) error{
			func(ctx context.Context) error { _, err := c.Upload(ctx, "UPL-1"); return err },
			func(ctx context.Context) error { return c.DeleteUpload(ctx, "UPL-1") },
			func(ctx context.Context) error { return c.Call(ctx, "PUT", "/v1/any", 1, nil) },
			func(ctx context.Context) error { return c.Call(ctx, "POST", "/v1/any", nil, nil) },
			func(ctx context.Context) error { return c.CallOnce(ctx, "K1", "POST", "/v1/once", nil, nil) },
		} {
			if call(t.Context()) == nil {
				t.Error("a call succeeds")
			}
		}
		want := []string{"GET " + uploads + "UPL-1", "GET " + uploads + "UPL-1", "DELETE " + uploads + "UPL-1", "PUT /v1/any", "PUT /v1/any", "POST /v1/any", "POST /v1/once K1", "POST /v1/once K1"}
		if !slices.Equal(asked, want) {
			t.Errorf("%s asks %v", key, asked)
		}
	}
}
