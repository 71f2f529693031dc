package web

import "svc.example/internal/door/web/reference"

// referencePage shows the OpenAPI document to people.
func referencePage(openAPI []byte) (page, error) {
	read, err := reference.Read(openAPI)
	return page{Template: "reference", Title: read.Title, Section: referenceSection, JSON: "/v1/openapi.json", Content: read}, err
}
