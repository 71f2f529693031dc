package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
)

// post sends bytes to the door.
func (svc *service) post(path, key, kind, body string, header ...string) (*http.Response, map[string]any) {
	svc.t.Helper()
	return svc.send("POST", path, key, kind, body, header...)
}

func (svc *service) send(method, path, key, kind, body string, header ...string) (*http.Response, map[string]any) {
	svc.t.Helper()
	r, err := http.NewRequestWithContext(svc.t.Context(), method, svc.base+path, strings.NewReader(body))
	if err != nil {
		svc.t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		svc.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var value any
	if err := json.NewDecoder(res.Body).Decode(&value); err != nil {
		svc.t.Errorf("%s %s: %d is no JSON: %v", method, path, res.StatusCode, err)
	}
	object, _ := value.(map[string]any) // nil for the answers to an array
	return res, object
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

func TestOnlyAnAgentKeyOpensTheDoor(t *testing.T) {
	each(t, func(t *testing.T, svc *service) {
		revoked := svc.key(nil)
		var node identity.NewKey
		svc.write(func(ctx context.Context, tx *db.Tx) (err error) {
			keys, err := identity.AgentKeys(ctx, tx, svc.workspace)
			if err != nil {
				return err
			}
			if node, err = identity.CreateNodeKey(ctx, tx, "node"); err != nil {
				return err
			}
			return identity.RevokeAgentKey(ctx, tx, svc.workspace, keys[0].KeyID) // the newest
		})
		for who, key := range map[string]string{"nobody": "", "an account key": svc.account, "a worker": node.Secret, "a revoked key": revoked, "a guess": "svc_agent_guess"} {
			res, body := svc.post("/mcp", key, "text/strange", listTools) // refused before it is parsed
			e, _ := body["error"].(map[string]any)
			if told := strings.Contains(res.Header.Get("WWW-Authenticate"), `error="invalid_token"`); told != (key != "") {
				t.Errorf("%s gets %s", who, res.Header.Get("WWW-Authenticate"))
			}
			if res.StatusCode != 401 || !strings.HasPrefix(res.Header.Get("WWW-Authenticate"), "Bearer resource_metadata=") || fmt.Sprint(body["ok"]) != "false" || e["code"] != "unauthenticated" || e["request_id"] == "" {
				t.Errorf("%s: %d %v %v", who, res.StatusCode, res.Header, body)
			}
		}
		for _, path := range []string{"/mcp", "/mcp/"} {
			if res, body := svc.post(path, svc.agent, "application/json", listTools); res.StatusCode != 200 || body["result"] == nil {
				t.Errorf("the agent key at %s: %d %v", path, res.StatusCode, body)
			}
		}
		var blind identity.NewKey
		svc.write(func(ctx context.Context, tx *db.Tx) (err error) {
			blind, err = identity.CreateAgentKey(ctx, tx, svc.workspace, identity.AgentTerms{Name: "blind", Scopes: identity.Scopes{identity.ScopeSpend}})
			return err
		})
		res, _ := svc.post("/mcp", blind.Secret, "application/json", listTools)
		if told := res.Header.Get("WWW-Authenticate"); res.StatusCode != 403 || !strings.HasPrefix(told, "Bearer resource_metadata=") || !strings.Contains(told, `error="insufficient_scope", scope="render:read"`) {
			t.Errorf("a key that may not read: %d %s", res.StatusCode, told)
		}
	})
}

func TestWhatIsNoMessageIsRefusedInTheEnvelope(t *testing.T) {
	t.Parallel()
	svc := one(t)
	for name, c := range map[string]struct {
		method, kind, body string
		status             int
		code               string
	}{
		"not JSON":       {"POST", "application/json", "{", 400, "invalid_request"},
		"no message":     {"POST", "application/json", `{"a":1}`, 400, "invalid_request"},
		"empty":          {"POST", "application/json", "", 400, "invalid_request"},
		"no object":      {"POST", "application/json", "1", 400, "invalid_request"},
		"null":           {"POST", "application/json", "null", 400, "invalid_request"},
		"no messages":    {"POST", "application/json", "[ ]", 400, "invalid_request"},
		"no objects":     {"POST", "application/json", `[1,"a",null]`, 400, "invalid_request"},
		"text after it":  {"POST", "application/json", "[" + listTools + "] and more", 400, "invalid_request"},
		"another type":   {"POST", "text/plain", listTools, 415, "unsupported_media_type"},
		"too long":       {"POST", "application/json", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "body_too_large"},
		"another method": {"GET", "", "", 405, "method_not_allowed"},
	} {
		res, body := svc.send(c.method, "/mcp", svc.agent, c.kind, c.body)
		e, _ := body["error"].(map[string]any)
		if res.StatusCode != c.status || e["code"] != c.code || res.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %v", name, res.StatusCode, body)
		}
	}
}

// A revision that nobody knows is refused with those that are known, and so that no library's
// words come through.
func TestAnUnknownRevisionIsRefusedWithTheKnownOnes(t *testing.T) {
	t.Parallel()
	svc := one(t)
	for version, want := range map[string]int{"2099-01-01": 400, "junk": 400, "2025-06-18": 200, "2025-11-25": 200} {
		res, body := svc.post("/mcp", svc.agent, "application/json", listTools, "MCP-Protocol-Version", version)
		e, _ := body["error"].(map[string]any)
		action, _ := e["suggested_action"].(string)
		if res.StatusCode != want || want == 400 && (e["code"] != "invalid_request" || !strings.Contains(action, "2025-11-25")) {
			t.Errorf("%s: %d %v", version, res.StatusCode, body)
		}
	}
}

// TestTheDoorStandsBehindAProxy asks as a proxy on the same machine does: by
// another name, from the loopback, for a browser page of elsewhere.
func TestTheDoorStandsBehindAProxy(t *testing.T) {
	t.Parallel()
	svc := start(t, t.TempDir()+"/svc.db", func(c *app.Config) { c.PublicURL, c.TrustedHops = "https://render.example.com", 1 })
	res, body := svc.post("/mcp", svc.agent, "application/json", listTools,
		"Host", "render.example.com", "Origin", "https://elsewhere.example", "X-Forwarded-For", "203.0.113.7", "X-Forwarded-Proto", "https")
	if res.StatusCode != 200 || body["result"] == nil || res.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %v %v", res.StatusCode, res.Header, body)
	}
}

