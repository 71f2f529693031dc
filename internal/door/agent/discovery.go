package agent

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/docs"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
)

// cardType is the media type of an MCP server card (SEP-2127).
const cardType = "application/mcp-server-card+json"

// discovery adds the public documents that lead a client to the tools: the
// server card, the registry manifest, the AI catalog and llms.txt. None depends
// on a request, so all are encoded once, at the start.
func (s *server) discovery(mux *http.ServeMux) {
	entries := []map[string]any{{
		"identifier": "urn:air:" + s.Links.Host() + ":" + contract.Service, "displayName": title, "type": cardType, "url": s.Links.To(links.ServerCardPath),
	}}
	for path, p := range map[string]struct {
		kind string
		text []byte
	}{
		links.ServerCardPath: {cardType, unescaped(s.card("https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"))},
		links.RegistryPath:   {"application/json", unescaped(s.manifest())},
		"/.well-known/ai-catalog.json": {"application/ai-catalog+json", unescaped(map[string]any{
			"specVersion": "1.0", "host": map[string]any{"displayName": s.Links.Host(), "documentationUrl": s.Links.To(links.LLMsPath)}, "entries": entries,
		})},
		// An earlier draft of the same has this name.
		"/.well-known/mcp/catalog.json": {"application/json", unescaped(map[string]any{"specVersion": "draft", "entries": entries})},
		links.LLMsPath:                  {"text/plain; charset=utf-8", []byte(s.llms())},
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", p.kind)
			w.Header().Set("Cache-Control", "public, max-age=3600")
			_, _ = w.Write(p.text) // a failed write means the reader is gone
		})
	}
}

// title and summary appear in every discovery document. The registry takes a
// description of at most 100 characters.
const (
	title   = "svc: Blender renders at a locked price"
	summary = "Renders Blender Cycles scenes at a locked price, with a signed receipt." // 100 characters at most
)

// name returns the server's name in reverse-DNS form, as the registry wants it:
// the public host, not the vendor, because each installation is a server of its
// own. An IP address has no such form, so it becomes localhost.
func (s *server) name() string {
	labels := strings.Split(s.Links.Host(), ".")
	if _, err := netip.ParseAddr(s.Links.Host()); err != nil {
		slices.Reverse(labels)
	} else {
		labels = []string{"localhost"}
	}
	return strings.Join(labels, ".") + "/" + contract.Service
}

// card returns the members that the server card and the registry manifest
// share.
func (s *server) card(schema string) map[string]any {
	return map[string]any{
		"$schema": schema, "name": s.name(), "title": title, "description": summary, "version": contract.OpenAPIVersion, "websiteUrl": s.Links.To(links.DocsPath),
		"remotes": []any{map[string]any{
			"type": "streamable-http", "url": s.Links.To(links.AgentPath), "supportedProtocolVersions": mcp.SupportedProtocolVersions(),
			"headers": []any{map[string]any{
				"name": "Authorization", "description": "Bearer and an agent key, which its owner makes on the service's pages.",
				"value": "Bearer {agent_key}", "isRequired": true, "isSecret": true,
				"variables": map[string]any{"agent_key": map[string]any{"description": "Agent key, svc_agent_…", "isRequired": true, "isSecret": true}},
			}},
		}},
	}
}

// manifest returns a server.json as the public MCP registry accepts it.
func (s *server) manifest() map[string]any {
	m := s.card("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json")
	for _, remote := range m["remotes"].([]any) {
		delete(remote.(map[string]any), "supportedProtocolVersions") // of the card alone
	}
	return m
}

// llms returns llms.txt: how an agent connects, and links to the documents for
// machines and to every page of the guide as Markdown.
func (s *server) llms() string {
	return fmt.Sprintf(`# svc

> %s 1 cent a completed frame; nothing is spent before a locked quote is started.

For agents: Model Context Protocol at %s (streamable HTTP), with Authorization: Bearer and an agent key, svc_agent_…
The way is svc_inspect, svc_preview (a free look at one frame), svc_start, svc_status, svc_download, svc_receipt; each answer names the next call. Only svc_start spends.
On one's own machine "svc mcp --server %[3]s" offers the same tools over standard input and output, with the key in SVC_KEY.

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
%[12]s`, summary, s.Links.To(links.AgentPath), s.Links.To(""), s.Links.To(links.OpenAPIPath), s.Links.To(links.CapabilitiesPath), s.Links.To(links.PricingPath),
		s.Links.To(links.LimitsPath), s.Links.To(links.ServerCardPath), s.Links.To(links.RegistryPath), s.Links.To(links.SigningKeysPath), s.Links.To(links.DocsPath), s.guide())
}

// guide lists the pages of the guide, as Markdown.
func (s *server) guide() string {
	var list strings.Builder
	for _, door := range docs.Doors() {
		fmt.Fprintf(&list, "\n## Guide: %s\n\n%s\n\n", door.Name, door.For)
		for _, name := range door.Names() {
			fmt.Fprintf(&list, "- [%s](%s)\n", docs.Title(name), s.Links.To(links.GuidePath+"/"+name+".md"))
		}
	}
	return list.String()
}
