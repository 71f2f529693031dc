package app

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
)

// testPrefix begins the paths that links of test worlds have: a workspace's id follows.
const testPrefix = "/test/"

// testPath is the path of a link of a test world.
var testPath = regexp.MustCompile(`^/test/(WSP-[0-9a-f]{32})(/.*)$`)

// linkedKey finds in a request's context the workspace that its path names.
type linkedKey struct{}

// Of implements front.Elsewhere: requests with a key of test mode, requests under the address
// of a test world, and those of a browser whose person has switched test mode on.
func (t *testWorlds) Of(r *http.Request) (*http.Request, bool) {
	if m := testPath.FindStringSubmatch(r.URL.Path); m != nil {
		inside := r.WithContext(context.WithValue(r.Context(), linkedKey{}, m[1]))
		address := *r.URL
		address.Path, address.RawPath = m[2], ""
		if raw, found := strings.CutPrefix(r.URL.RawPath, testPrefix+m[1]); found {
			address.RawPath = raw
		}
		inside.URL = &address
		return inside, true
	}
	header := r.Header.Get("Authorization")
	return r, identity.IsTestKey(header) || (header == "" && switchedOn(r) && ofBrowsers(r.URL.Path))
}

// switchedOn reports whether the browser of a signed-in person is in test mode.
func switchedOn(r *http.Request) bool {
	mode, err := r.Cookie(contract.ModeCookie)
	_, session := r.Cookie(contract.SessionCookie)
	return err == nil && session == nil && mode.Value == contract.ModeTest
}

// ofBrowsers reports whether a path leads a browser in test mode to the test world: what
// shows or changes jobs, money and webhooks.
func ofBrowsers(path string) bool {
	return hasPrefix(path, "/console", "/v1/", "/node/v1/") && !ofWorkspace(path)
}

// ofWorkspace reports whether a path is about the workspace itself, in either mode: its
// keys, its people and its settings.
func ofWorkspace(path string) bool {
	return hasPrefix(path, "/console/keys", "/console/settings", links.MembersPath, links.InvitationPath, "/console/workspace", "/console/sign-", "/console/mode", "/v1/auth/", "/v1/api-keys", "/v1/agent-keys", "/v1/workspace/proof-pages")
}

// hasTestSide reports whether a path exists in test worlds.
func hasTestSide(path string) bool {
	return hasPrefix(path, "/console", "/v1/", "/node/v1/", links.AgentPath, "/log/", links.ProofPath, links.SharePath, links.OpenAPIPath, "/assets/")
}

func hasPrefix(path string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// Serve implements front.Elsewhere. It answers errors itself, as those of a test world. The credential is checked in the service's own store,
// and only there: the world knows its guests and none of their ends. Errors: unauthenticated,
// route_not_found, wrong_mode, unavailable.
func (t *testWorlds) Serve(w http.ResponseWriter, r *http.Request) error {
	if err := t.serve(w, r); err != nil {
		t.errs.Answer(w, r, err)
	}
	return nil
}

func (t *testWorlds) serve(w http.ResponseWriter, r *http.Request) error {
	ctx, header := r.Context(), r.Header.Get("Authorization")
	linked, _ := ctx.Value(linkedKey{}).(string)
	switch {
	case t.app.Config.TestMode.Off:
		return fault.New(fault.WrongMode, "This service has no test mode.")
	case ofWorkspace(r.URL.Path):
		return fault.New(fault.WrongMode, "Test mode does not include this. Keys and people belong to the workspace.")
	case !hasTestSide(r.URL.Path):
		return fault.New(fault.RouteNotFound, "There is no route %s in test mode.", r.URL.Path)
	}
	guest, err := t.guest(r, header, linked)
	if fault.Is(err, fault.Unauthenticated) && header == "" && linked == "" {
		t.real.ServeHTTP(w, r) // the sign-in page, or its refusal
		return nil
	}
	if err != nil {
		return err
	}
	inside := r.Clone(ctx)
	inside.Header.Del("Authorization")
	if guest == nil {
		dropSession(inside.Header) // the world would believe one that has ended
	}
	if guest != nil && header != "" {
		inside.Header.Set("Authorization", identity.WorldHeader(header))
	}
	workspaceID := linked
	if guest != nil {
		workspaceID = guest.WorkspaceID
	}
	world, leave, err := t.visit(ctx, workspaceID, guest != nil)
	if err != nil {
		return err
	}
	defer leave()
	if guest != nil {
		if err := world.enter(ctx, *guest); err != nil {
			return err
		}
	}
	world.routes.ServeHTTP(w, inside)
	return nil
}

// dropSession removes a session from the cookies of a request.
func dropSession(header http.Header) {
	cookies := (&http.Request{Header: header}).Cookies()
	header.Del("Cookie")
	kept := &http.Request{Header: header}
	for _, c := range cookies {
		if c.Name != contract.SessionCookie {
			kept.AddCookie(c)
		}
	}
}

// guest authenticates the caller of a request; nil for none, as with a link that
// authorises itself. Error: unauthenticated.
func (t *testWorlds) guest(r *http.Request, header, linked string) (*identity.Guest, error) {
	if identity.IsTestKey(header) {
		who, err := identity.TestKey(r.Context(), t.app.DB, header)
		if err == nil && linked != "" && who.WorkspaceID != linked {
			err = fault.New(fault.Unauthenticated, "This address belongs to another workspace's test world.")
		}
		return &identity.Guest{Principal: who, Secret: strings.TrimPrefix(identity.WorldHeader(header), "Bearer ")}, err
	}
	token, err := identity.SessionToken(r)
	if header != "" || (linked != "" && err != nil) {
		return nil, nil
	}
	var who identity.Principal
	if err == nil {
		who, err = identity.Session(r.Context(), t.app.DB, token)
	}
	if linked != "" && (err != nil || who.WorkspaceID != linked) {
		return nil, nil
	}
	return &identity.Guest{Principal: who, Secret: token}, err
}
