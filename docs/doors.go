package docs

import (
	"bytes"
	"fmt"
)

// Door is where one kind of reader enters the guide. Documents are named without .md.
type Door struct {
	Name, For  string // For is a sentence
	Quickstart string
	Guides     []string
	Reference  []string
}

// Doors are the documents for users, grouped by reader. To add a page, write docs/NAME.md and
// add its name here: a test fails for a page of docs/ that no door has.
func Doors() []Door {
	return []Door{
		{
			Name: "Render", For: "You have a scene and want its frames.", Quickstart: "first-render",
			Guides:    []string{"blender", "price", "files", "order-settings", "colours", "revisions", "reuse", "previews", "frames", "stills", "queue", "overviews", "movies", "sharing", "teams", "notices", "results", "your-files", "refunds", "bookkeeping", "engines", "get-svc"},
			Reference: []string{"files-reference", "warnings", "findings", "pictures"},
		},
		{
			Name: "Build", For: "You connect a program, a pipeline or an agent.", Quickstart: "build",
			Guides:    []string{"keys-and-spending", "sdk", "conformance", "agents", "agent-tools", "webhooks", "webhook-receivers", "test-mode", "oauth", "verify", "verify-independently", "versions"},
			Reference: []string{"interface", "interface-basics", "interface-routes", "interface-shapes", "interface-account", "interface-wallet", "interface-uploads", "interface-projects", "interface-scene", "interface-quotes", "interface-jobs", "interface-job-routes", "interface-receipts", "errors", "states", "webhook-events", "limits", "cli", "sdk-operations", "sdk-python", "sdk-typescript"},
		},
		{
			Name: "Run", For: "You operate a service or its workers.", Quickstart: "run",
			Guides:    []string{"install", "configure", "operate", "operator-api", "operator-api-routes", "test-worlds", "observe", "upgrade", "ports-and-tls", "several-processes", "backups", "change-price", "payments", "farm", "worker-tags", "worker-speed", "worker-failures", "gpu", "deploy", "containers", "kubernetes", "scale", "audit", "keys", "witness", "leaderboard", "benchmark"},
			Reference: []string{"metrics", "traces", "runbook", "runbook-tickets", "leaderboard-api", "security", "sandbox", "service-limits", "cli-operators"},
		},
	}
}

// Names are all documents of a door: the quickstart, the guides, the reference.
func (d Door) Names() []string {
	names := make([]string, 0, 1+len(d.Guides)+len(d.Reference))
	return append(append(append(names, d.Quickstart), d.Guides...), d.Reference...)
}

// Title is the first line of a document. It panics for a document that does not exist.
func Title(name string) string {
	text, err := Files.ReadFile(name + ".md")
	if err != nil {
		panic(fmt.Errorf("read the title of a document: %w", err)) // a programming error, which the tests would see
	}
	title, _, _ := bytes.Cut(text, []byte("\n"))
	return string(bytes.TrimPrefix(title, []byte("# ")))
}
