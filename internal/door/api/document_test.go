package api_test

import (
	"bytes"
	"html"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/door/api"
	"svc.example/internal/test/apptest"
)

// TestThePrintedDocumentIsTheServedOne keeps docs/openapi.json fresh, where a
// review sees what changes for callers.
func TestThePrintedDocumentIsTheServedOne(t *testing.T) {
	t.Parallel()
	printed, err := os.ReadFile("../../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(printed, api.Document("https://svc.example")) {
		t.Error("docs/openapi.json is not what the routes say; run make generate")
	}
}

// TestThePublicCallsOfTheReferenceWork makes each call that the page shows and that
// needs neither a credential nor an id.
func TestThePublicCallsOfTheReferenceWork(t *testing.T) {
	t.Parallel()
	_, url := apptest.Start(t, app.Config{PublicURL: "https://renders.example.com"})
	res, err := http.Get(url + "/docs")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	calls := regexp.MustCompile(`<code>curl "https://renders\.example\.com(/[^"$]*)"</code>`).FindAllStringSubmatch(html.UnescapeString(string(page)), -1)
	if len(calls) < 10 {
		t.Errorf("it shows %d", len(calls))
	}
	for _, call := range calls {
		res, err := http.Get(url + call[1])
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if oidc := strings.HasPrefix(call[1], "/v1/auth/oidc/"); !oidc && res.StatusCode != http.StatusOK { // no issuer is configured
			t.Errorf("%s: %d", call[1], res.StatusCode)
		}
	}
}
