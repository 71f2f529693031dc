package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/dbtest"
)

const noID = "00000000000000000000000000000000"

// raw posts a message and returns the answer as it came.
func (svc *service) raw(body string) (*http.Response, string) {
	svc.t.Helper()
	r, err := http.NewRequestWithContext(svc.t.Context(), http.MethodPost, svc.base+"/mcp", strings.NewReader(body))
	if err != nil {
		svc.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+svc.agent)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		svc.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		svc.t.Fatal(err)
	}
	return res, string(text)
}

func TestAnIDComesBackAsItWasSent(t *testing.T) {
	t.Parallel()
	svc := one(t)
	for _, id := range []string{"1", "-7", "9007199254740993", "123456789012345678901234567890", "1.5", "1e300", "-0.0", `"a\u00e9<b>"`} {
		for _, method := range []string{"ping", "tools/steal"} {
			if _, got := svc.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q}`, id, method)); !strings.Contains(got, `"id":`+id) && !(id[0] == '"' && strings.Contains(got, `"id":"aé<b>"`)) {
				t.Errorf("%s of id %s: %s", method, id, got)
			}
		}
	}
	_, got := svc.raw(`[{"jsonrpc":"2.0","id":1.5,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
	if !strings.Contains(got, `"id":1.5`) || !strings.Contains(got, `"id":2`) {
		t.Errorf("an array: %s", got)
	}
}

func TestAnUnknownMethodIsNotFound(t *testing.T) {
	t.Parallel()
	res, got := one(t).raw(`{"jsonrpc":"2.0","id":1,"method":"tools/steal<b>"}`)
	var body struct {
		Error struct{ Code int }
	}
	if err := json.Unmarshal([]byte(got), &body); err != nil || res.StatusCode != 200 || body.Error.Code != -32601 {
		t.Errorf("%d %s, %v", res.StatusCode, got, err)
	}
}

// Revisions until 2025-03-26 have arrays. JSON-RPC answers no notification, and each request
// of an array.
func TestAnUnknownMethodHidesNoOtherMessage(t *testing.T) {
	t.Parallel()
	svc := one(t)
	for body, want := range map[string]struct {
		status int
		parts  []string
	}{
		`[{"jsonrpc":"2.0","id":1.5,"method":"tools/steal"},{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"no/notice"}]`: {200, []string{`"id":1.5`, "-32601", `"id":2`, `"result":{}`}},
		`[{"jsonrpc":"2.0","method":"no/notice"}]`:                            {202, nil},
		`{"jsonrpc":"2.0","method":"no/notice"}`:                              {202, nil},
		`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`:                      {200, []string{`"id":7`, "-32600", "params"}},
		`[{"jsonrpc":"2.0","id":"a","method":"tools/call"}]`:                  {200, []string{`[{`, `"id":"a"`, "-32600"}},
		`{"jsonrpc":"2.0","id":{"a":[1]},"method":"ping"}`:                    {400, []string{"An id is a text or a number."}},
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                         {400, []string{"An id is a text or a number."}},
		`{"jsonrpc":"1.0[x]","id":1,"method":"ping"}`:                         {400, []string{`1.0[x]`, "JSON-RPC 2.0"}},
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"1.0","id":2}]`: {400, []string{"JSON-RPC 2.0"}},
	} {
		res, got := svc.raw(body)
		for _, part := range want.parts {
			if !strings.Contains(got, part) {
				t.Errorf("%s: lacks %s: %s", body, part, got)
			}
		}
		if res.StatusCode != want.status || strings.Contains(got, `\\x`) || (want.parts == nil) != (got == "") {
			t.Errorf("%s: %d %s", body, res.StatusCode, got)
		}
	}
}

// What is wrong with arguments is said by their names, in words without marks of the schema.
func TestAWrongArgumentIsNamed(t *testing.T) {
	t.Parallel()
	svc := one(t)
	c := svc.client(svc.agent)
	for wrong, want := range map[string]string{
		`{}`:                                  `svc_status are wrong: "job_id" is missing.`,
		`{"job_id":7}`:                        `svc_status are wrong: job_id: 7 is of type integer; it must be of type string.`,
		`{"job_id":"JOB-[1]"}`:                `svc_status are wrong: job_id: "JOB-[1]" does not match the pattern ^JOB-[0-9a-f]{32}$.`,
		`{"job_id":"JOB-` + noID + `","x":1}`: `svc_status are wrong: there is no argument "x".`,
		`{"job_id":"JOB-` + noID + `","wait_seconds":-1}`: `svc_status are wrong: wait_seconds: -1 is less than 1.`,
	} {
		if a := c.call("svc_status", json.RawMessage(wrong)); !a.refused || !strings.Contains(a.text, want) {
			t.Errorf("%s: %s\nwant %s", wrong, a.text, want)
		}
	}
}

// What a model sent comes back as it was: numbers exact, and long texts not at full length.
func TestArgumentsComeBackAsTheyWereAndNotLong(t *testing.T) {
	t.Parallel()
	svc := one(t)
	ask := func(tool, arguments string) string {
		_, got := svc.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments))
		return got
	}
	if got := ask("svc_start", `{"upload_id":"UPL-1","quote_id":"QTE-1","max_price_cents":9007199254740993}`); strings.Contains(got, "9007199254740992") || !strings.Contains(got, "9007199254740993") {
		t.Errorf("the maximum was changed: %s", got)
	}
	if got := ask("svc_status", `{"job_id":"JOB-1","wait_seconds":1e400}`); !strings.Contains(got, "wait_seconds: a number is too large") {
		t.Errorf("a number that no computer has: %s", got)
	}
	if got := ask("svc_status", `{"job_id":"JOB-`+noID+`","wait_seconds":1.0}`); !strings.Contains(got, "render_not_found") {
		t.Errorf("a whole number with a fraction of zero: %s", got)
	}
	if got := ask("svc_status", `{"job_id":"`+strings.Repeat("J", 500_000)+`"}`); len(got) > 4000 || !strings.Contains(got, "JJJJ") {
		t.Errorf("a long argument is answered with %d bytes", len(got))
	}
}

// A job that has ended leads to what became of it.
func TestACancelThatComesTooLateNamesARightStep(t *testing.T) {
	t.Parallel()
	svc := start(t, dbtest.URL(t, "sqlite"), rendering)
	c := svc.client(svc.agent)
	all := c.tellAll(svc.scene().UploadID)
	a := c.call("svc_cancel", map[string]any{"job_id": all[len(all)-1].at("job_id")})
	a.wantRefusal("render_not_cancellable")
	a.want("next_tool", "svc_status")
	if !strings.Contains(a.text, "the render has ended") {
		t.Error(a.text)
	}
}

// A model reads results; an HTTP status ends with its client.
func TestACallBeyondTheLimitIsAResult(t *testing.T) {
	t.Parallel()
	svc := start(t, t.TempDir()+"/svc.db", func(c *app.Config) { c.Rate = ratelimit.Policy{PerMinute: 1, Burst: 1} })
	svc.raw(listTools)
	res, got := svc.raw(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"svc_jobs","arguments":{"status":"failed"}}}`)
	var body struct {
		ID     int
		Result struct {
			IsError           bool
			StructuredContent struct {
				Error struct {
					Code  string
					After float64 `json:"retry_after_seconds"`
				}
				Next map[string]any `json:"next_arguments"`
			}
		}
	}
	if err := json.Unmarshal([]byte(got), &body); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	told := body.Result.StructuredContent
	if res.StatusCode != 200 || res.Header.Get("Retry-After") == "" || body.ID != 7 || !body.Result.IsError || told.Error.Code != "rate_limited" || told.Error.After <= 0 || told.Next["status"] != "failed" {
		t.Errorf("%d %s", res.StatusCode, got)
	}
}

// What the makers of models take of JSON Schema: each value has one type, and what some of
// them refuse is not used. https://ai.google.dev/api/caching#Schema is the narrowest.
func TestTheArgumentsAreInTheSchemaOfEveryModel(t *testing.T) {
	t.Parallel()
	svc := one(t)
	allowed := []string{"type", "description", "enum", "properties", "required", "items", "minimum", "maximum", "pattern", "maxLength", "additionalProperties"}
	var hold func(path string, schema map[string]any)
	hold = func(path string, schema map[string]any) {
		for name := range schema {
			if !slices.Contains(allowed, name) {
				t.Errorf("%s has %s", path, name)
			}
		}
		kind, one := schema["type"].(string)
		if !one || schema["enum"] != nil && kind != "string" {
			t.Errorf("%s has the types %v", path, schema["type"])
		}
		members, _ := schema["properties"].(map[string]any)
		if kind == "object" && len(members) == 0 {
			t.Errorf("%s is an object without members", path)
		}
		for name, member := range members {
			hold(path+"."+name, member.(map[string]any))
		}
		if items, is := schema["items"].(map[string]any); is {
			hold(path+"[]", items)
		}
	}
	for tool, err := range svc.client(svc.agent).Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		hold(tool.Name, tool.InputSchema.(map[string]any))
	}
}

