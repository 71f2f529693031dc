package public

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"svc.example/docs"
	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
)

// guideDoor is where one kind of reader enters the guide.
type guideDoor struct {
	Name, For  string // For is a sentence
	Quickstart guide
	Guides     []guide
	Reference  []guide
}

// guide is one document.
type guide struct {
	Name, Title string
	Body        template.HTML
}

// Path is the guide's page.
func (g guide) Path() string { return page.GuidePath + "/" + g.Name }

// guideDoors are the documents for users, grouped by reader. To add a page, write
// docs/NAME.md and add its name here: a test fails for a page of docs/ that no door has.
func guideDoors() []guideDoor {
	named := func(names ...string) (guides []guide) {
		for _, n := range names {
			guides = append(guides, guide{Name: n})
		}
		return guides
	}
	return []guideDoor{
		{
			Name: "Render", For: "You have a scene and want its frames.", Quickstart: guide{Name: "first-render"},
			Guides:    named("blender", "price", "files", "order-settings", "colours", "revisions", "reuse", "previews", "frames", "stills", "queue", "overviews", "movies", "sharing", "teams", "notices", "results", "your-files", "refunds", "bookkeeping", "engines", "get-svc"),
			Reference: named("files-reference", "warnings", "findings", "pictures"),
		},
		{
			Name: "Build", For: "You connect a program, a pipeline or an agent.", Quickstart: guide{Name: "build"},
			Guides:    named("keys-and-spending", "sdk", "conformance", "agents", "agent-tools", "webhooks", "webhook-receivers", "test-mode", "oauth", "verify", "verify-independently", "versions"),
			Reference: named("interface", "interface-basics", "interface-routes", "interface-shapes", "interface-account", "interface-wallet", "interface-uploads", "interface-projects", "interface-scene", "interface-quotes", "interface-jobs", "interface-job-routes", "interface-receipts", "errors", "states", "webhook-events", "limits", "cli", "sdk-operations", "sdk-python", "sdk-typescript"),
		},
		{
			Name: "Run", For: "You operate a service or its workers.", Quickstart: guide{Name: "run"},
			Guides:    named("install", "configure", "operate", "operator-api", "test-worlds", "observe", "upgrade", "ports-and-tls", "several-processes", "backups", "change-price", "payments", "farm", "worker-tags", "worker-speed", "worker-failures", "gpu", "deploy", "containers", "kubernetes", "scale", "audit", "keys", "witness", "leaderboard", "benchmark"),
			Reference: named("metrics", "traces", "runbook", "runbook-tickets", "leaderboard-api", "security", "sandbox", "service-limits", "cli-operators"),
		},
	}
}

// each calls do with every guide of a door.
func (d *guideDoor) each(do func(*guide)) {
	do(&d.Quickstart)
	for _, list := range [][]guide{d.Guides, d.Reference} {
		for i := range list {
			do(&list[i])
		}
	}
}

// guides are all documents of guideDoors, by name, and the doors with their titles. They
// are made once, at the first page.
var guides = sync.OnceValues(func() (doors []guideDoor, byName map[string]guide) {
	byName = map[string]guide{}
	doors = guideDoors()
	for i := range doors {
		doors[i].each(func(g *guide) {
			made, err := readGuide(g.Name)
			if err != nil {
				panic(err) // a programming error, which the tests would see
			}
			*g, byName[g.Name] = made, made
		})
	}
	return doors, byName
})

// markdown makes pages of Markdown. It leaves out HTML and what a link would run.
func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
}

// printed is what a generated document says of its source; only its maintainers need it.
var printed = regexp.MustCompile("(?m)^(?:Printed from `[^`]*`|Made of the source) by `make generate`(?:; do not edit)?\\. ?")

// readGuide makes a page of a document. Its links to other documents become links to their
// pages; what leads elsewhere in the repository becomes text. The documents are ours, so
// their HTML is trusted.
func readGuide(name string) (guide, error) {
	source, err := fs.ReadFile(docs.Files, name+".md")
	if err != nil {
		return guide{}, fmt.Errorf("read the guide %s: %w", name, err)
	}
	title, rest, _ := bytes.Cut(source, []byte("\n"))
	rest = printed.ReplaceAll(rest, nil)
	markdown := markdown()
	root := markdown.Parser().Parse(text.NewReader(rest))
	var elsewhere []*ast.Link
	err = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			if to := guideLink(string(link.Destination)); to != "" {
				link.Destination = []byte(to)
			} else {
				elsewhere = append(elsewhere, link)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, link := range elsewhere {
		for parent, child := link.Parent(), link.FirstChild(); child != nil; child = link.FirstChild() {
			parent.InsertBefore(parent, link, child)
		}
		link.Parent().RemoveChild(link.Parent(), link)
	}
	var body bytes.Buffer
	if err == nil {
		err = markdown.Renderer().Render(&body, rest, root)
	}
	return guide{Name: name, Title: strings.TrimPrefix(string(title), "# "), Body: template.HTML(body.String())}, err //nolint:gosec // see above
}

// guideLink is where a link of a document leads on the site; "" for what is in the
// repository alone.
func guideLink(to string) string {
	file, section, _ := strings.Cut(to, "#")
	if section != "" {
		section = "#" + section
	}
	switch name, isPage := strings.CutSuffix(file, ".md"); {
	case file == "" || strings.HasPrefix(file, "/") || strings.Contains(file, "://"):
		return to
	case file == "openapi.json":
		return links.OpenAPIPath
	case isPage && inGuide(name):
		return path.Join(page.GuidePath, name) + section
	}
	return ""
}

// inGuide says whether a document is a page of the guide.
func inGuide(name string) (is bool) {
	for _, d := range guideDoors() {
		d.each(func(g *guide) { is = is || g.Name == name })
	}
	return is
}

// guideIndex builds the first page of the guide.
func (s *Site) guideIndex(*http.Request) (page.Page, error) {
	doors, _ := guides()
	return page.Page{Template: "guides", Title: "Guide", Section: page.GuideSection, Content: doors}, nil
}

// guide builds the page of a document. Errors: route_not_found.
func (s *Site) guide(r *http.Request) (page.Page, error) {
	_, byName := guides()
	g, ok := byName[r.PathValue("name")]
	if !ok {
		return page.Page{}, fault.New(fault.RouteNotFound, "There is no guide %q.", r.PathValue("name"))
	}
	return page.Page{Template: "guide", Title: g.Title, Section: page.GuideSection, Content: g}, nil
}
