package page

import (
	"embed"
	"net/http"
	"strings"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
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

// ErrorPage writes an error as a page. Package front calls it for browsers,
// after it has set the headers that belong to the error, such as Retry-After.
func ErrorPage(w http.ResponseWriter, r *http.Request, status int, body fault.Body) {
	errorPage(w, r, status, body, false)
}

// TestErrorPage is ErrorPage in a test world: it has the stripe, which leads back.
func TestErrorPage(w http.ResponseWriter, r *http.Request, status int, body fault.Body) {
	errorPage(w, r, status, body, true)
}

func errorPage(w http.ResponseWriter, r *http.Request, status int, body fault.Body, test bool) {
	p := Page{Test: test, Forms: test, Template: "error", Title: errorTitle(r.URL.Path, status), Content: errorView{body.Error, backLink(r.URL.Path)}, Status: status}
	text, err := errorSet.Write(p)
	if err != nil {
		panic(err) // a programming error: the template takes every error
	}
	send(w, r, p, text)
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

// backLink returns where a visitor can continue from an error at path.
func backLink(path string) back {
	switch {
	case strings.HasPrefix(path, links.LeaderboardPath):
		return back{links.LeaderboardPath, "Back to the leaderboard"}
	case strings.HasPrefix(path, webhook.ConsolePage):
		return back{webhook.ConsolePage, "Back to your webhooks"}
	case strings.HasPrefix(path, ConsolePath):
		return back{ConsolePath, "Back to your jobs"}
	case strings.HasPrefix(path, AdminPath+"/"):
		return back{AdminPath, "Back to the operators' pages"}
	case strings.HasPrefix(path, GuidePath):
		return back{GuidePath, "Back to the guide"}
	case strings.HasPrefix(path, signInPaths):
		return back{"/sign-in", "Sign in again"}
	}
	return back{"/", "Back to the home page"}
}
