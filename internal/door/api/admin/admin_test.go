package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/door/api"
	"svc.example/internal/door/api/admin"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
)

// bench is a service with the operators' API, and a workspace with a job.
type bench struct {
	*testing.T
	*apptest.World
	caller         story.Caller
	reader, writer identity.NewKey
	job            string
}

// each runs a test on a service of its own on both databases.
func each(t *testing.T, test func(b *bench)) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		running, base := apptest.Start(t, app.Config{Database: url, OperatorAPI: true})
		b := &bench{T: t, World: &apptest.World{App: running, URL: base}}
		b.caller = (&story.Service{T: t, App: running, URL: base}).Caller(story.Credit)
		b.reader, b.writer = b.key(identity.OperatorReads, 0), b.key(identity.OperatorWrites, 0)
		b.job = b.caller.StartFrames(2).JobID
		test(b)
	})
}

// key makes an operator key.
func (b *bench) key(scope identity.OperatorScope, life time.Duration) (key identity.NewKey) {
	b.Helper()
	b.write(func(ctx context.Context, tx *db.Tx) error {
		return operator.CreateOperatorKey("dashboard", scope, life, &key).Perform(ctx, tx, operator.Account("root"))
	})
	return key
}

func (b *bench) write(do func(ctx context.Context, tx *db.Tx) error) {
	b.Helper()
	if err := b.App.DB.Write(b.Context(), func(tx *db.Tx) error { return do(b.Context(), tx) }); err != nil {
		b.Fatal(err)
	}
}

// answer is what a call got.
type answer struct {
	status int
	code   fault.Code
	text   string
	body   map[string]any
	header http.Header
}

// call sends a request with a key; "" sends none.
func (b *bench) call(method, path, key, text string, headers ...string) answer {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.URL+path, bytes.NewReader([]byte(text)))
	if err != nil {
		b.Fatal(err)
	}
	if text != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	read, err := io.ReadAll(res.Body)
	if err != nil {
		b.Fatal(err)
	}
	a := answer{status: res.StatusCode, text: string(read), header: res.Header}
	if json.Unmarshal(read, &a.body) == nil {
		if refusal, is := a.body["error"].(map[string]any); is {
			a.code = fault.Code(refusal["code"].(string))
		}
	}
	return a
}

// operation is a row of a document.
type operation struct {
	ID        string                     `json:"operationId"`
	Security  []map[string][]string      `json:"security"`
	Responses map[string]json.RawMessage `json:"responses"`
	Request   *struct {
		Content map[string]struct {
			Example json.RawMessage `json:"example"`
		} `json:"content"`
	} `json:"requestBody"`
	method, path string
}

