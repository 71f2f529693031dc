package agent

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
)

// cardType is the media type of a server card (SEP-2127).
const cardType = "application/mcp-server-card+json"

// discovery adds what says, to anybody, where the tools are.
func (d *door) discovery(mux *http.ServeMux) {
	entries := []map[string]any{{
		"identifier": "urn:air:" + d.Links.Host() + ":" + contract.Service, "displayName": title, "type": cardType, "url": d.Links.To(links.ServerCardPath),
	}}
	for path, p := range map[string]struct {
		kind string
		text []byte
	}{
		links.ServerCardPath: {cardType, unescaped(d.card("https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"))},
		links.RegistryPath:   {"application/json", unescaped(d.manifest())},
		"/.well-known/ai-catalog.json": {"application/ai-catalog+json", unescaped(map[string]any{
			"specVersion": "1.0", "host": map[string]any{"displayName": d.Links.Host(), "documentationUrl": d.Links.To(links.LLMsPath)}, "entries": entries,
		})},
		// The same under the name that it had before.
		"/.well-known/mcp/catalog.json": {"application/json", unescaped(map[string]any{"specVersion": "draft", "entries": entries})},
		links.LLMsPath:                  {"text/plain; charset=utf-8", []byte(d.llms())},
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", p.kind)
			w.Header().Set("Cache-Control", "public, max-age=3600")
			_, _ = w.Write(p.text) // a failed write means the reader is gone
		})
	}
}

const (
	title   = "svc: Blender renders at a locked price"
	summary = "Renders Blender Cycles scenes at a locked price, with a signed receipt." // 100 characters at most
)

// name is the server's in reverse-DNS form, which belongs to whoever runs it.
func (d *door) name() string {
	labels := strings.Split(d.Links.Host(), ".")
	if _, err := netip.ParseAddr(d.Links.Host()); err != nil {
		slices.Reverse(labels)
	} else {
		labels = []string{"localhost"}
	}
	return strings.Join(labels, ".") + "/" + contract.Service
}

// card is what both the server card and the registry's manifest say.
func (d *door) card(schema string) map[string]any {
	return map[string]any{
		"$schema": schema, "name": d.name(), "title": title, "description": summary, "version": contract.OpenAPIVersion, "websiteUrl": d.Links.To(links.DocsPath),
		"remotes": []any{map[string]any{
			"type": "streamable-http", "url": d.Links.To(links.AgentPath), "supportedProtocolVersions": mcp.SupportedProtocolVersions(),
			"headers": []any{map[string]any{
				"name": "Authorization", "description": "Bearer and an agent key, which its owner makes on the service's pages.",
				"value": "Bearer {agent_key}", "isRequired": true, "isSecret": true,
				"variables": map[string]any{"agent_key": map[string]any{"description": "Agent key, svc_agent_…", "isRequired": true, "isSecret": true}},
			}},
		}},
	}
}

// manifest is a server.json as the public registry takes it.
func (d *door) manifest() map[string]any {
	m := d.card("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json")
	for _, remote := range m["remotes"].([]any) {
		delete(remote.(map[string]any), "supportedProtocolVersions") // of the card alone
	}
	return m
}

func (d *door) llms() string {
	return fmt.Sprintf(`# svc

> %s 1 cent a completed frame; nothing is spent before a locked quote is started.

For agents: Model Context Protocol at %s (streamable HTTP), with Authorization: Bearer and an agent key, svc_agent_…
The way is svc_inspect, svc_start, svc_status, svc_download, svc_receipt; each answer names the next call. Only svc_start spends.
On one's own machine "svc mcp --server %[3]s" offers the same tools over standard input and output, with the key in SVC_API_KEY.

## Machine-readable

- [OpenAPI](%[4]s): every HTTP route
- [Capabilities](%[5]s): renderer, availability, workflow
- [Pricing](%[6]s)
- [Limits](%[7]s)
- [Server card](%[8]s): how to connect
- [Registry manifest](%[9]s)
- [Signing keys](%[10]s): what receipts are checked with

## For people

- [Reference](%[11]s)
`, summary, d.Links.To(links.AgentPath), d.Links.PublicURL, d.Links.To(links.OpenAPIPath), d.Links.To(links.CapabilitiesPath), d.Links.To(links.PricingPath),
		d.Links.To(links.LimitsPath), d.Links.To(links.ServerCardPath), d.Links.To(links.RegistryPath), d.Links.To(links.SigningKeysPath), d.Links.To(links.DocsPath))
}
