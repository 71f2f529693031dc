package web_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/identity"
)

//go:generate go test -run ^TestEveryPageAndFormIsRefusedToRolesThatAreTooSmall$/^sqlite$ . -write-authorisation

var writeAuthorisation = flag.Bool("write-authorisation", false, "write docs/internal/authorisation-pages.md")

// walked are services whose routes are known.
var walked = apptest.Share(func(c *app.Config) { c.Routes = consoleRoutes.keep })

// consoleRoutes are the patterns of what people see and send in the console.
var consoleRoutes routeList

type routeList struct {
	once     sync.Once
	patterns []string
}

// keep reads the patterns of a mux, which has no method for that.
func (l *routeList) keep(mux *http.ServeMux) {
	l.once.Do(func() {
		index := reflect.ValueOf(mux).Elem().FieldByName("index")
		add := func(list reflect.Value) {
			for i := range list.Len() {
				pattern := list.Index(i).Elem().FieldByName("str").String()
				if _, path, _ := strings.Cut(pattern, " "); strings.HasPrefix(path, "/console") || path == "/oauth/authorize" || strings.HasPrefix(path, "/oauth/device") && strings.Contains(pattern, "GET") || path == "/oauth/device/answer" {
					l.patterns = append(l.patterns, pattern)
				}
			}
		}
		add(index.FieldByName("multis"))
		for all := index.FieldByName("segments").MapRange(); all.Next(); {
			add(all.Value())
		}
		slices.Sort(l.patterns)
		l.patterns = slices.Compact(l.patterns)
	})
}

// What each role may send besides reading. Every other form is the owners'. This list is
// separate from the code on purpose: a form that is opened to more people fails the test.
var (
	viewerForms = []string{
		"/console/sign-in", "/console/sign-out", "/console/mode", "/console/workspace", "/console/invitation", "/console/members/leave",
		"/console/settings/sessions", "/console/settings/theme", "/console/settings/mails", "/console/filters", "/console/filters/{filter_id}",
	}
	memberForms = []string{
		"/console/new", "/console/new/sample", "/console/uploads/{upload_id}/frames", "/console/uploads/{upload_id}/look", "/console/uploads/{upload_id}/start",
		"/console/jobs", "/console/jobs/{job_id}/cancel", "/console/jobs/{job_id}/pause", "/console/jobs/{job_id}/resume", "/console/jobs/{job_id}/priority",
		"/console/jobs/{job_id}/tags", "/console/jobs/{job_id}/rerender", "/console/jobs/{job_id}/share", "/console/jobs/{job_id}/share/end",
		"/console/jobs/{job_id}/share/comments", "/console/jobs/{job_id}/comments/delete", "/console/jobs/{job_id}/comments/{comment_id}/{action}",
		"/oauth/authorize", "/oauth/device/answer",
	}
	memberPages = []string{"/console/new", "/console/new/sample", "/oauth/authorize", "/oauth/device", "/oauth/device/answer"}
	ownerPages  = []string{"/console/settings/export"}
)

// least is the least role for a route.
func least(method, path string) identity.Role {
	switch {
	case method == http.MethodGet && slices.Contains(ownerPages, path):
		return identity.Owner
	case method == http.MethodGet && slices.Contains(memberPages, path), method == http.MethodPost && slices.Contains(memberForms, path):
		return identity.Member
	case method == http.MethodGet, slices.Contains(viewerForms, path):
		return identity.Viewer
	}
	return identity.Owner
}

// joins brings a person into the workspace of another one.
func joins(t *testing.T, w *apptest.World, of *person, role identity.Role) *person {
	t.Helper()
	p := &person{t: t, base: w.URL, Workspace: apptest.Workspace{ID: of.ID, Email: id.New("person-") + "@example.com"}}
	p.session = apptest.Join(t, w.App.DB, of.ID, p.Email, role)
	return p
}

