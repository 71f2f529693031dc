package web

import (
	"net/http"
	"strings"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/webhook"
)

// errorView is what the error page tells: what happened, what to do, the request
// id and the way back.
type errorView struct {
	fault.Wire
	Back back
}

type back struct{ Path, Text string }

// ErrorPage answers with the page of an error. Headers that belong to the error,
// such as Retry-After, are set before.
func ErrorPage(w http.ResponseWriter, r *http.Request, status int, body fault.Body) {
	p := page{Template: "error", Title: errorTitle(r.URL.Path, status), Content: errorView{body.Error, backLink(r.URL.Path)}, Status: status}
	text, err := p.write()
	if err != nil {
		panic(err) // a programming error: the template takes every error
	}
	send(w, r, p, text)
}

func errorTitle(path string, status int) string {
	switch {
	case strings.HasPrefix(path, signInPaths):
		return "Not signed in"
	case status == http.StatusNotFound:
		return "Not here"
	}
	return http.StatusText(status)
}

// signInPaths is where the ways to sign in are, which a browser follows too.
const signInPaths = "/v1/auth/"

// backLink is where a visitor goes on from an error at a path.
func backLink(path string) back {
	switch {
	case strings.HasPrefix(path, links.LeaderboardPath):
		return back{links.LeaderboardPath, "Back to the leaderboard"}
	case strings.HasPrefix(path, "/console/"):
		return back{webhook.ConsolePage, "Back to your webhooks"}
	case strings.HasPrefix(path, signInPaths):
		return back{webhook.ConsolePage, "Sign in again"}
	}
	return back{"/", "Back to the first page"}
}
