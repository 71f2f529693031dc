package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/test/await"
)

// TestACallThatWaitsTellsItsProgress to a client that has given a token for it, in values
// that only rise, before its answer.
func TestACallThatWaitsTellsItsProgress(t *testing.T) {
	eachRendering(t, func(t *testing.T, svc *service) {
		told := make(chan *mcp.ProgressNotificationParams, 200)
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params },
		}).Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: svc.base + "/mcp", HTTPClient: &http.Client{Transport: bearer{svc.agent}}, DisableStandaloneSSE: true,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close() })
		job := svc.client(svc.agent).started(svc)
		params := &mcp.CallToolParams{Name: "svc_status", Arguments: map[string]any{"job_id": job["job_id"], "wait_seconds": 50}}
		params.SetProgressToken("my job")
		r, err := session.CallTool(t.Context(), params)
		if err != nil || r.IsError {
			t.Fatalf("%v %v", r, err)
		}
		last := -1.0
		await.Until(t, "a notification", func() bool { return len(told) > 0 })
		for len(told) > 0 {
			p := <-told
			if p.ProgressToken != "my job" || p.Total != 100 || p.Progress <= last || p.Progress > 100 || !strings.Contains(p.Message, "frames done") {
				t.Errorf("after %v %% it tells %+v", last, p)
			}
			last = p.Progress
		}
		if status := r.StructuredContent.(map[string]any)["status"]; status != "completed" {
			t.Errorf("the job is %v", status)
		}
	})
}

// TestOnlyACallThatTellsItsProgressIsAStream: every other answer is one JSON document, which
// no proxy holds open.
func TestOnlyACallThatTellsItsProgressIsAStream(t *testing.T) {
	eachRendering(t, func(t *testing.T, svc *service) {
		job := svc.client(svc.agent).started(svc)["job_id"]
		const both = "application/json, text/event-stream"
		call := func(id, tool, arguments, meta string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{%s},"_meta":{%s}}}`, id, tool, arguments, meta)
		}
		status := fmt.Sprintf(`"job_id":%q`, job)
		waiting := status + `,"wait_seconds":50`
		for name, c := range map[string]struct {
			accept, body string
			stream       bool
		}{
			"a token":                     {both, call("1", "svc_status", waiting, `"progressToken":7`), true},
			"one of text":                 {both, call(`"a"`, "svc_status", waiting, `"progressToken":"b"`), true},
			"no token":                    {both, call("1", "svc_status", waiting, ``), false},
			"a token that is none":        {both, call("1", "svc_status", waiting, `"progressToken":null`), false},
			"a token beyond a double":     {both, call("1", "svc_status", waiting, `"progressToken":9007199254740993`), false},
			"an id beyond a double":       {both, call("9007199254740993", "svc_status", waiting, `"progressToken":7`), false},
			"no wait":                     {both, call("1", "svc_status", status, `"progressToken":7`), false},
			"a tool that does not wait":   {both, call("1", "svc_wallet", ``, `"progressToken":7`), false},
			"a client without streams":    {"application/json", call("1", "svc_status", waiting, `"progressToken":7`), false},
			"one that names no type":      {"", call("1", "svc_status", waiting, `"progressToken":7`), false},
			"an array":                    {both, "[" + call("1", "svc_status", waiting, `"progressToken":7`) + "]", false},
			"arguments that do not fit":   {both, call("1", "svc_status", status+`,"wait_seconds":"x"`, `"progressToken":7`), true},
			"the job of nobody":           {both, call("1", "svc_status", `"job_id":"JOB-00000000000000000000000000000000","wait_seconds":9`, `"progressToken":7`), true},
			"a client of streams, spaced": {"text/event-stream;q=0.5 , application/json", call("1", "svc_status", waiting, `"progressToken":7`), true},
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, svc.base+"/mcp", strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			if c.accept != "" {
				r.Header.Set("Accept", c.accept)
			}
			res, err := (&http.Client{Transport: bearer{svc.agent}}).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("%s: %d, %v: %s", name, res.StatusCode, err, body)
				continue
			}
			if kind := res.Header.Get("Content-Type"); (kind == "text/event-stream") != c.stream {
				t.Errorf("%s: it is %s", name, kind)
			}
			if !c.stream && !json.Valid(body) {
				t.Errorf("%s: the answer is %s", name, body)
			}
			if c.stream && res.Header.Get("X-Accel-Buffering") != "no" {
				t.Errorf("%s: a proxy may hold it back", name)
			}
			if _, last, _ := strings.Cut(string(body), `"result":`); last == "" {
				t.Errorf("%s: there is no result: %s", name, body)
			}
		}
	})
}
