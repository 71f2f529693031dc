package clients_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc.example/client"
	"svc.example/internal/test/story"
	sdks "svc.example/sdk"
)

// methodCall is a call of a method of an SDK.
type methodCall struct {
	Method  string         `json:"method"`
	Args    []any          `json:"args"`
	Options map[string]any `json:"options"`
	asks    string         // of an account key
}

// methodCalls has each method that is printed from sdk/methods.
func methodCalls() []methodCall {
	const job, endpoint = "/v1/renders/J-1", "/v1/webhook-endpoints/E-1"
	none, on := map[string]any{}, func(args ...any) []any { return args }
	return []methodCall{
		{"job", on("J-1"), none, "GET " + job},
		{"cancel", on("J-1"), none, "POST " + job + "/cancel"},
		{"pause", on("J-1"), none, "POST " + job + "/pause"},
		{"resume", on("J-1"), none, "POST " + job + "/resume"},
		{"set_priority", on("J-1", 7), none, "PUT " + job + `/priority {"priority":7}`},
		{"set_tags", on("J-1", []string{"a"}), none, "PUT " + job + `/tags {"tags":["a"]}`},
		{"frames", on("J-1"), none, "GET " + job + "/frames"},
		{"artifact", on("J-1"), none, "GET " + job + "/download"},
		{"receipt", on("J-1"), none, "GET " + job + "/receipt"},
		{"proof", on("J-1"), none, "GET " + job + "/proof"},
		{"share", on("J-1"), map[string]any{"download": true, "expires_at": "2027-01-02T03:04:05Z", "proof": false}, "POST " + job + `/share {"download":true,"expires_at":"2027-01-02T03:04:05Z","proof":false} keyed`},
		{"share", on("J-1"), none, "POST " + job + `/share {} keyed`},
		{"job_share", on("J-1"), none, "GET " + job + "/share"},
		{"share", on("J-1"), map[string]any{"comments": true}, "POST " + job + `/share {"comments":true} keyed`},
		{"allow_comments", on("J-1", true), none, "PUT " + job + `/share/comments {"allowed":true}`},
		{"comments", on("J-1"), none, "GET " + job + "/comments"},
		{"unshare", on("J-1"), none, "DELETE " + job + "/share"},
		{"shares", nil, none, "GET /v1/workspace/shares"},
		{"saved_filters", nil, none, "GET /v1/workspace/filters"},
		{"upload", on("U/1"), none, "GET /v1/uploads/U%2F1"},
		{"delete_upload", on("U-1"), none, "DELETE /v1/uploads/U-1"},
		{"signing_keys", nil, none, "GET /v1/signing-keys"},
		{"wallet", nil, none, "GET /v1/wallet"},
		{"set_wallet_alert", on(500), none, `PUT /v1/wallet/alert {"below_cents":500}`},
		{"top_ups", nil, none, "GET /v1/wallet/top-ups?limit=200"},
		{"top_ups", nil, map[string]any{"limit": 3}, "GET /v1/wallet/top-ups?limit=3"},
		{"create_top_up", on(2000), none, `POST /v1/wallet/top-ups {"amount_cents":2000}`},
		{"top_up", on("T-1"), none, "GET /v1/wallet/top-ups/T-1"},
		{"invoices", nil, none, "GET /v1/wallet/invoices?limit=200"},
		{"invoice", on("2026-7"), none, "GET /v1/wallet/invoices/2026-7"},
		{"invoice_pdf", on("2026-7"), none, "GET /v1/wallet/invoices/2026-7/pdf"},
		{"webhook_endpoints", nil, none, "GET /v1/webhook-endpoints"},
		{"create_webhook_endpoint", on("https://a.example/"), map[string]any{"description": "a"}, `POST /v1/webhook-endpoints {"description":"a","url":"https://a.example/"}`},
		{"webhook_endpoint", on("E-1"), none, "GET " + endpoint},
		{"update_webhook_endpoint", on("E-1"), map[string]any{"enabled": false}, "PATCH " + endpoint + ` {"enabled":false}`},
		{"delete_webhook_endpoint", on("E-1"), none, "DELETE " + endpoint},
		{"test_webhook_endpoint", on("E-1"), none, "POST " + endpoint + "/test"},
		{"rotate_webhook_secret", on("E-1"), none, "POST " + endpoint + "/rotate-secret {}"},
		{"endpoint_deliveries", on("E-1"), map[string]any{"status": "failed", "limit": 2}, "GET " + endpoint + "/deliveries?limit=2&status=failed"},
		{"redeliver_since", on("E-1", "2027-01-02T03:04:05Z"), none, "POST " + endpoint + `/redeliver {"since":"2027-01-02T03:04:05Z"}`},
		{"webhook_deliveries", on("J-1"), none, "GET " + job + "/webhook-deliveries"},
		{"redeliver_webhook", on("J-1", "D-1"), none, "POST " + job + "/webhook-deliveries/D-1/redeliver"},
		{"pricing", nil, none, "GET /v1/pricing"},
		{"test_clock", nil, none, "GET /v1/test/clock"},
		{"move_test_clock", on(60), none, `POST /v1/test/clock {"advance_seconds":60}`},
		{"health", nil, none, "GET /v1/health"},
		{"capabilities", nil, none, "GET /v1/capabilities"},
		{"limits", nil, none, "GET /v1/limits"},
	}
}

