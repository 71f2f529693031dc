package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

// Request is a program's question, read and checked.
type Request struct {
	Client      Client
	RedirectURI string
	State       string
	Challenge   string
	Scopes      identity.Scopes
	Resources   []string
}

// challengeForm is that of SHA-256 in base64url without padding.
var challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// Read reads the parameters of /oauth/authorize. An *Error goes back to the program
// (Request.Refused); any other error stays here, because nothing proves that the address is
// the program's: sending it there would make this service an open redirector. Errors:
// *Error; invalid_request.
func (s *Server) Read(ctx context.Context, values url.Values) (r Request, err error) {
	id, errID := single(values, "client_id")
	redirect, errRedirect := single(values, "redirect_uri")
	if errID != nil || errRedirect != nil {
		return r, fault.New(fault.InvalidRequest, "The program that sent you here gave its name twice, or the name is too long.")
	}
	if r.Client, err = s.Clients.Get(ctx, id); err != nil {
		return r, err
	}
	if !r.Client.matches(redirect) {
		return r, fault.New(fault.InvalidRequest, "The program asked for its answer at an address that is not in its description. Nothing was sent.")
	}
	r.RedirectURI = redirect
	if r.State, err = single(values, "state"); err == nil {
		err = s.readRest(&r, values)
	}
	// Anyone can register any address without a trace, so a browser goes there only by a
	// person's answer (RFC 9700 4.11.2). A description on another host does not prove that
	// the address is the program's either.
	if refused, is := errors.AsType[*Error](err); is && (r.Client.Registered || !r.Client.owns(redirect)) {
		return r, fault.New(fault.InvalidRequest, "The program that sent you here made an invalid request: %s.", refused.Description)
	}
	return r, err
}

// readRest reads what can be refused to the program itself. Error: *Error.
func (s *Server) readRest(r *Request, values url.Values) (err error) {
	texts := map[string]string{}
	for _, name := range []string{"response_type", "code_challenge", "code_challenge_method", "scope"} {
		if texts[name], err = single(values, name); err != nil {
			return err
		}
	}
	if texts["response_type"] != "code" {
		return wrong(UnsupportedResponse, "response_type must be code")
	}
	if texts["code_challenge_method"] != "S256" || !challengeForm.MatchString(texts["code_challenge"]) {
		return wrong(InvalidRequest, "PKCE is required: code_challenge with code_challenge_method S256")
	}
	r.Challenge = texts["code_challenge"]
	r.Scopes = scopesOf(texts["scope"])
	r.Resources, err = s.resourcesOf(values["resource"])
	return err
}

// Refused is the address that reports an error to a program.
func (s *Server) Refused(r Request, err *Error) string {
	return s.answer(r, url.Values{"error": {err.Code}, "error_description": {err.Description}})
}

// answer is the program's address with parameters, its own state and this issuer (RFC
// 9207), which shows it which server the answer comes from.
func (s *Server) answer(r Request, values url.Values) string {
	if r.State != "" {
		values.Set("state", r.State)
	}
	values.Set("iss", s.Issuer())
	glue := "?"
	if strings.Contains(r.RedirectURI, "?") {
		glue = "&"
	}
	return r.RedirectURI + glue + values.Encode()
}

// Terms is what a person agrees to.
type Terms struct {
	WorkspaceID     string
	PersonID        string // with whom the key ends
	SpendLimitCents int64  // of a calendar month
	Days            int    // until the key ends
}

// check refuses terms that no page offers. Error: invalid_request.
func (t Terms) check() error {
	if t.Days < 1 || t.Days > MaxDays {
		return fault.Field("days", "must be 1 to %d", MaxDays)
	}
	if t.SpendLimitCents < 0 {
		return fault.Field("limit", "must be 0 or more")
	}
	return nil
}

// Allow records a person's yes and returns the address that brings the program its code.
// Errors: invalid_request, key_limit_reached.
func (s *Server) Allow(ctx context.Context, r Request, terms Terms) (location string, err error) {
	if err := terms.check(); err != nil {
		return "", err
	}
	code, err := identity.NewSecret("")
	if err != nil {
		return "", err
	}
	err = s.DB.Write(ctx, func(tx *db.Tx) error {
		if err := identity.RoomForAgentKey(ctx, tx, terms.WorkspaceID); err != nil {
			return err
		}
		return create(ctx, tx, query.OauthRequest{
			SecretSha256: identity.Hash(code), Kind: "code", ClientID: r.Client.ID, RedirectUri: r.RedirectURI, Challenge: r.Challenge,
			Scopes: r.Scopes.String(), Resources: strings.Join(r.Resources, " "), Status: "allowed", KeyName: r.Client.KeyName(),
			WorkspaceID: terms.WorkspaceID, PersonID: terms.PersonID, SpendLimitCents: terms.SpendLimitCents, LifeDays: int64(terms.Days), ExpiresAt: tx.Now + CodeLife.Microseconds(),
		})
	})
	if err != nil {
		return "", err
	}
	return s.answer(r, url.Values{"code": {code}}), nil
}

// Deny is the address that brings the program a person's no.
func (s *Server) Deny(r Request) string {
	return s.Refused(r, &Error{AccessDenied, "the person said no"})
}

// create stores a request, and removes those that ended an hour ago.
func create(ctx context.Context, tx *db.Tx, row query.OauthRequest) error {
	row.CreatedAt = tx.Now
	row.RowSum = requests.Of(row)
	if err := tx.OauthRequestsEnd(ctx, tx.Now-keptAfterEnd.Microseconds()); err != nil {
		return fmt.Errorf("clear ended requests of programs: %w", err)
	}
	if err := tx.OauthRequestCreate(ctx, query.OauthRequestCreateParams(row)); err != nil {
		return fmt.Errorf("store the request of a program: %w", err)
	}
	return nil
}

// change stores what a request became.
func change(ctx context.Context, tx *db.Tx, row query.OauthRequest) error {
	err := tx.OauthRequestChange(ctx, query.OauthRequestChangeParams{
		Status: row.Status, KeyName: row.KeyName, WorkspaceID: row.WorkspaceID, SpendLimitCents: row.SpendLimitCents, LifeDays: row.LifeDays,
		KeyID: row.KeyID, PolledAt: row.PolledAt, PollSeconds: row.PollSeconds, RowSum: requests.Of(row), PersonID: row.PersonID, SecretSha256: row.SecretSha256,
	})
	if err != nil {
		return fmt.Errorf("change the request of a program: %w", err)
	}
	return nil
}
