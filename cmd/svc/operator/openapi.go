package operator

import (
	"github.com/alecthomas/kong"

	"svc.example/internal/door/api"
	"svc.example/internal/door/api/admin"
)

// OpenAPI prints the OpenAPI document without a running service and without a store.
type OpenAPI struct {
	PublicURL string `env:"SVC_PUBLIC_URL" default:"http://127.0.0.1:8080" help:"URL under which callers reach the service."`
	Operators bool   `help:"Print the document of the API for operators instead."`
}

// Run prints the document that GET /v1/openapi.json serves, byte for byte, or that of
// GET /admin/v1/openapi.json.
func (c *OpenAPI) Run(k *kong.Context) error {
	text := api.Document
	if c.Operators {
		text = admin.Document
	}
	_, err := k.Stdout.Write(text(c.PublicURL))
	return err
}