// asker makes calls with one SDK.
type asker func(methodCall) (answer map[string]any)

// program asks with a program of an SDK, which reads and answers lines.
func (s sdkProgram) start(t *testing.T, url, key string) asker {
	t.Helper()
	command := s.command(t, s.script)
	command.Env = append(command.Env, "SVC_SERVER="+url, "SVC_KEY="+key)
	command.Stderr = os.Stderr
	to, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(to.Close(), command.Wait()) })
	lines := bufio.NewReader(from)
	return func(c methodCall) (answer map[string]any) {
		if c.Args == nil {
			c.Args = []any{}
		}
		if err := json.NewEncoder(to).Encode(c); err != nil {
			t.Fatalf("%s: %v", c.Method, err)
		}
		line, err := lines.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &answer)
		}
		if err != nil {
			t.Fatalf("%s: %v %s", c.Method, err, line)
		}
		return answer
	}
}

type sdkProgram struct {
	sdk
	script string
}

// goAsker asks with the Go client. What the other SDKs take by name is a request there, or
// comes after the other arguments.
func goAsker(t *testing.T, url, key string) asker {
	t.Helper()
	c, err := client.New(url, key, client.WithAttempts(1))
	if err != nil {
		t.Fatal(err)
	}
	return func(asked methodCall) map[string]any {
		method := reflect.ValueOf(c).MethodByName(sdks.Name("Go", asked.Method))
		given := []reflect.Value{reflect.ValueOf(t.Context())}
		rest := slices.Clone(asked.Args)
		for i := 1; i < method.Type().NumIn(); i++ {
			kind := method.Type().In(i)
			value := reflect.New(kind)
			var from any
			switch {
			case strings.HasSuffix(kind.Name(), "Request"):
				options := maps.Clone(asked.Options)
				if len(rest) > 0 {
					options["url"] = rest[0]
				}
				from = options
			case len(rest) > 0:
				from, rest = rest[0], rest[1:]
			case kind.Kind() == reflect.String:
				from = asked.Options["status"]
			default:
				from = asked.Options["limit"]
			}
			text, err := json.Marshal(from)
			if err == nil {
				err = json.Unmarshal(text, value.Interface())
			}
			if err != nil {
				t.Fatalf("%s: %v", asked.Method, err)
			}
			given = append(given, value.Elem())
		}
		told, err := goAnswer(method.Call(given))
		if refused, ok := errors.AsType[*client.Error](err); ok {
			return map[string]any{"error": refused.Code}
		} else if err != nil {
			t.Fatalf("%s: %v", asked.Method, err)
		}
		return map[string]any{"ok": told}
	}
}

// goAnswer is what a method of Go returned, as JSON has it.
func goAnswer(results []reflect.Value) (told any, err error) {
	var found any
	if results[0].Kind() == reflect.Func { // a list
		items := []any{}
		for item, failed := range results[0].Seq2() {
			if !failed.IsNil() {
				return nil, failed.Interface().(error)
			}
			items = append(items, item.Interface())
		}
		found = items
	} else if err, ok := results[len(results)-1].Interface().(error); ok {
		return nil, err
	} else if len(results) == 2 {
		found = results[0].Interface()
	}
	if body, ok := found.(io.ReadCloser); ok {
		text, err := io.ReadAll(body)
		return string(text), errors.Join(err, body.Close())
	}
	text, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	return told, json.Unmarshal(text, &told)
}

// eachSDK calls test with each SDK as a client of a service.
func eachSDK(t *testing.T, url, key string, test func(t *testing.T, ask asker)) {
	t.Helper()
	t.Run("Go", func(t *testing.T) { test(t, goAsker(t, url, key)) })
	t.Run("Python", func(t *testing.T) {
		test(t, sdkProgram{pythonSDK, "tests/calls.py"}.start(t, url, key))
	})
	t.Run("TypeScript", func(t *testing.T) {
		test(t, sdkProgram{typescriptSDK, "tests/calls.mjs"}.start(t, url, key))
	})
}

