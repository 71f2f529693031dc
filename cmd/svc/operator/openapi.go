package operator

import (
	"github.com/alecthomas/kong"

	"svc.example/internal/door/api"
)

// OpenAPI prints the OpenAPI document without a running service and without a store.
type OpenAPI struct {
	PublicURL string `env:"SVC_PUBLIC_URL" default:"http://127.0.0.1:8080" help:"URL under which callers reach the service."`
}

// Run prints the document that GET /v1/openapi.json serves, byte for byte.
func (c *OpenAPI) Run(k *kong.Context) error {
	_, err := k.Stdout.Write(api.Document(c.PublicURL))
	return err
}