func TestToolCallsAreCounted(t *testing.T) {
	t.Parallel()
	svc := start(t, t.TempDir()+"/svc.db", func(c *app.Config) { c.Rate = ratelimit.Policy{PerMinute: 1, Burst: 3} })
	for range 3 {
		if res, body := svc.post("/mcp", svc.agent, "application/json", listTools); res.StatusCode != 200 {
			t.Fatalf("%d %v", res.StatusCode, body)
		}
	}
	res, body := svc.post("/mcp", svc.agent, "application/json", listTools)
	e, _ := body["error"].(map[string]any)
	if res.StatusCode != 429 || res.Header.Get("Retry-After") == "" || e["code"] != "rate_limited" {
		t.Errorf("%d %v %v", res.StatusCode, res.Header, body)
	}
}

// array returns a body of n messages that each start the quote.
func array(n int, uploadID, quoteID string) string {
	one := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"svc_start","arguments":`+
		`{"upload_id":%q,"quote_id":%q,"legal_acceptance":"SVC_LEGAL_V1"}}}`, uploadID, quoteID)
	return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]"
}

func TestEachMessageOfAnArrayCounts(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		svc := start(t, url, func(c *app.Config) { c.Rate = ratelimit.Policy{PerMinute: 1, Burst: 6} })
		i := svc.scene()
		for _, n := range []int{500, 6} { // the array of 500 has counted as one
			res, body := svc.post("/mcp", svc.agent, "application/json", array(n, i.UploadID, i.Quote.QuoteID))
			e, _ := body["error"].(map[string]any)
			if res.StatusCode != 429 || res.Header.Get("Retry-After") == "" || e["code"] != "rate_limited" {
				t.Errorf("an array of %d: %d %v %v", n, res.StatusCode, body, res.Header)
			}
		}
		if b := svc.balance(); b.AvailableCents != credit {
			t.Errorf("a refused array has spent: %+v", b)
		}
		// An array that the limit allows passes whole. The two before count as two.
		res, _ := svc.post("/mcp", svc.agent, "application/json", "["+listTools+","+listTools+","+listTools+","+listTools+"]")
		if res.StatusCode != 200 || res.Header.Get("RateLimit") != `"api";r=0;t=360` {
			t.Errorf("an array of four: %d %v", res.StatusCode, res.Header)
		}
	})
}
