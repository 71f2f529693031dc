package public

import (
	"svc.example/internal/door/web/page"
	"svc.example/internal/door/web/public/reference"
)

// referencePage builds the API reference from the OpenAPI document. It cannot
// differ from the API, because the document is made from the handlers' types.
func referencePage(openAPI []byte) (page.Page, error) {
	read, err := reference.Read(openAPI)
	return page.Page{Template: "reference", Title: read.Title, Section: page.ReferenceSection, JSON: "/v1/openapi.json", Content: read}, err
}
