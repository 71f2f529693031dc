package api_test

//go:generate go test -run ^TestEveryRouteLetsInWhomItSaysAndNobodyElse$/^sqlite$ . -write-authorisation

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
)

var writeAuthorisation = flag.Bool("write-authorisation", false, "write docs/internal/authorisation.md")

// operation is a route of the document.
type operation struct {
	id, method, path string
	takes            []kind
	ownPagesOnly     bool // refuses other sites although it takes no credential
	names            bool // the path names a thing
}

// operations reads every route from the document that is served.
func (w *world) operations() []operation {
	w.t.Helper()
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string                     `json:"operationId"`
			Security    []map[string][]string      `json:"security"`
			Responses   map[string]json.RawMessage `json:"responses"`
			RequestBody json.RawMessage            `json:"requestBody"`
		} `json:"paths"`
	}
	_, text := w.ask(operation{method: "GET", path: "/v1/openapi.json"}, "", "", false)
	if err := json.Unmarshal(text, &document); err != nil {
		w.t.Fatal(err)
	}
	var all []operation
	for path, methods := range document.Paths {
		for method, o := range methods {
			op := operation{id: o.OperationID, method: strings.ToUpper(method), path: path}
			for _, scheme := range o.Security {
				for name := range scheme {
					op.takes = append(op.takes, kind(name))
				}
			}
			if op.id == "preflightRender" { // the published contract lists no requirement, but it has one (spec 4.1)
				op.takes = []kind{accountKind}
			}
			_, forbids := o.Responses["403"]
			op.ownPagesOnly = forbids && len(op.takes) == 0
			op.names = strings.Contains(path, "_id}") || w.samples[op.id].names
			if _, known := w.samples[op.id]; o.RequestBody != nil && !known {
				w.t.Fatalf("%s takes a body: give the matrix a sample of one", op.id)
			}
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	// What ends things that others need goes last, and what ends credentials after that.
	slices.SortStableFunc(all, func(a, b operation) int { return ending(a) - ending(b) })
	return all
}

func ending(op operation) int {
	switch op.id {
	case "deleteUpload", "deleteInspectedUpload":
		return 1
	case "signOut":
		return 2
	}
	return 0
}

// fill puts the owner's things into a path.
func (w *world) fill(path string) string {
	w.t.Helper()
	for name, value := range w.path {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	for routes, value := range w.keys {
		if strings.HasPrefix(path, routes+"/") {
			path = strings.ReplaceAll(path, "{key_id}", value)
		}
	}
	if strings.Contains(path, "{") {
		w.t.Fatalf("%s: give the matrix a value for its parameter", path)
	}
	return path
}

// ask sends an operation's request with one credential, from our own page or
// from another site's.
func (w *world) ask(op operation, k kind, secret string, elsewhere bool) (outcome, []byte) {
	w.t.Helper()
	s := w.samples[op.id]
	r, err := http.NewRequestWithContext(w.t.Context(), op.method, w.base+w.fill(op.path)+s.query, bytes.NewReader(s.body.data))
	if err != nil {
		w.t.Fatal(err)
	}
	if s.body.kind != "" {
		r.Header.Set("Content-Type", s.body.kind)
	}
	if k == sessionKind {
		r.AddCookie(&http.Cookie{Name: contract.SessionCookie, Value: secret})
	} else if k != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	if elsewhere {
		r.Header.Set("Origin", "https://elsewhere.example")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	res, err := checked{w.t}.RoundTrip(r) // redirects are answers
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	// A shared cache must not keep what one credential may see.
	if cache := res.Header.Get("Cache-Control"); k != "" && len(op.takes) > 0 && !strings.Contains(cache, "no-store") && !strings.Contains(cache, "private") {
		w.t.Errorf("%s %s with a credential: Cache-Control is %q", op.method, op.path, cache)
	}
	if res.Header.Get("X-Content-Type-Options") != "nosniff" {
		w.t.Errorf("%s %s: browsers may guess the type", op.method, op.path)
	}
	o := outcome{status: res.StatusCode}
	if o.status >= 400 {
		var refusal fault.Body
		if err := json.Unmarshal(text, &refusal); err != nil {
			w.t.Fatalf("%s: %d %s", op.id, o.status, text)
		}
		o.code = refusal.Error.Code
	}
	return o, text
}

type outcome struct {
	status int
	code   fault.Code
}

func (o outcome) String() string { return fmt.Sprintf("%d", o.status) }

// letIn says that the credential was not what an answer is about.
func (o outcome) letIn() bool {
	return o.status != http.StatusUnauthorized && o.code != fault.CrossOriginRefused
}

var (
	unauthenticated = outcome{401, fault.Unauthenticated}
	foreign         = outcome{403, fault.CrossOriginRefused}
)

// TestEveryRouteLetsInWhomItSaysAndNobodyElse walks the document: every
// operation in it is called by all who must be refused and by the owner.
func TestEveryRouteLetsInWhomItSaysAndNobodyElse(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		var rows []string
		for _, op := range w.operations() {
			check := w.public
			if len(op.takes) > 0 {
				check = w.guarded
			}
			rows = append(rows, fmt.Sprintf("| `%s` %s | %s |\n", op.path, op.method, strings.Join(check(op), " | ")))
		}
		slices.Sort(rows)
		if *writeAuthorisation {
			text := authorisationHead + strings.Join(rows, "")
			if err := os.WriteFile(filepath.Join("..", "..", "..", "docs", "internal", "authorisation.md"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
}

const authorisationHead = `# Who may do what

Every route of the API, asked with every credential that must be refused. Printed by a test that asserts each cell
(` + "`make generate`" + `); the routes and what they take are read from the OpenAPI document.

A cell is the answer's status: 401 ` + "`unauthenticated`" + `, 403 ` + "`cross_origin_refused`" + `, 404 for a thing that another workspace has.
*wrong kind*: each credential that the route does not take, workers' keys too. *ended*: a revoked key, a session signed out
or past its 14 days. *another site*: a session, used by another site's page; a key is good from anywhere. *own only*: the
route names no thing, and shows or makes another workspace's own. *test mode only*: with a real credential, 409 ` + "`wrong_mode`" + `.
*viewer*, *member*, *owner*: a session of a person with that role; 403 is ` + "`insufficient_role`" + `. Keys have no role.

| route | takes | nothing | wrong kind | ended | another site | another workspace | viewer | member | owner |
|---|---|---|---|---|---|---|---|---|---|
`

// public checks a route that takes no credential: none makes a difference.
func (w *world) public(op operation) []string {
	w.t.Helper()
	plain, _ := w.ask(op, "", "", false)
	for k, secret := range w.owner {
		if got, _ := w.ask(op, k, secret, false); got != plain {
			w.t.Errorf("%s: %s %s with a %s, %s %s without", op.id, got, got.code, k, plain, plain.code)
		}
	}
	site := "open"
	want := plain
	if op.ownPagesOnly {
		site, want = foreign.String(), foreign
	}
	if got, _ := w.ask(op, "", "", true); got != want {
		w.t.Errorf("%s from another site: %s %s", op.id, got, got.code)
	}
	takes, entry := "nothing", "open"
	if op.id == "downloadArtifact" || op.id == "getPreviewImage" { // its address is the credential
		takes, entry = "a signed address", unauthenticated.String()
		site = entry
		if plain != unauthenticated {
			w.t.Errorf("%s by an unsigned address: %s %s", op.id, plain, plain.code)
		}
	} else if !plain.letIn() {
		w.t.Errorf("%s: %s %s", op.id, plain, plain.code)
	}
	return []string{takes, entry, entry, entry, site, entry, "-", "-", "-"}
}

// guarded checks a route that takes credentials.
func (w *world) guarded(op operation) []string {
	w.t.Helper()
	check := func(who string, k kind, secret string, elsewhere bool, want outcome) {
		w.t.Helper()
		if got, _ := w.ask(op, k, secret, elsewhere); got != want {
			w.t.Errorf("%s by %s (%s): %s %s, want %s %s", op.id, who, k, got, got.code, want, want.code)
		}
	}
	check("nobody", "", "", false, unauthenticated)
	site := "-"
	for _, k := range kinds() {
		if !slices.Contains(op.takes, k) {
			check("the wrong kind", k, w.owner[k], false, unauthenticated)
			continue
		}
		check("an ended one", k, w.ended[k], false, unauthenticated)
		if k == sessionKind {
			site = foreign.String()
			check("an expired one", k, w.expired, false, unauthenticated)
			check("another site", k, w.owner[k], true, foreign)
		}
	}
	others := w.others(op)
	for _, k := range op.takes {
		w.mine(op, k)
	}
	names := make([]string, len(op.takes))
	for i, k := range op.takes {
		names[i] = map[kind]string{accountKind: "account key", agentKind: "agent key", sessionKind: "session"}[k]
	}
	slices.Sort(names)
	refused := unauthenticated.String()
	return append([]string{strings.Join(names, ", "), refused, refused, refused, site, others}, w.asRoles(op)...)
}

// others checks that another workspace meets none of the owner's things.
func (w *world) others(op operation) string {
	w.t.Helper()
	cell := "own only"
	for _, k := range op.takes {
		if op.id == "signOut" {
			break // ends the session of any caller
		}
		if op.id == "saveFilter" && k != sessionKind {
			continue // the person and their key have each name once
		}
		got, text := w.ask(op, k, w.stranger[k], false)
		if op.names {
			cell = "404"
		}
		if op.id == "createProject" { // the owner's parts are not there for others
			cell = "own only"
			if got != (outcome{409, fault.PartsMissing}) {
				w.t.Errorf("%s of another workspace's parts (%s): %s %s", op.id, k, got, got.code)
			}
			continue
		}
		if strings.HasPrefix(op.path, "/v1/test/") { // these credentials are real ones
			cell = "test mode only"
			if got != (outcome{409, fault.WrongMode}) {
				w.t.Errorf("%s outside of test mode (%s): %s %s", op.id, k, got, got.code)
			}
			continue
		}
		if (op.names && got.status != http.StatusNotFound) || (!op.names && got.status >= 400) {
			w.t.Errorf("%s by another workspace (%s): %s %s", op.id, k, got, got.code)
		}
		for _, thing := range w.belongings {
			if !op.names && bytes.Contains(text, []byte(thing)) {
				w.t.Errorf("%s shows %s to another workspace (%s)", op.id, thing, k)
			}
		}
	}
	return cell
}

// mine checks that the owner is let in, with a key from any site: a refusal of
// everyone proves nothing.
func (w *world) mine(op operation, k kind) {
	w.t.Helper()
	theirs, _ := w.ask(op, k, w.stranger[k], false)
	got, _ := w.ask(op, k, w.owner[k], k != sessionKind)
	if op.id == "deleteWebhookEndpoint" {
		w.path["endpoint_id"] = w.endpoint() // another for the next caller
	}
	if op.id == "deleteFilter" {
		w.path["filter_id"] = w.filter()
	}
	if op.id == "revokeAgentKey" {
		w.keys["/v1/agent-keys"] = w.signedIn(w.service.owner).do("POST", "/v1/agent-keys", jsonBody(`{"name":"to be revoked"}`)).text("key_id")
	}
	if !got.letIn() || (op.names && got == theirs) {
		w.t.Errorf("%s by the owner (%s): %s %s", op.id, k, got, got.code)
	}
}
