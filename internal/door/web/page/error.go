package page

import (
	"embed"
	"net/http"
	"strings"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// errorView is the content of the error page: what happened, what to do, the
// request id, and a link back.
type errorView struct {
	fault.Wire
	Back back
}

// back is the link by which a visitor leaves the error page.
type back struct{ Path, Text string }

// errorSet has the pages that every group has.
var errorSet = Templates(embed.FS{}, nil)

// ErrorPages writes errors as pages.
type ErrorPages struct {
	// DB has the sessions of readers.
	DB *db.DB
	// Test and TestMode are those of Shared.
	Test, TestMode bool
}

// Write writes an error as a page. Package front calls it for browsers, after it has set the
// headers that belong to the error, such as Retry-After.
func (e ErrorPages) Write(w http.ResponseWriter, r *http.Request, status int, body fault.Body) {
	who := e.reader(r, status)
	if action, ok := readerActions[body.Error.Code]; ok {
		body.Error.SuggestedAction = action
	}
	p := Page{Template: "error", Title: errorTitle(r.URL.Path, status), Content: errorView{body.Error, backLink(r.URL.Path, who)}, Status: status}
	p.Email, p.Operator, p.Role, p.Test, p.TestMode = who.Credential.Email, who.Operator, who.Role, e.Test, e.TestMode
	p.Theme = ThemeOf(r)
	p.Forms = p.Test || p.Email != ""
	text, err := errorSet.Write(p)
	if err != nil {
		panic(err) // a programming error: the template takes every error
	}
	send(w, r, p, text)
}

// reader is the signed-in reader of an error page; the zero value for anyone else. Where the
// service is overloaded or its store is away, nobody is looked up.
func (e ErrorPages) reader(r *http.Request, status int) (who identity.Principal) {
	token, err := identity.SessionToken(r)
	if err != nil || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError {
		return who
	}
	if who, err = identity.Session(r.Context(), e.DB, token); err != nil {
		return identity.Principal{}
	}
	return who
}

// readerActions say what the reader of a page can do where the action of the code speaks to a
// program.
var readerActions = map[fault.Code]string{
	fault.RouteNotFound:    "Check the address, or continue from the page below.",
	fault.MethodNotAllowed: "Continue from the page below.",
}

// errorTitle returns the headline for a path and a status.
func errorTitle(path string, status int) string {
	switch {
	case strings.HasPrefix(path, signInPaths):
		return "Not signed in"
	case status == http.StatusNotFound:
		return "Not found"
	}
	return http.StatusText(status)
}

// signInPaths begins the paths of signing in. They belong to the API, but
// browsers follow them too.
const signInPaths = "/v1/auth/"

// backLink returns where a reader can continue from an error at path.
func backLink(path string, who identity.Principal) back {
	switch {
	case strings.HasPrefix(path, links.LeaderboardPath):
		return back{links.LeaderboardPath, "Back to the leaderboard"}
	case strings.HasPrefix(path, webhook.ConsolePage):
		return back{webhook.ConsolePage, "Back to your webhooks"}
	case strings.HasPrefix(path, ConsolePath):
		return back{ConsolePath, "Back to your jobs"}
	case strings.HasPrefix(path, AdminPath+"/") && who.Operator:
		return back{AdminPath, "Back to the operators’ pages"}
	case strings.HasPrefix(path, GuidePath):
		return back{GuidePath, "Back to the guide"}
	case strings.HasPrefix(path, signInPaths):
		return back{"/sign-in", "Sign in again"}
	case who.Credential.Email != "":
		return back{ConsolePath, "Back to your jobs"}
	}
	return back{"/", "Back to the home page"}
}
