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
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"svc.example/docs"
	"svc.example/internal/door/web/page"
	"svc.example/internal/front"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
)

// guideDoor is a door of docs with its documents.
type guideDoor struct {
	Name, For  string
	Quickstart guide
	Guides     []guide
	Reference  []guide
}

// guide is one document.
type guide struct {
	Name, Title string
	Door        string
	Body        template.HTML
	// Keyed says that the document has places for a key that its reader may fill in.
	Keyed  bool
	source []byte // as Markdown, without the title
}

// Path is the guide's page.
func (g guide) Path() string { return page.GuidePath + "/" + g.Name }

// guides are all documents of docs.Doors, by name, and the doors with their titles. They
// are made once, at the first page.
var guides = sync.OnceValues(func() (doors []guideDoor, byName map[string]guide) {
	byName = map[string]guide{}
	for _, d := range docs.Doors() {
		read := func(names ...string) (list []guide) {
			for _, name := range names {
				g, err := readGuide(name)
				if err != nil {
					panic(err) // a programming error, which the tests would see
				}
				g.Door = d.Name
				g.Keyed = d.Name != "Run" && strings.Contains(string(g.Body), keyPlace)
				list, byName[name] = append(list, g), g
			}
			return list
		}
		doors = append(doors, guideDoor{d.Name, d.For, read(d.Quickstart)[0], read(d.Guides...), read(d.Reference...)})
	}
	return doors, byName
})

// markdown makes pages of Markdown. It leaves out HTML and what a link would run.
func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(labelledCells{}, 1000))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(codeBlocks{}, 1))))
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
	return guide{Name: name, Title: strings.TrimPrefix(string(title), "# "), Body: template.HTML(body.String()), source: rest}, err //nolint:gosec // see above
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
var inGuide = func() func(string) bool {
	names := map[string]bool{}
	for _, d := range docs.Doors() {
		for _, name := range d.Names() {
			names[name] = true
		}
	}
	return func(name string) bool { return names[name] }
}()

// guideDoors builds the first page of the guide.
func (s *Site) guideDoors(r *http.Request) (page.Page, error) {
	doors, _ := guides()
	p := guidePage("guides", "Guide", doors)
	s.Greet(r, &p)
	return p, nil
}

// guideView is the content of the page of a document.
type guideView struct {
	guide
	Key keyView
}

// guide serves the page of a document; NAME.md is the document itself. Errors:
// route_not_found.
func (s *Site) guide(w http.ResponseWriter, r *http.Request) error {
	name, raw := strings.CutSuffix(r.PathValue("name"), ".md")
	g, err := findGuide(name)
	if err != nil {
		return err
	}
	if raw {
		h := w.Header()
		h.Set("Content-Type", "text/markdown; charset=utf-8")
		h.Set("Cache-Control", "public, max-age=15")
		front.WriteText(w, r, []byte(s.addressed(g.markdown())))
		return nil
	}
	p, err := s.documentPage(r, g, "", nil)
	if err != nil {
		return err
	}
	return s.Show(w, r, p)
}

// findGuide finds a document. Error: route_not_found.
func findGuide(name string) (guide, error) {
	_, byName := guides()
	g, ok := byName[name]
	if !ok {
		return guide{}, fault.New(fault.RouteNotFound, "There is no guide %q.", name)
	}
	return g, nil
}

// inRepository finds links of Markdown that lead into the repository.
var inRepository = regexp.MustCompile(`\[([^\]]*)\]\((?:\.\.|internal|adr|screenshots)/[^)]*\)`)

// markdown is the document as Markdown, without links that lead nowhere on the site.
func (g guide) markdown() string {
	text := strings.ReplaceAll(string(g.source), "](openapi.json)", "]("+links.OpenAPIPath+")")
	return "# " + g.Title + "\n" + inRepository.ReplaceAllString(text, "$1")
}
