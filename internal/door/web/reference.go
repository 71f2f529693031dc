package web

import "svc.example/internal/door/web/reference"

// referencePage builds the API reference from the OpenAPI document. It cannot
// differ from the API, because the document is made from the handlers' types.
func referencePage(openAPI []byte) (page, error) {
	read, err := reference.Read(openAPI)
	return page{Template: "reference", Title: read.Title, Section: referenceSection, JSON: "/v1/openapi.json", Content: read}, err
}
