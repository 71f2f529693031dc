package api

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// referenceView is what the page of the API's reference shows.
type referenceView struct {
	Title, Version, Description string
	Parts                       []referencePart
}

type referencePart struct {
	Name, Description string
	Operations        []referenceOperation
}

type referenceOperation struct {
	Method, Path string
	*huma.Operation
}

// Takes names the credentials that an operation takes.
func (o referenceOperation) Takes() string {
	var kinds []string
	for _, requirement := range o.Security {
		for scheme := range requirement {
			kinds = append(kinds, scheme)
		}
	}
	if len(kinds) == 0 {
		return "nothing"
	}
	return strings.Join(kinds, " or ")
}

const referenceText = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{{.Title}}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; color-scheme: light dark }
code { font-family: ui-monospace, monospace } td, th { text-align: left; vertical-align: top; padding: .1rem 1rem .1rem 0 }
summary { cursor: pointer; padding: .3rem 0 } details { border-bottom: 1px solid #8884 }
</style></head><body>
<h1>{{.Title}}</h1><p>{{.Description}}</p>
<p>Version {{.Version}}. For machines: <a href="/v1/openapi.json">/v1/openapi.json</a>.</p>
{{range .Parts}}<h2>{{.Name}}</h2><p>{{.Description}}</p>
{{range .Operations}}<details id="{{.OperationID}}"><summary><code>{{.Method}} {{.Path}}</code> {{.Summary}}</summary>
{{with .Description}}<p>{{.}}</p>{{end}}<p>Takes {{.Takes}}.</p>
{{with .Parameters}}<table><tr><th>parameter</th><th>in</th><th>meaning</th></tr>{{range .}}<tr><td><code>{{.Name}}</code></td><td>{{.In}}</td><td>{{.Description}}</td></tr>{{end}}</table>{{end}}
<table><tr><th>answer</th><th>meaning</th></tr>{{range $status, $r := .Responses}}<tr><td>{{$status}}</td><td>{{$r.Description}}</td></tr>{{end}}</table>
</details>{{end}}{{end}}
</body></html>
`

// reference serves the document as a page for people, which asks for nothing
// outside itself.
func reference(doc *huma.OpenAPI) http.Handler {
	view := referenceView{Title: doc.Info.Title, Version: doc.Info.Version, Description: doc.Info.Description}
	for _, tag := range doc.Tags {
		part := referencePart{Name: tag.Name, Description: tag.Description}
		for path, item := range doc.Paths {
			for _, op := range operations(item) {
				if len(op.Tags) > 0 && op.Tags[0] == tag.Name {
					part.Operations = append(part.Operations, referenceOperation{op.Method, path, op})
				}
			}
		}
		slices.SortFunc(part.Operations, func(a, b referenceOperation) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
		})
		view.Parts = append(view.Parts, part)
	}
	page := sync.OnceValue(func() []byte {
		var page bytes.Buffer
		if err := template.Must(template.New("reference").Parse(referenceText)).Execute(&page, view); err != nil {
			panic(fmt.Errorf("write the API's reference: %w", err)) // a programming error
		}
		return page.Bytes()
	})
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		h.Set("Cache-Control", "public, max-age=60")
		_, _ = w.Write(page()) // a failed write means the caller is gone
	})
}
