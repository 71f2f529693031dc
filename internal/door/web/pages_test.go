package web_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"os"
	"path/filepath"
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

// TestTheAddressOfAFormLeadsToItsPage opens the address of every form that pages post, as a
// browser does after a refusal: it is a page or leads to one.
func TestTheAddressOfAFormLeadsToItsPage(t *testing.T) {
	t.Parallel()
	svc := shared(t)
	templates, err := filepath.Glob("*/template/*.html")
	if err != nil {
		t.Fatal(err)
	}
	action, value := regexp.MustCompile(`<(?:form|button)[^>]*(?:method="post" action|formaction)="([^"]+)"`), regexp.MustCompile(`\{\{[^}]*\}\}`)
	seen := map[string]bool{}
	for _, name := range templates {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range action.FindAllStringSubmatch(string(text), -1) {
			path := value.ReplaceAllString(found[1], "x")
			if strings.HasPrefix(path, "x/") { // relative to a job
				path = "/console/jobs/" + path
			}
			if seen[path] = true; !strings.HasPrefix(path, "/") {
				t.Errorf("%s has a form for %s", name, path)
			} else if _, status := svc.get(t, path); status == http.StatusMethodNotAllowed {
				t.Errorf("%s of %s: %d", path, name, status)
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("there are %d forms: %v", len(seen), seen)
	}
}

func TestAnErrorPageKnowsItsReader(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	stranger, artist := &person{t: t, base: w.URL}, personOf(t, w, 0)
	boss := operating(t, w, personOf(t, w, 0))
	for _, path := range []string{"/nowhere", "/admin/nowhere", "/console/nowhere", "/guide/nowhere"} {
		for who, p := range map[string]*person{"stranger": stranger, "artist": artist, "operator": boss} {
			page := p.open(path).want(t, http.StatusNotFound, "Not found")
			if signedIn := strings.Contains(page.text, "Sign out"); signedIn != (p != stranger) {
				t.Errorf("the header of %s for the %s: signed in is %t", path, who, signedIn)
			}
			if strings.Contains(page.text, "openapi.json") {
				t.Errorf("%s speaks to programs: %s", path, page.text)
			}
			if strings.Contains(page.text, "perat") != (p == boss) {
				t.Errorf("%s for the %s: %s", path, who, page.text)
			}
		}
	}
	artist.open("/admin").want(t, http.StatusNotFound, "Back to your jobs")
	boss.open("/admin/nowhere").want(t, http.StatusNotFound, "Back to the operators’ pages")
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