// An argument that is null is one that was left out, as some clients write it.
func TestANullArgumentIsLeftOut(t *testing.T) {
	each(t, func(_ *testing.T, svc *service) {
		c := svc.client(svc.agent)
		if a := c.call("svc_inspect", map[string]any{"upload_id": svc.scene().UploadID, "file_url": nil, "frame_start": nil}); a.refused {
			svc.t.Errorf("%v", a.object)
		}
	})
}

func TestConsentIsAPersonsWord(t *testing.T) {
	t.Parallel()
	svc := one(t)
	i := svc.scene()
	a := svc.client(svc.agent).call("svc_start", map[string]any{"upload_id": i.UploadID, "quote_id": i.Quote.QuoteID})
	a.wantRefusal("legal_acceptance_required")
	all, err := json.Marshal(a.object)
	if err != nil || bytes.Contains(all, []byte("SVC_LEGAL_V1")) || strings.Contains(a.text, "SVC_LEGAL_V1") || !strings.Contains(a.text, "Ask the person") {
		t.Errorf("%v: %s\n%s", err, all, a.text)
	}
}

func TestJobsAndWalletAreReadAndAJobIsCancelled(t *testing.T) {
	each(t, func(_ *testing.T, svc *service) {
		c := svc.client(svc.agent)
		c.call("svc_jobs", map[string]any{}).want("jobs", "[]")
		quoted := c.call("svc_quote", map[string]any{"upload_id": svc.scene().UploadID, "frames": "1-3, 7"})
		quoted.want("quote.frame_list", "1-3,7")
		started := c.call("svc_start", terms(fmt.Sprint(quoted.at("upload_id")), fmt.Sprint(quoted.at("quote.quote_id"))))
		held := c.call("svc_wallet", map[string]any{"price_cents": credit})
		held.want("available_cents", credit-4)
		held.want("reserved_cents", 4)
		held.want("missing_cents", 4)
		listed := c.call("svc_jobs", map[string]any{"status": "queued"})
		listed.want("next_arguments.job_id", started.at("job_id"))
		job := map[string]any{"job_id": started.at("job_id")}
		for range 2 {
			c.call("svc_cancel", job).want("status", "cancelled")
		}
		c.call("svc_wallet", map[string]any{}).want("available_cents", credit)
		refused := c.call("svc_quote", map[string]any{"upload_id": quoted.at("upload_id"), "frames": "5-2"})
		refused.wantRefusal("invalid_frame_range")
		refused.want("next_tool", "svc_quote")
		if strings.Contains(refused.text, `\x`) {
			svc.t.Errorf("escaped: %s", refused.text)
		}
	})
}
