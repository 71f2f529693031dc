package oauth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

// Tokens is the answer of the token endpoint (RFC 6749 5.1).
type Tokens struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"` // Bearer
	ExpiresIn    int64  `json:"expires_in"` // seconds
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
}

// deviceGrant is the grant type of a device (RFC 8628).
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// GrantTypes are those that Token takes.
func GrantTypes() []string { return []string{"authorization_code", "refresh_token", deviceGrant} }

// tokenRequest is a request of the token endpoint. Each part is there once at most.
type tokenRequest struct {
	grant, client, code, redirect, verifier, refresh, device, scope string
	secret, assertion, assertionType                                string
	resources                                                       []string
}

// Token answers a request for tokens. Errors: *Error; rate_limited or internal ones.
func (s *Server) Token(ctx context.Context, form url.Values) (t Tokens, err error) {
	var r tokenRequest
	for name, to := range map[string]*string{
		"grant_type": &r.grant, "client_id": &r.client, "code": &r.code, "redirect_uri": &r.redirect, "code_verifier": &r.verifier,
		"refresh_token": &r.refresh, "device_code": &r.device, "scope": &r.scope,
		"client_secret": &r.secret, "client_assertion": &r.assertion, "client_assertion_type": &r.assertionType,
	} {
		if *to, err = single(form, name); err != nil {
			return t, err
		}
	}
	r.resources = form["resource"]
	if r.secret != "" { // an empty one is how some libraries write none
		return t, wrong(InvalidClient, "this service has secrets for no program")
	}
	if r.client == "" {
		r.client = subjectOf(r.assertion) // RFC 7521 4.2: the parameter may be left out
	}
	if err := s.Clients.Known(r.client); err != nil {
		return t, err
	}
	if err := s.authenticate(ctx, r); err != nil {
		return t, err
	}
	var do func(context.Context, *db.Tx, tokenRequest) (Tokens, error, error)
	switch r.grant {
	case "authorization_code":
		do = s.redeem
	case "refresh_token":
		do = s.refresh
	case deviceGrant:
		do = s.poll
	default:
		return t, wrong(UnsupportedGrant, "grant_type must be one of "+strings.Join(GrantTypes(), ", "))
	}
	// A refusal is stored too: a code that is used twice revokes what it gave.
	var refused error
	err = s.DB.Write(ctx, func(tx *db.Tx) (err error) {
		t, refused, err = do(ctx, tx, r)
		return err
	})
	if err != nil {
		return Tokens{}, err
	}
	return t, refused
}

// redeem changes a code into tokens.
func (s *Server) redeem(ctx context.Context, tx *db.Tx, r tokenRequest) (t Tokens, refused, err error) {
	row, err := tx.OauthRequestLock(ctx, identity.Hash(r.code))
	if db.IsNotFound(err) || (err == nil && row.Kind != "code") {
		return t, wrong(InvalidGrant, "the code is unknown"), nil
	}
	if err != nil {
		return t, nil, fmt.Errorf("read code: %w", err)
	}
	if row.Status == "used" {
		// Someone else has the code too (RFC 6749 4.1.2): what it gave ends.
		return t, wrong(InvalidGrant, "the code was used before; what it gave is revoked"), revoke(ctx, tx, row.KeyID)
	}
	sum := sha256.Sum256([]byte(r.verifier))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	switch {
	case row.ExpiresAt <= tx.Now:
		return t, wrong(InvalidGrant, "the code is older than a minute"), nil
	case row.ClientID != r.client:
		return t, wrong(InvalidGrant, "the code is another client's"), nil
	case row.RedirectUri != r.redirect:
		return t, wrong(InvalidGrant, "redirect_uri is not the one that the code was sent to"), nil
	case len(r.verifier) < 43 || len(r.verifier) > 128 || subtle.ConstantTimeCompare([]byte(challenge), []byte(row.Challenge)) != 1:
		return t, wrong(InvalidGrant, "code_verifier does not fit the code_challenge"), nil
	case !within(r.resources, row.Resources):
		return t, wrong(InvalidTarget, "the code is not for that resource"), nil
	}
	return s.grant(ctx, tx, row)
}

