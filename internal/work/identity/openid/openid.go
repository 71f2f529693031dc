// Package openid signs people in by one OpenID Connect issuer: the authorisation code
// flow with PKCE, state and nonce.
//
// What always holds: an answer of the issuer counts only in the browser that began the
// sign-in and kept its flow, only once, because the issuer accepts a code once, and
// only when the issuer's published keys signed it for this client. The issuer is
// contacted only for a sign-in, so the service starts while the issuer is down.
//
// Package identity has sessions and people, and the door the cookie that keeps the
// flow. Start reading at Issuer.Start, then Finish.
package openid

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

// Config is what the operator and the issuer have agreed on. All three are required.
type Config struct {
	Issuer       string // https://…, as the issuer's own metadata spells it
	ClientID     string
	ClientSecret string
}

// Issuer is a configured issuer. It is safe for concurrent use. It keeps the issuer's
// metadata for the life of the process, but no tokens and no sign-ins: those are in the
// browser's flow.
type Issuer struct {
	cfg      Config
	callback string
	client   *http.Client

	provider atomic.Pointer[oidc.Provider] // nil until the issuer has answered once
	requests singleflight.Group            // at most one request for the metadata at a time
}

// timeout bounds each request to the issuer: a person waits for it. It is also the
// pause that a refused caller is asked to make.
const timeout = 10 * time.Second

// New returns an issuer that sends people back to callback, an absolute URL that the
// issuer knows. It opens no connection.
func New(cfg Config, callback string) *Issuer {
	return &Issuer{cfg: cfg, callback: callback, client: &http.Client{Timeout: timeout}}
}

// Start returns the address at the issuer to send a browser to, and the flow that this
// browser must keep secret until Finish: it holds the secrets that tie the answer to
// this browser. Each call begins a new sign-in. Errors: unavailable.
func (i *Issuer) Start(ctx context.Context) (address, flow string, err error) {
	provider, err := i.discovered(ctx)
	if err != nil {
		return "", "", err
	}
	f := begun{state: rand.Text(), nonce: rand.Text(), verifier: oauth2.GenerateVerifier()}
	address = i.oauth(provider).AuthCodeURL(f.state, oidc.Nonce(f.nonce), oauth2.S256ChallengeOption(f.verifier))
	return address, f.String(), nil
}

// Finish checks what the issuer sent the browser back with, and returns who has signed
// in. state and code come from the browser's request, flow from its own store.
// Repeating a successful call fails, because the issuer accepts a code once. Errors:
// sign_in_failed, unavailable.
//
// The state is compared before anything is sent, so that a forged request costs the
// issuer nothing. The nonce ties the signed token to the same sign-in.
func (i *Issuer) Finish(ctx context.Context, flow, state, code string) (identity.Login, error) {
	f, ok := parse(flow)
	if !ok || subtle.ConstantTimeCompare([]byte(f.state), []byte(state)) != 1 {
		return identity.Login{}, failed("This browser has not started this sign-in, or has started another one since.", errors.New("the state is not the browser's"))
	}
	provider, err := i.discovered(ctx)
	if err != nil {
		return identity.Login{}, err
	}
	ctx = oidc.ClientContext(ctx, i.client)
	tokens, err := i.oauth(provider).Exchange(ctx, code, oauth2.VerifierOption(f.verifier))
	if err != nil {
		return identity.Login{}, failed("The issuer did not confirm the sign-in.", fmt.Errorf("exchange the code: %w", err))
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := provider.Verifier(&oidc.Config{ClientID: i.cfg.ClientID}).Verify(ctx, raw)
	if err != nil {
		return identity.Login{}, failed("The issuer's answer is not valid.", fmt.Errorf("verify the identity token: %w", err))
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.nonce)) != 1 {
		return identity.Login{}, failed("The issuer's answer is not for this sign-in.", errors.New("the nonce is not the browser's"))
	}
	return i.login(ctx, provider, token, tokens)
}

// login reads who the token is about. If the token has no address, as with some
// issuers, it reads the userinfo endpoint. That answer is not signed, so its subject
// must be the token's.
func (i *Issuer) login(ctx context.Context, provider *oidc.Provider, token *oidc.IDToken, tokens *oauth2.Token) (identity.Login, error) {
	var c claims
	if err := token.Claims(&c); err != nil {
		return identity.Login{}, failed("The issuer's answer is not valid.", fmt.Errorf("read the identity token: %w", err))
	}
	if c.Email == "" && provider.UserInfoEndpoint() != "" {
		info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
		if err == nil && info.Subject != token.Subject {
			err = errors.New("userinfo is about somebody else")
		}
		if err == nil {
			err = info.Claims(&c)
		}
		if err != nil {
			return identity.Login{}, failed("The issuer did not send your e-mail address.", fmt.Errorf("read userinfo: %w", err))
		}
	}
	return identity.Login{Issuer: token.Issuer, Subject: token.Subject, Email: c.Email, EmailVerified: c.verified()}, nil
}

// claims are the members that the service reads of a token or a userinfo answer.
// Everything else that an issuer sends is ignored and never stored.
type claims struct {
	Email    string `json:"email"`
	Verified any    `json:"email_verified"` // some issuers send it as text
}

// verified accepts true as a boolean and as text. Anything else counts as not verified.
func (c claims) verified() bool {
	yes, _ := c.Verified.(bool)
	return yes || c.Verified == "true"
}

// discovered returns the issuer's metadata. It requests the metadata until the issuer
// has answered once. Concurrent callers share one request, and one that gives up does
// not cancel it for the others: the request has its own time limit. A failed request is
// not remembered, so the next sign-in tries again.
func (i *Issuer) discovered(ctx context.Context) (*oidc.Provider, error) {
	if known := i.provider.Load(); known != nil {
		return known, nil
	}
	requested := i.requests.DoChan("", func() (any, error) {
		found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), i.client), i.cfg.Issuer)
		if err == nil {
			i.provider.Store(found)
		}
		return found, err
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case answer := <-requested:
		if answer.Err != nil {
			err := fmt.Errorf("discover issuer %s: %w", i.cfg.Issuer, answer.Err)
			return nil, fault.New(fault.Unavailable, "The sign-in service does not answer.").Wrap(err).After(timeout)
		}
		return i.provider.Load(), nil
	}
}

// oauth asks for the person's identity and address only, never for access to anything.
func (i *Issuer) oauth(provider *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: i.cfg.ClientID, ClientSecret: i.cfg.ClientSecret, RedirectURL: i.callback,
		Endpoint: provider.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "email"},
	}
}

// failed hides the cause from the person, who could not act on it; the log has it.
func failed(message string, cause error) error {
	return fault.New(fault.SignInFailed, "%s", message).Wrap(cause)
}

// begun is a sign-in under way: what only the browser that began it knows. The service
// stores none of it, so any process can finish what another one began.
type begun struct{ state, nonce, verifier string }

// String writes the flow, which parse reads: three texts without dots, joined by dots.
func (b begun) String() string { return b.state + "." + b.nonce + "." + b.verifier }

func parse(flow string) (b begun, ok bool) {
	parts := strings.Split(flow, ".")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return b, false
	}
	return begun{parts[0], parts[1], parts[2]}, true
}