// TestEveryPageAndFormIsRefusedToRolesThatAreTooSmall walks all routes of the console as a
// viewer and as a member.
func TestEveryPageAndFormIsRefusedToRolesThatAreTooSmall(t *testing.T) {
	t.Parallel()
	walked.Each(t, func(t *testing.T, w *apptest.World) {
		owner := personOf(t, w, 0)
		people := map[identity.Role]*person{identity.Viewer: joins(t, w, owner, identity.Viewer), identity.Member: joins(t, w, owner, identity.Member)}
		part := regexp.MustCompile(`\{[^}]*\}`)
		rows, refused := []string{}, 0
		for _, pattern := range consoleRoutes.patterns {
			method, path, _ := strings.Cut(pattern, " ")
			row := fmt.Sprintf("| `%s` %s |", path, method)
			for _, role := range []identity.Role{identity.Viewer, identity.Member} {
				may := role.Includes(least(method, path))
				if ends := path == "/console/members/leave" || path == "/console/sign-out" || path == "/console/settings/sessions"; !ends && !strings.HasSuffix(path, "/live") {
					code := people[role].refusal(method, part.ReplaceAllString(strings.TrimSuffix(path, "{$}"), "x"))
					if got := code == fault.InsufficientRole; got == may {
						t.Errorf("%s by a %s: %q", pattern, role, code)
					} else if got {
						refused++
					}
				}
				row += map[bool]string{true: " yes |", false: " 403 |"}[may]
			}
			rows = append(rows, row+" yes |\n")
		}
		if refused < 40 {
			t.Errorf("only %d routes were refused", refused)
		}
		if *writeAuthorisation {
			if err := os.WriteFile(filepath.Join("..", "..", "..", "docs", "internal", "authorisation-pages.md"), []byte(pagesHead+strings.Join(rows, "")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
}

const pagesHead = `# Who may see and send what in the console

Every page and form of the console, asked as a person of each role. Printed by a test that asserts each cell
(` + "`make generate`" + `). 403 is ` + "`insufficient_role`" + `. Without a session, each of them answers 401 or the sign-in page.

| route | viewer | member | owner |
|---|---|---|---|
`

// refusal asks a route without what it needs, and returns the code of the refusal.
func (p *person) refusal(method, path string) fault.Code {
	p.t.Helper()
	page := p.ask(method, path, "application/x-www-form-urlencoded", http.NoBody, func(r *http.Request) { r.Header.Set("Accept", "application/json") })
	var body fault.Body
	if page.status >= 400 {
		_ = json.Unmarshal([]byte(page.text), &body) // a page is no refusal by role
	}
	if (page.status == http.StatusForbidden) != (body.Error.Code == fault.InsufficientRole) {
		p.t.Errorf("%s %s: %d %s", method, path, page.status, body.Error.Code)
	}
	return body.Error.Code
}

// sent are the forms that post, and the buttons that post elsewhere.
var sent = regexp.MustCompile(`<form[^>]* method="post" action="([^"?]*)|formmethod="post" formaction="([^"?]*)|hx-post="([^"?]*)`)

// TestPagesShowNoButtonThatTheirReaderCannotUse reads the pages of a workspace with something
// on each of them.
func TestPagesShowNoButtonThatTheirReaderCannotUse(t *testing.T) {
	t.Parallel()
	w := walked.On(t, "sqlite")
	owner := personOf(t, w, 500)
	priced := owner.upload("demo.blend", demo.Scene())
	begun := owner.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance).want(t, http.StatusOK, "Pause")
	open := owner.upload("demo.blend", demo.Scene())
	owner.submit("/console/webhooks", "url", "https://hooks.example.com/svc")
	owner.submit("/console/members", "email", id.New("open-")+"@example.com", "role", "viewer").want(t, http.StatusOK)
	ended := owner.submit(owner.upload("demo.blend", demo.Scene()).path+"/frames", "frames", "1")
	ended = owner.submit(ended.path+"/start", "quote_id", ended.hidden(t, "quote_id"), "frames", "1", "terms", contract.LegalAcceptance)
	ended = owner.submit(ended.path+"/cancel").want(t, http.StatusOK, "Render again")
	people := map[identity.Role]*person{identity.Owner: owner}
	for _, role := range []identity.Role{identity.Viewer, identity.Member} {
		people[role] = joins(t, w, owner, role)
	}
	seen := map[identity.Role]int{}
	for _, path := range []string{
		"/console", begun.path, ended.path, begun.path + "/share", open.path, "/console/wallet", "/console/wallet/invoices", "/console/keys", "/console/webhooks",
		"/console/settings", "/console/members", "/console/shares", "/console/comments", begun.path + "/comments", "/console/new",
	} {
		for role, p := range people {
			page := p.open(path)
			if may := role.Includes(least("GET", path)); may != (page.status == http.StatusOK) {
				t.Errorf("%s as %s: %d", path, role, page.status)
			}
			for _, m := range sent.FindAllStringSubmatch(page.text, -1) {
				action := m[1] + m[2] + m[3]
				seen[role]++
				if need := least("POST", patternOf(action)); !role.Includes(need) {
					t.Errorf("%s shows a %s what takes the role %s: %s", path, role, need, action)
				}
			}
			if role == identity.Viewer && strings.Contains(page.text, `href="/console/new"`) {
				t.Errorf("%s leads a viewer to New render", path)
			}
		}
	}
	if seen[identity.Owner] <= seen[identity.Member] || seen[identity.Member] <= seen[identity.Viewer] {
		t.Errorf("forms by role: %v", seen)
	}
}

// patternOf is the pattern of a form's address.
func patternOf(path string) string {
	for _, pattern := range consoleRoutes.patterns {
		method, of, _ := strings.Cut(pattern, " ")
		if method != http.MethodPost {
			continue
		}
		form := regexp.MustCompile("^" + regexp.MustCompile(`\\\{[^}]*\\\}`).ReplaceAllString(regexp.QuoteMeta(of), "[^/]+") + "$")
		if form.MatchString(path) && (!strings.Contains(of, "{") || of != path) {
			return of
		}
	}
	return path
}