// within reports whether every asked resource is one of those granted.
func within(asked []string, granted string) bool {
	return !slices.ContainsFunc(asked, func(a string) bool { return !slices.Contains(strings.Fields(granted), strings.TrimSuffix(a, "/")) })
}

// grant makes the agent key of an allowed request and its first tokens.
func (s *Server) grant(ctx context.Context, tx *db.Tx, row query.OauthRequest) (t Tokens, refused, err error) {
	var scopes identity.Scopes
	for _, word := range strings.Fields(row.Scopes) {
		scopes = append(scopes, identity.Scope(word))
	}
	key, err := identity.CreateAgentKey(ctx, tx, row.WorkspaceID, identity.AgentTerms{
		Name: row.KeyName, SpendLimitCents: &row.SpendLimitCents, Life: time.Duration(row.LifeDays) * 24 * time.Hour,
		Scopes: scopes, Resources: strings.Fields(row.Resources), OnlyTokens: true, MadeBy: row.PersonID,
	})
	if f, is := errors.AsType[*fault.Error](err); is && f.Code != fault.Internal {
		return t, wrong(InvalidGrant, f.Message), nil // its keys are too many now, the workspace is erased, or the person has left it
	}
	if err != nil {
		return t, nil, err
	}
	row.Status, row.KeyID = "used", key.KeyID
	if err := change(ctx, tx, row); err != nil {
		return t, nil, err
	}
	family, err := identity.NewSecret(refreshPrefix)
	if err != nil {
		return t, nil, err
	}
	access, err := identity.NewSecret(contract.AgentKeyPrefix)
	if err != nil {
		return t, nil, err
	}
	refresh, err := identity.NewSecret(family)
	if err != nil {
		return t, nil, err
	}
	t, g := issue(tx, access, refresh, query.OauthGrant{KeyID: key.KeyID, ClientID: row.ClientID, FamilySha256: identity.Hash(family)})
	t.Scope = row.Scopes
	if err := tx.OauthGrantCreate(ctx, query.OauthGrantCreateParams(g)); err != nil {
		return t, nil, fmt.Errorf("store tokens: %w", err)
	}
	return t, nil, nil
}

// issue gives new tokens to a grant. A refresh token is the family's part, which stays, and
// one that is new each time: so one row knows every refresh token that there ever was.
func issue(tx *db.Tx, access, refresh string, g query.OauthGrant) (Tokens, query.OauthGrant) {
	g.PreviousSha256, g.PreviousUntil = g.AccessSha256, g.AccessUntil
	g.AccessSha256, g.AccessUntil = identity.Hash(access), tx.Now+AccessLife.Microseconds()
	g.RefreshSha256 = identity.Hash(refresh)
	g.RowSum = grants.Of(g)
	return Tokens{AccessToken: access, TokenType: "Bearer", ExpiresIn: int64(AccessLife.Seconds()), RefreshToken: refresh}, g
}

// successors returns the tokens that follow a refresh token. They follow from it and the
// service's key, so that the same question can get the same answer although only hashes are
// stored.
func (s *Server) successors(old string) (access, refresh string) {
	seed := func(purpose string) (sum [64]byte) {
		mac := hmac.New(sha512.New, s.Links.Key)
		mac.Write([]byte("oauth " + purpose + "\n" + old))
		copy(sum[:], mac.Sum(nil))
		return sum
	}
	return identity.SecretFrom(contract.AgentKeyPrefix, seed("access")), identity.SecretFrom(old[:familyLength], seed("refresh"))
}

// familyLength is the length of the part that all refresh tokens of a key share.
const familyLength = len(refreshPrefix) + contract.KeySecretLength

