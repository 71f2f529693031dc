package api_test

import (
	"crypto/x509"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/door/api"
	"svc.example/internal/ground/contract"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
)

// receiverAsDescribed returns a check of calls against the document's webhooks: each is
// a route of a receiver, /EVENT.
func receiverAsDescribed(t *testing.T) *documentCheck {
	t.Helper()
	var d map[string]any
	if err := json.Unmarshal(api.Document(""), &d); err != nil {
		t.Fatal(err)
	}
	calls, _ := d["webhooks"].(map[string]any)
	for _, event := range contract.Events() {
		if calls[event.Type] == nil {
			t.Fatalf("the document describes %v, and not %s", slices.Sorted(maps.Keys(calls)), event.Type)
		}
	}
	paths := map[string]any{}
	for event, call := range calls {
		paths["/"+event] = call
	}
	d["paths"] = paths
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newDocumentCheck(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTheDocumentDescribesWebhooks holds real calls, of a test and of a job's end,
// against the document, and the examples of all.
func TestTheDocumentDescribesWebhooks(t *testing.T) {
	t.Parallel()
	described := receiverAsDescribed(t)
	check := func(t *testing.T, r *http.Request) {
		t.Helper()
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = described.request(r, body)
		}
		if err != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
	}
	dbtest.EachURL(t, func(t *testing.T, url string) {
		calls := make(chan *http.Request, 10)
		receiver := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			text, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			var event struct{ Type string }
			if err := json.Unmarshal(text, &event); err != nil {
				t.Error(err)
			}
			seen := httptest.NewRequest("POST", "https://receiver.example/"+event.Type, strings.NewReader(string(text)))
			seen.Header = r.Header.Clone()
			calls <- seen
		}))
		t.Cleanup(receiver.Close)
		roots := x509.NewCertPool()
		roots.AddCert(receiver.Certificate())
		s := start(t, url, func(c *app.Config) {
			c.Webhooks.Allow, c.Webhooks.Roots = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, roots
		})
		s.inspect()
		endpoint := s.call("POST", "/v1/webhook-endpoints", s.account, jsonBody(`{"url":"`+receiver.URL+`"}`)).text("endpoint_id")
		s.call("POST", "/v1/webhook-endpoints/"+endpoint+"/test", s.account, jsonBody(`{}`))
		tested := await.Next(t, calls, "the test")
		check(t, tested)
		made := s.post("/node/v1/uploads/"+s.upload+"/start", jsonBody(`{"quote_id":"`+s.quote+`","legal_acceptance":"SVC_LEGAL_V1"}`)).text("job_id")
		s.post("/node/v1/jobs/"+made+"/cancel", body{})
		cancelled := await.Next(t, calls, "the job's end")
		check(t, cancelled)
		if tested.URL.Path != "/"+contract.EventTest || cancelled.URL.Path != "/"+contract.EventCancelled {
			t.Errorf("the calls are %s and %s", tested.URL.Path, cancelled.URL.Path)
		}
	})
	t.Run("examples", func(t *testing.T) {
		var d struct {
			Webhooks map[string]struct {
				Post struct {
					RequestBody struct {
						Content map[string]struct{ Example json.RawMessage }
					}
				}
			}
		}
		if err := json.Unmarshal(api.Document(""), &d); err != nil {
			t.Fatal(err)
		}
		for event, call := range d.Webhooks {
			r := httptest.NewRequest("POST", "https://receiver.example/"+event, strings.NewReader(string(call.Post.RequestBody.Content["application/json"].Example)))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("webhook-id", "msg_"+strings.Repeat("0", 32))
			r.Header.Set("webhook-timestamp", "1767323045")
			r.Header.Set("webhook-signature", "v1,aGVsbG8= v1,aGVsbG8=")
			check(t, r)
		}
	})
}
