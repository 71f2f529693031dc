package api_test

import (
	"bytes"
	"os"
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
