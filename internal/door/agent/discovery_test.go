package agent_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"svc.example/internal/app"
)

// TestDiscoveryLeadsToTheTools starts from nothing but the domain.
func TestDiscoveryLeadsToTheTools(t *testing.T) {
	t.Parallel()
	svc := start(t, t.TempDir()+"/svc.db", func(c *app.Config) { c.PublicURL = "https://render.example.com" })
	read := func(path, kind string) map[string]any {
		t.Helper()
		path = strings.TrimPrefix(path, "https://render.example.com")
		res, object := svc.send("GET", path, "", "", "")
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != kind || res.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v", path, res.StatusCode, res.Header)
		}
		return object
	}
	for path, kind := range map[string]string{"/.well-known/ai-catalog.json": "application/ai-catalog+json", "/.well-known/mcp/catalog.json": "application/json"} {
		entry := read(path, kind)["entries"].([]any)[0].(map[string]any)
		if entry["identifier"] != "urn:air:render.example.com:svc" {
			t.Errorf("%s: %v", path, entry)
		}
		card := read(entry["url"].(string), entry["type"].(string))
		remote := card["remotes"].([]any)[0].(map[string]any)
		if card["name"] != "com.example.render/svc" || remote["url"] != "https://render.example.com/mcp" || remote["supportedProtocolVersions"] == nil {
			t.Errorf("the card is %v", card)
		}
	}
	text := string(svc.get(svc.base + "/llms.txt"))
	for _, link := range []string{"/openapi.json", "/v1/capabilities", "/v1/pricing", "/v1/limits", "/mcp/server-card", "/mcp/server.json", "/v1/signing-keys", "/docs"} {
		if !strings.Contains(text, "(https://render.example.com"+link+")") {
			t.Errorf("llms.txt does not link to %s", link)
		}
		svc.get(svc.base + link)
	}
	pages := regexp.MustCompile(`\]\(https://render\.example\.com(/guide/[a-z0-9-]+\.md)\)`).FindAllStringSubmatch(text, -1)
	for _, page := range pages {
		if got := string(svc.get(svc.base + page[1])); !strings.HasPrefix(got, "# ") {
			t.Errorf("%s is no Markdown: %.100s", page[1], got)
		}
	}
	if len(pages) < 90 {
		t.Errorf("llms.txt has %d pages of the guide", len(pages))
	}
}

// TestTheManifestIsOneTheRegistryTakes holds it to the registry's own schema
// (modelcontextprotocol/registry v1.8.7).
func TestTheManifestIsOneTheRegistryTakes(t *testing.T) {
	t.Parallel()
	svc := start(t, t.TempDir()+"/svc.db", func(c *app.Config) { c.PublicURL = "https://render.example.com" })
	text, err := os.ReadFile("testdata/server.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, manifest := svc.send("GET", "/mcp/server.json", "", "", "")
	if manifest["$schema"] != schema.ID {
		t.Errorf("it names the schema %v", manifest["$schema"])
	}
	if err := resolved.Validate(manifest); err != nil {
		t.Errorf("%v: %v", err, manifest)
	}
	delete(manifest, "name")
	if resolved.Validate(manifest) == nil {
		t.Error("the schema takes anything")
	}
}
