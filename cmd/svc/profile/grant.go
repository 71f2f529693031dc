package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/redact"
)

// clientID names this program at every svc (docs/oauth.md).
const clientID = "svc"

// Bounds of an exchange with the authorization server.
const (
	grantTimeout = 30 * time.Second
	grantAnswer  = 64 << 10 // bytes
)

// grants are the endpoints of a service that lets programs sign in.
type grants struct {
	server                            string // as the person names it
	issuer                            string
	authorize, token, revokes, device string
}

// refusal is an error of the authorization server (RFC 6749 5.2).
type refusal struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

func (r *refusal) Error() string {
	return "the service refuses to sign in: " + r.Description + " (" + r.Code + ")"
}

// grantClient follows no redirect: a token must not be sent on.
var grantClient = &http.Client{
	Timeout:       grantTimeout,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// discover reads where a service's endpoints are (RFC 8414). They must be on the service
// that the person named: nothing else may see a code or a token. Errors are texts for
// people.
func discover(ctx context.Context, server string) (g grants, err error) {
	var document struct {
		Issuer    string `json:"issuer"`
		Authorize string `json:"authorization_endpoint"`
		Token     string `json:"token_endpoint"`
		Revoke    string `json:"revocation_endpoint"`
		Device    string `json:"device_authorization_endpoint"`
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server+links.IssuerPath, nil)
	if err != nil {
		return g, redact.URLs(err)
	}
	if err := exchange(server, r, &document); err != nil {
		return g, err
	}
	if !SameServer(document.Issuer, server) {
		return g, fmt.Errorf("the service at %s calls itself %s: sign in under that name, with --server %s", server, redact.Address(document.Issuer), redact.Address(document.Issuer))
	}
	for _, endpoint := range []string{document.Authorize, document.Token, document.Revoke, document.Device} {
		if !strings.HasPrefix(endpoint, document.Issuer+"/") {
			return g, fmt.Errorf("the service at %s gave a sign-in address of another host, or none", server)
		}
	}
	return grants{server, document.Issuer, document.Authorize, document.Token, document.Revoke, document.Device}, nil
}

// exchange sends a request and reads its JSON. Errors: *refusal, or texts for
// people.
func exchange(server string, r *http.Request, answer any) error {
	r.Header.Set("Accept", "application/json")
	res, err := grantClient.Do(r)
	if err != nil {
		err = redact.URLs(err)
		if said := Unreachable(server, err); said != nil {
			return said
		}
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, grantAnswer))
	if err != nil {
		return fmt.Errorf("the answer of %s was interrupted: %w", server, redact.URLs(err))
	}
	if res.StatusCode == http.StatusOK && json.Unmarshal(text, answer) == nil {
		return nil
	}
	refused := &refusal{}
	if json.Unmarshal(text, refused) == nil && refused.Code != "" {
		return refused
	}
	var envelope struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &envelope) == nil && envelope.Error.Code != "" && envelope.Error.Code != "route_not_found" {
		return &refusal{envelope.Error.Code, envelope.Error.Message}
	}
	return fmt.Errorf("the server at %s does not support svc login (it answered %d %s). %s", server, res.StatusCode, http.StatusText(res.StatusCode), checkAddress(server))
}

// post sends a form as this program.
func (g grants) post(ctx context.Context, to string, form url.Values, answer any) error {
	form.Set("client_id", clientID)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return redact.URLs(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return exchange(g.server, r, answer)
}

// tokens changes a code or a refresh token into tokens. Errors: *refusal, or texts for
// people.
func (g grants) tokens(ctx context.Context, form url.Values) (s SignIn, err error) {
	began := time.Now()
	var t struct {
		Access    string `json:"access_token"`
		Type      string `json:"token_type"`
		ExpiresIn int64  `json:"expires_in"` // seconds
		Refresh   string `json:"refresh_token"`
	}
	if err := g.post(ctx, g.token, form, &t); err != nil {
		return s, err
	}
	if kindOf(t.Access) != AgentKey || malformed(t.Access, AgentKey) != "" || t.Refresh == "" || !strings.EqualFold(t.Type, "Bearer") {
		return s, errors.New("the service answered with tokens that this version does not support: they must begin with " + contract.AgentKeyPrefix)
	}
	return SignIn{Server: g.issuer, AccessToken: t.Access, AccessUntil: began.Add(time.Duration(t.ExpiresIn) * time.Second).UTC().Truncate(time.Second), RefreshToken: t.Refresh}, nil
}

// revoke ends the key of a token (RFC 7009).
func (g grants) revoke(ctx context.Context, token string) error {
	return g.post(ctx, g.revokes, url.Values{"token": {token}}, &struct{}{})
}

// resources are what the tokens are for: the HTTP API, and the tools for agents.
func (g grants) resources() []string {
	return []string{g.issuer, links.Links{PublicURL: g.issuer}.To(links.AgentPath)}
}