// refresh changes a refresh token into new tokens. The token before the newest gets the same
// answer for a while, because the program's windows refresh at once. Any other token of the
// family was used before, by a thief or by the program: the key is revoked, because it is
// unknown which of the two asks now.
func (s *Server) refresh(ctx context.Context, tx *db.Tx, r tokenRequest) (t Tokens, refused, err error) {
	unknown := wrong(InvalidGrant, "the refresh token is unknown, or its key is revoked or past its end")
	if len(r.refresh) != familyLength+contract.KeySecretLength {
		return t, unknown, nil
	}
	family := r.refresh[:familyLength]
	g, err := tx.OauthGrantLock(ctx, identity.Hash(family))
	if db.IsNotFound(err) {
		return t, unknown, nil
	}
	if err != nil {
		return t, nil, fmt.Errorf("read tokens: %w", err)
	}
	key, err := tx.OauthKey(ctx, g.KeyID)
	if err != nil {
		return t, nil, fmt.Errorf("read the key of tokens: %w", err)
	}
	access, next := s.successors(r.refresh)
	issued := g.AccessUntil - AccessLife.Microseconds()
	again := g.RefreshSha256 == identity.Hash(next) && tx.Now-issued <= RefreshGrace.Microseconds()
	switch {
	case key.RevokedAt != 0 || (key.ExpiresAt != 0 && key.ExpiresAt <= tx.Now):
		return t, unknown, nil
	case g.RefreshSha256 != identity.Hash(r.refresh) && !again:
		return t, wrong(InvalidGrant, "the refresh token was used before; the key is revoked. Sign in again"), revoke(ctx, tx, g.KeyID)
	case g.ClientID != r.client:
		return t, wrong(InvalidGrant, "the refresh token is another client's"), nil
	case !within(r.resources, key.Resources):
		return t, wrong(InvalidTarget, "the refresh token is not for that resource"), nil
	}
	for _, word := range strings.Fields(r.scope) {
		if identity.AllScopes().Has(identity.Scope(word)) && !slices.Contains(strings.Fields(key.Scopes), word) {
			return t, wrong(InvalidScope, "a refresh does not widen the scopes"), nil
		}
	}
	if again {
		left := time.Duration(g.AccessUntil-tx.Now) * time.Microsecond
		return Tokens{AccessToken: access, TokenType: "Bearer", ExpiresIn: int64(left.Seconds()), RefreshToken: next, Scope: key.Scopes}, nil, nil
	}
	t, g = issue(tx, access, next, g)
	t.Scope = key.Scopes
	err = tx.OauthGrantChange(ctx, query.OauthGrantChangeParams{
		RefreshSha256: g.RefreshSha256, AccessSha256: g.AccessSha256, AccessUntil: g.AccessUntil,
		PreviousSha256: g.PreviousSha256, PreviousUntil: g.PreviousUntil, RowSum: g.RowSum, KeyID: g.KeyID,
	})
	if err != nil {
		return t, nil, fmt.Errorf("store tokens: %w", err)
	}
	return t, nil, nil
}

// revoke ends a key. One that has ended already is no error.
func revoke(ctx context.Context, tx *db.Tx, keyID string) error {
	if err := identity.Revoke(ctx, tx, keyID); err != nil && !fault.Is(err, fault.KeyNotFound) {
		return err
	}
	return nil
}

// Revoke ends the key of a token, access or refresh (RFC 7009). An unknown token, and one of
// another client, changes nothing, and the answer reveals nothing. Error: *Error for a
// malformed request.
func (s *Server) Revoke(ctx context.Context, form url.Values) error {
	token, err := single(form, "token")
	if err != nil {
		return err
	}
	client, err := single(form, "client_id")
	if err != nil {
		return err
	}
	if token == "" {
		return wrong(InvalidRequest, "token is missing")
	}
	return s.DB.Write(ctx, func(tx *db.Tx) error {
		var g query.OauthGrant
		var err error
		if strings.HasPrefix(token, refreshPrefix) && len(token) == familyLength+contract.KeySecretLength {
			g, err = tx.OauthGrantLock(ctx, identity.Hash(token[:familyLength]))
		} else {
			g, err = tx.OauthGrantByAccess(ctx, identity.Hash(token))
		}
		if db.IsNotFound(err) || (err == nil && client != "" && client != g.ClientID) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read tokens: %w", err)
		}
		return revoke(ctx, tx, g.KeyID)
	})
}
