package public

import (
	"encoding/json"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
)

// openAPI is the document as it is printed.
func openAPI(t *testing.T) []byte {
	t.Helper()
	document, err := os.ReadFile("../../../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func referenceText(t *testing.T) string {
	t.Helper()
	p, err := referencePage(openAPI(t))
	if err != nil {
		t.Fatal(err)
	}
	text, err := pages.Write(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheReferenceNamesEveryRoute(t *testing.T) {
	t.Parallel()
	var described struct {
		Paths map[string]map[string]struct{ OperationID string } `json:"paths"`
	}
	if err := json.Unmarshal(openAPI(t), &described); err != nil || len(described.Paths) < 20 {
		t.Fatalf("%d paths, %v", len(described.Paths), err)
	}
	page := referenceText(t)
	for path, methods := range described.Paths {
		for method, op := range methods {
			if !strings.Contains(page, html.EscapeString(strings.ToUpper(method)+" "+path)+" with curl") || !strings.Contains(page, `id="`+op.OperationID+`"`) {
				t.Errorf("the page does not show %s %s", method, path)
			}
		}
	}
}

// article is the content under an id.
func article(t *testing.T, page, id string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, `<article id="`+id+`">`)
	text, _, ended := strings.Cut(rest, "</article>")
	if !found || !ended {
		t.Fatalf("there is nothing under %s", id)
	}
	return html.UnescapeString(text)
}

// TestWhatIsNamedIsALinkThatLeadsThere follows each link within the page; a
// duplicate would be found once.
func TestWhatIsNamedIsALinkThatLeadsThere(t *testing.T) {
	t.Parallel()
	page := referenceText(t)
	stands := map[string]bool{}
	for _, id := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if stands[id[1]] {
			t.Errorf("%s is there twice", id[1])
		}
		stands[id[1]] = true
	}
	links := regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(links) < 500 {
		t.Errorf("%d links", len(links))
	}
	for _, link := range links {
		if !stands[link[1]] {
			t.Errorf("%s leads nowhere", link[1])
		}
	}
	for _, code := range []string{"insufficient_funds", "rate_limited", "webhook_endpoint_disabled"} {
		if !regexp.MustCompile(`(?s)<tr id="` + code + `">.{10,200}[a-z]\.`).MatchString(page) {
			t.Errorf("%s does not say what to do", code)
		}
	}
}

// TestACallSaysAllThatMakingItNeeds reads some calls as their callers would.
func TestACallSaysAllThatMakingItNeeds(t *testing.T) {
	t.Parallel()
	page := referenceText(t)
	for id, words := range map[string][]string{
		"inspectUpload": {
			`curl "https://svc.example/node/v1/uploads/inspect"`, `-H "Authorization: Bearer $SVC_KEY"`, "-F file=@scene.blend",
			`<a href="#agentKey">agentKey</a> or <a href="#session">session</a>`, "at most 104857600 bytes", `<a href="#LockedQuote">`, "QTE-", `<a href="#engine_not_supported">`,
		},
		"startUpload": {
			`/node/v1/uploads/$UPLOAD_ID/start"`, `-H "Content-Type: application/json"`, `-d '{"legal_acceptance":"SVC_LEGAL_V1"`, "webhook_url", "Idempotency-Key", `<a href="#insufficient_funds">`,
		},
		"watchJob":     {"curl -N ", "Last-Event-ID", "event: frame", "boolean, default true"},
		"cancelRender": {"curl -X POST "},
		"getHealth":    {"Public."},
		"RenderObject": {"time (RFC 3339) or null", `<code>"packaging"</code>`, `<a href="#ETARange">ETARange</a> or null`, "0 to 100"},
	} {
		text := article(t, page, id)
		for _, want := range words {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %s: %s", id, want, text)
			}
		}
	}
}
