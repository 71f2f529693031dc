package oauth

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
)

// A program may prove its identity by a signed statement (private_key_jwt, RFC 7523),
// whose keys are in its description. It must do so unless its description offers
// requests without one.
const (
	signedMethod  = "private_key_jwt"
	publicMethod  = "none"
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// longestAssertion is how far its end may be away.
	longestAssertion = time.Hour
)

// AuthMethods are the ways in which programs may ask for tokens.
func AuthMethods() []string { return []string{publicMethod, signedMethod} }

// SigningAlgorithms are those of signed statements.
func SigningAlgorithms() []string {
	return []string{oidc.RS256, oidc.PS256, oidc.ES256, oidc.ES384, oidc.EdDSA}
}

// subjectOf returns whom a signed statement is about, unverified; "" of none.
func subjectOf(assertion string) string {
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 {
		return ""
	}
	var claims struct {
		Subject string `json:"sub"`
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(text, &claims) != nil {
		return ""
	}
	return claims.Subject
}

// authenticate checks that a request for tokens is its program's, in the way that its
// description says. The description is read only for a program that holds something a
// person gave it; any other request is refused later, because its code or token is invalid.
// Errors: invalid_client; unavailable when the description cannot be read.
func (s *Server) authenticate(ctx context.Context, r tokenRequest) error {
	if _, is := s.Clients.undescribed(r.client); is {
		if r.assertion != "" {
			return wrong(InvalidClient, "this program has no keys here")
		}
		return nil
	}
	holds, err := s.holds(ctx, r)
	if err != nil || !holds {
		return err
	}
	client, err := s.Clients.Get(ctx, r.client)
	if err != nil {
		return fault.New(fault.Unavailable, "The program's description could not be read.").After(time.Minute).Wrap(err)
	}
	switch {
	case r.assertion != "":
		return s.verify(ctx, client, r)
	case client.mustSign:
		return wrong(InvalidClient, "the program's description asks for client_assertion ("+signedMethod+")")
	}
	return nil
}

// holds reports whether a request has a code or token that a person gave its program.
func (s *Server) holds(ctx context.Context, r tokenRequest) (holds bool, err error) {
	err = s.DB.Write(ctx, func(tx *db.Tx) (err error) {
		holds = false
		switch {
		case r.grant == "refresh_token" && len(r.refresh) > familyLength:
			g, err := tx.OauthGrantLock(ctx, identity.Hash(r.refresh[:familyLength]))
			holds = err == nil && g.ClientID == r.client
			return ignoreMissing(err)
		case r.grant == "authorization_code" || r.grant == deviceGrant:
			row, err := tx.OauthRequestLock(ctx, identity.Hash(r.code+r.device))
			holds = err == nil && row.ClientID == r.client && row.Status == "allowed"
			return ignoreMissing(err)
		}
		return nil
	})
	return holds, err
}

// ignoreMissing returns err, nil for a row that is not there.
func ignoreMissing(err error) error {
	if err == nil || db.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("read what a program holds: %w", err)
}

// verify checks a signed statement (RFC 7523 3). Error: invalid_client.
func (s *Server) verify(ctx context.Context, client Client, r tokenRequest) error {
	if client.keys == nil || r.assertionType != assertionType {
		return wrong(InvalidClient, "client_assertion needs a description with keys, and client_assertion_type "+assertionType)
	}
	verifier := oidc.NewVerifier(client.ID, client.keys, &oidc.Config{SkipClientIDCheck: true, SupportedSigningAlgs: SigningAlgorithms()})
	said, err := verifier.Verify(ctx, r.assertion)
	if err != nil {
		return wrong(InvalidClient, "client_assertion is not signed by a key of the program's description, or its iss or exp is wrong")
	}
	to := []string{s.Issuer(), s.Links.To(links.TokenPath)}
	if said.Subject != client.ID || !slices.ContainsFunc(said.Audience, func(a string) bool { return slices.Contains(to, strings.TrimSuffix(a, "/")) }) {
		return wrong(InvalidClient, "client_assertion must have the program as sub, and "+strings.Join(to, " or ")+" as aud")
	}
	if time.Until(said.Expiry) > longestAssertion {
		return wrong(InvalidClient, "client_assertion may last an hour at most")
	}
	return nil
}

// keysOf returns the keys of a description: at an address, or in the description itself.
// nil is none.
func (c *Clients) keysOf(address string, inline json.RawMessage) oidc.KeySet {
	client := c.client
	switch {
	case strings.HasPrefix(address, "https://") && len(address) <= maxParameter:
	case len(inline) > 0:
		address, client = "https://inline.invalid/", &http.Client{Transport: fixed(inline)}
	default:
		return nil
	}
	// The keys outlive the request that reads the description; each fetch has the limits of
	// the client.
	return oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), client), address)
}

// fixed answers every request with the same JSON.
type fixed []byte

func (f fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(f)),
	}, nil
}
