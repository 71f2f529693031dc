// Package openid signs people in by one OpenID Connect issuer: the
// authorisation code flow with PKCE, state and nonce.
//
// What always holds: an answer counts only in the browser that began (the flow
// that it kept), only once (the issuer takes a code once), and only when the
// issuer's published keys signed it for this client; the issuer is reached when
// it is needed, so that the service starts while it is away.
//
// Whose session comes of it is left to identity. Start reading at Issuer.Start,
// then Finish.
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

// Config is what the operator and the issuer have agreed on.
type Config struct {
	Issuer       string // https://…, as the issuer's own metadata spells it
	ClientID     string
	ClientSecret string
}

// Issuer is a configured issuer. It is safe for concurrent use.
type Issuer struct {
	cfg      Config
	callback string
	client   *http.Client

	provider atomic.Pointer[oidc.Provider] // nil until the issuer has answered once
	asking   singleflight.Group
}

// timeout bounds each request to the issuer: a person waits for it.
const timeout = 10 * time.Second

// New gives an issuer that sends people back to callback. It reaches nobody yet.
func New(cfg Config, callback string) *Issuer {
	return &Issuer{cfg: cfg, callback: callback, client: &http.Client{Timeout: timeout}}
}

// Start gives the address at the issuer to send a browser to, and the flow that
// this browser must keep, and nobody else may see, until Finish. Errors:
// unavailable.
func (i *Issuer) Start(ctx context.Context) (address, flow string, err error) {
	provider, err := i.discovered(ctx)
	if err != nil {
		return "", "", err
	}
	f := begun{state: rand.Text(), nonce: rand.Text(), verifier: oauth2.GenerateVerifier()}
	address = i.oauth(provider).AuthCodeURL(f.state, oidc.Nonce(f.nonce), oauth2.S256ChallengeOption(f.verifier))
	return address, f.String(), nil
}

// Finish takes what the issuer sent the browser back with and says who it is.
// Errors: sign_in_failed, unavailable.
func (i *Issuer) Finish(ctx context.Context, flow, state, code string) (identity.Login, error) {
	f, ok := parse(flow)
	if !ok || subtle.ConstantTimeCompare([]byte(f.state), []byte(state)) != 1 {
		return identity.Login{}, failed("This browser has not begun to sign in, or began anew since.", errors.New("the state is not the browser's"))
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

// login reads who the token is about. Where it names no address, as some
// issuers' do not, the userinfo endpoint is asked.
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
			return identity.Login{}, failed("The issuer did not tell your e-mail address.", fmt.Errorf("ask for userinfo: %w", err))
		}
	}
	return identity.Login{Issuer: token.Issuer, Subject: token.Subject, Email: c.Email, EmailVerified: c.verified()}, nil
}

// claims are what is read of a person.
type claims struct {
	Email    string `json:"email"`
	Verified any    `json:"email_verified"` // some issuers send it as text
}

func (c claims) verified() bool {
	yes, _ := c.Verified.(bool)
	return yes || c.Verified == "true"
}

// discovered is the issuer's metadata, asked for until it has answered once. All
// who wait for it wait for the same answer, and who leaves does not take it along.
func (i *Issuer) discovered(ctx context.Context) (*oidc.Provider, error) {
	if known := i.provider.Load(); known != nil {
		return known, nil
	}
	asked := i.asking.DoChan("", func() (any, error) {
		found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), i.client), i.cfg.Issuer)
		if err == nil {
			i.provider.Store(found)
		}
		return found, err
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case answer := <-asked:
		if answer.Err != nil {
			err := fmt.Errorf("discover issuer %s: %w", i.cfg.Issuer, answer.Err)
			return nil, fault.New(fault.Unavailable, "The sign-in service does not answer.").Wrap(err).After(timeout)
		}
		return i.provider.Load(), nil
	}
}

func (i *Issuer) oauth(provider *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: i.cfg.ClientID, ClientSecret: i.cfg.ClientSecret, RedirectURL: i.callback,
		Endpoint: provider.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "email"},
	}
}

func failed(message string, cause error) error {
	return fault.New(fault.SignInFailed, "%s", message).Wrap(cause)
}

// begun is a sign-in under way: what only the browser that began it knows.
type begun struct{ state, nonce, verifier string }

func (b begun) String() string { return b.state + "." + b.nonce + "." + b.verifier }

func parse(flow string) (b begun, ok bool) {
	parts := strings.Split(flow, ".")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return b, false
	}
	return begun{parts[0], parts[1], parts[2]}, true
}
