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
	title := http.StatusText(status)
	if status == http.StatusNotFound {
		title = "Not here"
	}
	errorPage(w, r, title, status, body)
}

func errorPage(w http.ResponseWriter, r *http.Request, title string, status int, body fault.Body) {
	p := page{Template: "error", Title: title, Content: errorView{body.Error, wayBack(r.URL.Path)}, Status: status}
	text, err := p.write()
	if err != nil {
		panic(err) // a programming error: the template takes every error
	}
	send(w, r, p, text)
}

// wayBack is where a visitor goes on from an error at a path.
func wayBack(path string) back {
	switch {
	case strings.HasPrefix(path, links.LeaderboardPath):
		return back{links.LeaderboardPath, "Back to the leaderboard"}
	case strings.HasPrefix(path, "/console/"):
		return back{webhook.ConsolePage, "Back to your webhooks"}
	case strings.HasPrefix(path, "/v1/auth/"):
		return back{webhook.ConsolePage, "Sign in again"}
	}
	return back{"/", "Back to the first page"}
}
