package api_test

import (
	"bytes"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"svc.example/internal/api"
)

// TestThePrintedDocumentIsTheServedOne keeps docs/openapi.json fresh, where a
// review sees what changes for callers.
func TestThePrintedDocumentIsTheServedOne(t *testing.T) {
	t.Parallel()
	printed, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(printed, api.Document("https://svc.example")) {
		t.Error("docs/openapi.json is not what the routes say; run make generate")
	}
}

// TestTheReferenceNamesEveryRoute reads /docs as a person does.
func TestTheReferenceNamesEveryRoute(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	document := api.Routes(mux, api.Rooms{})()
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/docs", nil))
	var described struct {
		Paths map[string]map[string]struct{ OperationID string } `json:"paths"`
	}
	if err := json.Unmarshal(document, &described); err != nil || len(described.Paths) < 20 {
		t.Fatalf("%d paths, %v", len(described.Paths), err)
	}
	page := w.Body.String()
	for path, methods := range described.Paths {
		for method, op := range methods {
			if !strings.Contains(page, html.EscapeString(strings.ToUpper(method)+" "+path)) || !strings.Contains(page, `id="`+op.OperationID+`"`) {
				t.Errorf("the page does not show %s %s", method, path)
			}
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "https://") {
		t.Error("the page asks for something outside itself")
	}
}
