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
)

// guidePart is a group of guides on the first page of the guide.
type guidePart struct {
	Name   string
	Guides []guide
}

// guide is one document.
type guide struct {
	Name, Title string
	Body        template.HTML
}

// Path is the guide's page.
func (g guide) Path() string { return page.GuidePath + "/" + g.Name }

// guideParts are the documents that users read, by what they want to know.
func guideParts() []guidePart {
	part := func(name string, documents ...string) guidePart {
		p := guidePart{Name: name}
		for _, d := range documents {
			p.Guides = append(p.Guides, guide{Name: d})
		}
		return p
	}
	return []guidePart{
		part("Begin", "first-render", "blender"),
		part("Your scene", "files", "previews", "warnings", "frames"),
		part("While it renders", "queue", "states", "findings", "overviews"),
		part("Failures", "errors"),
		part("Proof", "verify", "security"),
		part("Programs and agents", "cli", "sdk", "sdk-python", "sdk-typescript", "interface", "agents", "oauth", "webhooks", "authorisation"),
		part("Workers", "farm", "gpu", "sandbox", "leaderboard"),
		part("Running a service", "operate", "metrics", "runbook", "audit"),
	}
}

// guides are all documents of guideParts, by name, and the parts with their titles. They
// are made once, at the first page.
var guides = sync.OnceValues(func() (parts []guidePart, byName map[string]guide) {
	byName = map[string]guide{}
	parts = guideParts()
	for i := range parts {
		for j, g := range parts[i].Guides {
			g, err := readGuide(g.Name)
			if err != nil {
				panic(err) // a programming error, which the tests would see
			}
			parts[i].Guides[j], byName[g.Name] = g, g
		}
	}
	return parts, byName
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
	err = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			link.Destination = []byte(guideLink(string(link.Destination)))
		}
		return ast.WalkContinue, nil
	})
	var body bytes.Buffer
	if err == nil {
		err = markdown.Renderer().Render(&body, rest, root)
	}
	return guide{Name: name, Title: strings.TrimPrefix(string(title), "# "), Body: template.HTML(body.String())}, err //nolint:gosec // see above
}

// guideLink is where a link of a document leads on the site.
func guideLink(to string) string {
	file, section, _ := strings.Cut(to, "#")
	if section != "" {
		section = "#" + section
	}
	switch {
	case file == "" || strings.Contains(file, "://"):
		return to
	case file == "openapi.json":
		return "/openapi.json"
	}
	for _, p := range guideParts() {
		for _, g := range p.Guides {
			if file == g.Name+".md" {
				return path.Join(page.GuidePath, g.Name) + section
			}
		}
	}
	return page.GuidePath
}

// guideIndex builds the first page of the guide.
func (s *Site) guideIndex(*http.Request) (page.Page, error) {
	parts, _ := guides()
	return page.Page{Template: "guides", Title: "Guide", Section: page.GuideSection, Content: parts}, nil
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
