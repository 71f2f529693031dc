package web_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var asJSON = regexp.MustCompile(`<link rel="alternate" type="application/json" href="([^"]*)">`)

// TestTheFirstPageLeadsEverywhere follows each of its links; what is of a workspace
// asks to sign in.
func TestTheFirstPageLeadsEverywhere(t *testing.T) {
	t.Parallel()
	svc := shared(t)
	page, status := svc.get(t, "/")
	if status != http.StatusOK {
		t.Fatalf("the first page: %d", status)
	}
	links := regexp.MustCompile(`href="(/[^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(links) < 8 {
		t.Errorf("it has %d links", len(links))
	}
	for _, link := range links {
		want := http.StatusOK
		if strings.HasPrefix(link[1], "/console") {
			want = http.StatusUnauthorized
		}
		if _, status := svc.get(t, link[1]); status != want {
			t.Errorf("%s: %d, want %d", link[1], status, want)
		}
	}
	if !strings.Contains(page, "--server "+svc.base+" ") {
		t.Errorf("its commands do not name this service: %s", page)
	}
}

func (svc *site) get(t *testing.T, path string) (text string, status int) {
	t.Helper()
	res, err := http.Get(svc.base + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), res.StatusCode
}

// TestASearchAsJSONIsTheSameSearch follows what the page names as the same for
// programs.
func TestASearchAsJSONIsTheSameSearch(t *testing.T) {
	t.Parallel()
	svc := shared(t)
	page, _ := svc.get(t, "/leaderboard?q=rtx+%264090")
	link := asJSON.FindStringSubmatch(page)
	if link == nil {
		t.Fatal("the page names none")
	}
	var found struct{ Query string }
	text, _ := svc.get(t, html.UnescapeString(link[1]))
	if err := json.Unmarshal([]byte(text), &found); err != nil || found.Query != "rtx &4090" {
		t.Errorf("%s searches for %q, %v", link[1], found.Query, err)
	}
}