// TestEveryMethodAsksTheSameOfTheServiceInEverySDK has each SDK make the same calls, and reads
// what they send.
func TestEveryMethodAsksTheSameOfTheServiceInEverySDK(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var sent any
		if json.Unmarshal(body, &sent) == nil {
			body, _ = json.Marshal(sent) // sorted
		}
		path := r.URL.EscapedPath()
		if query := r.URL.Query().Encode(); query != "" {
			path += "?" + query
		}
		text := strings.TrimSpace(r.Method + " " + path + " " + string(body))
		if r.Header.Get("Idempotency-Key") != "" {
			text += " keyed"
		}
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, text)
		if strings.HasSuffix(path, "/download") {
			fmt.Fprint(w, `{"ok":true,"download":{}}`)
			return
		}
		if strings.HasSuffix(path, "/J-1/comments") { // a share has a member of this name, too
			fmt.Fprint(w, `{"ok":true,"comments":[]}`)
			return
		}
		fmt.Fprint(w, `{"ok":true,"frames":[],"keys":[],"shares":[],"filters":[],"top_ups":[],"invoices":[],"endpoints":[],"deliveries":[],"delivery":{}}`)
	}))
	defer service.Close()
	source, err := os.ReadFile("../../../../client/methods.go")
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^func \(c \*Client\) (\w+)`).FindAllStringSubmatch(string(source), -1) {
		missing[found[1]] = true
	}
	for _, call := range methodCalls() {
		delete(missing, sdks.Name("Go", call.Method))
	}
	if len(missing) > 0 {
		t.Errorf("no call of %v is compared", slices.Sorted(maps.Keys(missing)))
	}
	eachSDK(t, service.URL, "svc_account", func(t *testing.T, ask asker) {
		for _, call := range methodCalls() {
			mu.Lock()
			asked = nil
			mu.Unlock()
			answer := ask(call)
			mu.Lock()
			if !slices.Equal(asked, []string{call.asks}) || answer["error"] != nil {
				t.Errorf("%s asks %q, want %q; the answer is %v", call.Method, asked, call.asks, answer)
			}
			mu.Unlock()
		}
	})
}

// TestSharesAndWebhookEndpointsAreKeptByEverySDK makes, changes and ends them on a real service.
func TestSharesAndWebhookEndpointsAreKeptByEverySDK(t *testing.T) {
	t.Parallel()
	svc := story.SharedOn(t, "sqlite")
	c := svc.Caller(story.Credit)
	job := c.Completed()
	eachSDK(t, svc.URL, c.Account.Secret, func(t *testing.T, ask asker) {
		ok := func(method string, options map[string]any, args ...any) any {
			t.Helper()
			if options == nil {
				options = map[string]any{}
			}
			answer := ask(methodCall{Method: method, Args: args, Options: options})
			if answer["error"] != nil {
				t.Fatalf("%s is refused: %v", method, answer["error"])
			}
			return answer["ok"]
		}
		member := func(of any, name string) any {
			members, _ := of.(map[string]any)
			return members[name]
		}
		length := func(of any) int {
			items, _ := of.([]any)
			return len(items)
		}
		if page, _ := member(ok("share", map[string]any{"download": true}, job.JobID), "share_url").(string); !strings.HasPrefix(page, svc.URL+"/s/") {
			t.Errorf("the share is at %q", page)
		}
		if found := ok("job_share", nil, job.JobID); fmt.Sprint(member(found, "download")) != "true" || length(ok("shares", nil)) != 1 {
			t.Errorf("the share is %v", found)
		}
		if found := ok("allow_comments", nil, job.JobID, true); fmt.Sprint(member(found, "comments")) != "true" || length(ok("comments", nil, job.JobID)) != 0 {
			t.Errorf("the share with comments is %v", found)
		}
		ok("unshare", nil, job.JobID)
		if n := length(ok("shares", nil)); n != 0 {
			t.Errorf("%d shares are left", n)
		}
		made := ok("create_webhook_endpoint", map[string]any{"description": "a"}, "https://1.1.1.1/a")
		id, secret := member(made, "endpoint_id"), member(made, "secret")
		if s, _ := secret.(string); !strings.HasPrefix(s, "whsec_") {
			t.Errorf("the endpoint is %v", made)
		}
		ok("update_webhook_endpoint", map[string]any{"description": "b", "enabled": false}, id)
		if found := ok("webhook_endpoint", nil, id); member(found, "description") != "b" || fmt.Sprint(member(found, "enabled")) != "false" || length(ok("webhook_endpoints", nil)) != 1 {
			t.Errorf("the endpoint is %v after a change", found)
		}
		if again := member(ok("rotate_webhook_secret", nil, id), "secret"); again == secret || again == nil {
			t.Errorf("the secret %v becomes %v", secret, again)
		}
		if n := length(ok("endpoint_deliveries", map[string]any{"status": "failed"}, id)); n != 0 {
			t.Errorf("%d calls of an endpoint that was never told anything", n)
		}
		ok("delete_webhook_endpoint", nil, id)
		if answer := ask(methodCall{Method: "webhook_endpoint", Args: []any{id}, Options: map[string]any{}}); answer["error"] == nil {
			t.Errorf("a deleted endpoint is %v", answer)
		}
		if n := length(ok("top_ups", nil)) + length(ok("invoices", nil)); n != 0 {
			t.Errorf("%d payments that nobody made", n)
		}
	})
}