// operations reads a document.
func operations(t *testing.T, text []byte) (all []operation) {
	t.Helper()
	var document struct {
		Paths map[string]map[string]operation `json:"paths"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for path, methods := range document.Paths {
		for method, o := range methods {
			o.method, o.path = strings.ToUpper(method), path
			all = append(all, o)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].path+all[i].method < all[j].path+all[j].method })
	return all
}

// fill puts the things of the bench into a path.
func (b *bench) fill(path string) string {
	return strings.NewReplacer("{workspace_id}", b.caller.Workspace, "{job_id}", b.job, "{worker_id}", "NOD-none", "{key_id}", "key_none", "{class_id}", "none").Replace(path)
}

// example is the request that the document shows; "" for a route that takes no body.
func (o operation) example() string {
	if o.Request == nil {
		return ""
	}
	return string(o.Request.Content["application/json"].Example)
}

// TestEveryRouteOfOperatorsTakesTheirKeysAndNothingElse walks the document.
func TestEveryRouteOfOperatorsTakesTheirKeysAndNothingElse(t *testing.T) {
	each(t, func(b *bench) {
		revoked, expired := b.key(identity.OperatorWrites, 0), b.key(identity.OperatorWrites, time.Microsecond)
		var node identity.NewKey
		b.write(func(ctx context.Context, tx *db.Tx) (err error) {
			if err = operator.RevokeKey(revoked.KeyID).Perform(ctx, tx, operator.Account("root")); err == nil {
				node, err = identity.CreateNodeKey(ctx, tx, "node")
			}
			return err
		})
		served := b.call("GET", "/admin/v1/openapi.json", "", "")
		if served.text != string(admin.Document(b.URL)) {
			b.Errorf("the document is not that of svc openapi --operators: %d", served.status)
		}
		all := operations(b.T, []byte(served.text))
		if len(all) < 13 {
			b.Fatalf("only %d routes", len(all))
		}
		for _, o := range all {
			path := b.fill(o.path)
			for who, key := range map[string]string{
				"nobody": "", "an account key": b.caller.Account.Secret, "an agent key": b.caller.Agent.Secret, "a node key": node.Secret,
				"a revoked key": revoked.Secret, "an expired key": expired.Secret, "an unknown key": contract.OperatorKeyPrefix + strings.Repeat("0", contract.KeySecretLength),
			} {
				a := b.call(o.method, path, key, o.example())
				if a.status != 401 || a.code != fault.Unauthenticated || a.header.Get("WWW-Authenticate") == "" {
					b.Errorf("%s by %s: %d %s", o.ID, who, a.status, a.code)
				}
			}
			if len(o.Security) != 1 {
				b.Fatalf("%s: %v", o.ID, o.Security)
			}
			reads := b.call(o.method, path, b.reader.Secret, o.example())
			if o.Security[0]["operatorKey"][0] == "write" {
				if reads.status != 403 || reads.code != fault.InsufficientScope {
					b.Errorf("%s by a key that only reads: %d %s", o.ID, reads.status, reads.code)
				}
			} else if o.method != "GET" || reads.status >= 400 && reads.code != fault.WorkerNotFound && reads.code != fault.PaymentsUnavailable {
				b.Errorf("%s by a key that only reads: %d %s", o.ID, reads.status, reads.text)
			}
			if reads.header.Get("Cache-Control") != "no-store" || reads.header.Get("Access-Control-Allow-Origin") != "" {
				b.Errorf("%s: pages and caches may read it: %v", o.ID, reads.header)
			}
		}
	})
}

// TestAnOperatorKeyOpensNothingElse walks the callers' document.
func TestAnOperatorKeyOpensNothingElse(t *testing.T) {
	each(t, func(b *bench) {
		for _, o := range append(operations(b.T, api.Document(b.URL)), operation{ID: "agents", method: "POST", path: "/mcp", Security: make([]map[string][]string, 1)}) {
			if len(o.Security) == 0 {
				continue
			}
			path := strings.NewReplacer("{job_id}", b.job, "{", "", "}", "").Replace(o.path)
			if a := b.call(o.method, path, b.writer.Secret, o.example()); a.status != 401 || strings.Contains(a.text, contract.OperatorKeyPrefix) {
				b.Errorf("%s by an operator key: %d %s", o.ID, a.status, a.text)
			}
		}
	})
}

// TestAnswersHaveListsWhereNothingIs: programs go through them without a check.
func TestAnswersHaveListsWhereNothingIs(t *testing.T) {
	each(t, func(b *bench) {
		for _, o := range operations(b.T, admin.Document(b.URL)) {
			if o.method != "GET" || strings.Contains(o.path, "worker_id") || o.ID == "reconcile" {
				continue
			}
			a := b.call("GET", b.fill(o.path), b.reader.Secret, "")
			if a.status != 200 || fmt.Sprint(a.body["ok"]) != "true" {
				b.Errorf("%s: %d %s", o.ID, a.status, a.text)
			}
			for _, list := range []string{"workspaces", "jobs", "workers", "paused_keys", "refuted_keys", "frames", "failures", "alerts", "usage", "acts", "processes", "dead_letters", "log", "people", "tags", "keys", "entries", "waiting", "signing_keys", "invoices", "operators", "classes", "test_worlds"} {
				if value, there := a.body[list]; there && value == nil {
					b.Errorf("%s: %s is null", o.ID, list)
				}
			}
		}
		jobs := b.call("GET", "/admin/v1/jobs?limit=1&workspace="+b.caller.Workspace, b.reader.Secret, "")
		if len(jobs.body["jobs"].([]any)) != 1 || !strings.Contains(jobs.text, b.job) {
			b.Errorf("jobs: %s", jobs.text)
		}
		for path, code := range map[string]fault.Code{
			"/admin/v1/jobs?limit=0": fault.InvalidRequest, "/admin/v1/jobs?status=lost": fault.InvalidRequest, "/admin/v1/usage?months=99": fault.InvalidRequest,
			"/admin/v1/jobs/JOB-none": fault.RenderNotFound, "/admin/v1/workspaces/WSP-none": fault.WorkspaceNotFound, "/admin/v1/workers/NOD-none": fault.WorkerNotFound,
			"/admin/v1/nothing": fault.RouteNotFound,
		} {
			if a := b.call("GET", path, b.reader.Secret, ""); a.code != code {
				b.Errorf("%s: %d %s", path, a.status, a.code)
			}
		}
	})
}

// TestAServiceWithoutTheAPIHasNoneOfItsRoutes, which is the default.
func TestAServiceWithoutTheAPIHasNoneOfItsRoutes(t *testing.T) {
	t.Parallel()
	running, base := apptest.Start(t, app.Config{})
	b := &bench{T: t, World: &apptest.World{App: running, URL: base}}
	key := b.key(identity.OperatorWrites, 0)
	for _, o := range append(operations(t, admin.Document("")), operation{method: "GET", path: "/admin/v1/openapi.json"}) {
		if a := b.call(o.method, b.fill(o.path), key.Secret, ""); a.status != 404 || a.code != fault.RouteNotFound {
			t.Errorf("%s: %d %s", o.path, a.status, a.code)
		}
	}
}

// TestOperatorKeysAreBoundedAndSayTheirLastUse.
func TestOperatorKeysAreBoundedAndSayTheirLastUse(t *testing.T) {
	each(t, func(b *bench) {
		b.call("GET", "/admin/v1/status", b.reader.Secret, "")
		var keys []identity.ListedOperatorKey
		b.write(func(ctx context.Context, tx *db.Tx) (err error) {
			keys, err = identity.OperatorKeys(ctx, tx)
			return err
		})
		for _, k := range keys {
			if used := k.KeyID == b.reader.KeyID; used != (k.LastUsedAt != nil) || k.ExpiresAt != nil || k.RevokedAt != nil {
				b.Errorf("%+v", k)
			}
		}
		for range identity.MostOperatorKeys - len(keys) - 1 {
			b.key(identity.OperatorReads, 0)
		}
		var node identity.NewKey
		b.write(func(ctx context.Context, tx *db.Tx) (err error) {
			node, err = identity.CreateNodeKey(ctx, tx, "a worker's")
			return err
		})
		if err := b.App.DB.Write(b.Context(), func(tx *db.Tx) error { return identity.RevokeOperatorKey(b.Context(), tx, node.KeyID) }); !fault.Is(err, fault.KeyNotFound) {
			b.Errorf("a worker's key is revoked as an operator's: %v", err)
		}
		if a := b.call("DELETE", "/admin/v1/operator-keys/"+node.KeyID, b.writer.Secret, ""); a.status != 404 {
			b.Errorf("a worker's key is revoked as an operator's: %d %s", a.status, a.text)
		}
		create := func(scope identity.OperatorScope, name string) error {
			return b.App.DB.Write(b.Context(), func(tx *db.Tx) error {
				_, err := identity.CreateOperatorKey(b.Context(), tx, name, scope, 0)
				return err
			})
		}
		var atOnce sync.WaitGroup
		var made atomic.Int64
		for range 4 {
			atOnce.Go(func() {
				if err := create(identity.OperatorReads, "one of four"); err == nil {
					made.Add(1)
				} else if !fault.Is(err, fault.KeyLimitReached) {
					b.Errorf("one of four keys: %v", err)
				}
			})
		}
		if atOnce.Wait(); made.Load() != 1 {
			b.Errorf("%d keys were made where there is room for one", made.Load())
		}
		if err := create("all", "a scope that is none"); !fault.Is(err, fault.InvalidRequest) {
			b.Errorf("another scope: %v", err)
		}
		if err := create(identity.OperatorReads, " "); !fault.Is(err, fault.InvalidKeyName) {
			b.Errorf("no name: %v", err)
		}
	})
}
