package oauth

import (
	"encoding/json"
	"strings"
	"time"

	"svc.example/internal/ground/plainjson"
)

// Registration is the answer to a program that registers automatically (RFC 7591
// 3.2.1).
type Registration struct {
	ClientID      string   `json:"client_id"`
	IssuedAt      int64    `json:"client_id_issued_at"` // Unix seconds
	Name          string   `json:"client_name"`
	Redirects     []string `json:"redirect_uris"`
	Auth          string   `json:"token_endpoint_auth_method"` // always none: there are public clients only
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
}

// A registered program's client id is its description, sealed with the service's key. So
// nothing is stored, no table can be filled, and every process knows every program.
const (
	registeredPrefix = "registered."
	registeredPlace  = "oauth client id"
	// maxRegistered bounds what is sealed, in bytes. The client id, a third longer, must
	// fit into the cookie that remembers a question while a person signs in.
	maxRegistered = 1000
)

// registered is the content of a client id.
type registered struct {
	Name      string   `json:"n"`
	Redirects []string `json:"r"`
}

// Register reads a program's description of itself, JSON of at most MaxDescription bytes,
// and returns its client id. Whatever the description asks for, the program gets the same
// as every program here: a public client with PKCE. Errors: *Error.
func (c *Clients) Register(description []byte, now time.Time) (Registration, error) {
	if c.registry == nil {
		return Registration{}, wrong(InvalidRequest, "programs do not register here: client_id is the https address of the program's description (client id metadata document)")
	}
	var asked struct {
		Name      string   `json:"client_name"`
		Redirects []string `json:"redirect_uris"`
	}
	if json.Unmarshal(description, &asked) != nil {
		return Registration{}, wrong(InvalidMetadata, "the body must be a JSON object with redirect_uris, a list of addresses, and client_name")
	}
	if reason := wrongRedirects(asked.Redirects); reason != "" {
		return Registration{}, wrong(InvalidRedirect, reason)
	}
	name := plainName(asked.Name)
	text, err := plainjson.Marshal(registered{name, asked.Redirects})
	if err != nil {
		return Registration{}, err
	}
	if len(text) > maxRegistered {
		return Registration{}, wrong(InvalidMetadata, "client_name and redirect_uris are longer than 1,000 bytes together")
	}
	return Registration{
		ClientID: registeredPrefix + c.registry.Seal(text, registeredPlace), IssuedAt: now.Unix(), Name: name, Redirects: asked.Redirects,
		Auth: "none", GrantTypes: GrantTypes(), ResponseTypes: []string{"code"},
	}, nil
}

// registeredBy returns the program that registered automatically under a client
// id.
func (c *Clients) registeredBy(id string) (client Client, is bool) {
	sealed, prefixed := strings.CutPrefix(id, registeredPrefix)
	if c.registry == nil || !prefixed {
		return client, false
	}
	text, err := c.registry.Open(sealed, registeredPlace)
	var said registered
	if err != nil || json.Unmarshal(text, &said) != nil {
		return client, false
	}
	return Client{ID: id, Name: said.Name, Redirects: said.Redirects, Registered: true}, true
}

// Registers reports whether programs may register automatically.
func (c *Clients) Registers() bool { return c.registry != nil }
