package console_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"regexp"
	"testing"
)

var asJSON = regexp.MustCompile(`<link rel="alternate" type="application/json" href="([^"]*)">`)

// TestASearchAsJSONIsTheSameSearch follows what the page names as the same for
// programs.
func TestASearchAsJSONIsTheSameSearch(t *testing.T) {
	t.Parallel()
	h := start(t)
	get := func(path string) []byte {
		t.Helper()
		res, err := http.Get(h.base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, %v", path, res.StatusCode, err)
		}
		return text
	}
	link := asJSON.FindSubmatch(get("/leaderboard?q=rtx+%264090"))
	if link == nil {
		t.Fatal("the page names none")
	}
	var found struct{ Query string }
	if err := json.Unmarshal(get(html.UnescapeString(string(link[1]))), &found); err != nil || found.Query != "rtx &4090" {
		t.Errorf("%s searches for %q, %v", link[1], found.Query, err)
	}
}
