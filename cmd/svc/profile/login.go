package profile

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/plaintext"
)

// Login is svc login.
type Login struct {
	ServerFlags
	Device bool `env:"-" help:"For machines without a browser: show a code to enter in a browser elsewhere."`
}

// Help is printed below the flags.
func (Login) Help() string {
	return "You confirm the sign-in in the browser, and choose a monthly spending limit and an expiry date. " +
		"The tokens are saved in the profile, in a file with mode 0600, and are renewed automatically. svc logout revokes them. " +
		"If you have a key, save it instead: svc config set key -"
}

// answerTime bounds how long a person may take to answer in the browser of this machine.
const answerTime = 15 * time.Minute

// untilSignal returns a context that ends with Ctrl-C, which stop turns into its exit code.
func untilSignal(failure *error) (ctx context.Context, stop func()) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, cancel)
	return ctx, func() {
		if *failure != nil && ctx.Err() != nil {
			*failure = terminal.Exit(terminal.ExitInterrupted, errors.New("interrupted"))
		}
		cancel()
	}
}

// Run signs in and keeps the tokens in the profile. What was signed in before is revoked.
func (c *Login) Run(app *kong.Context) (err error) {
	c.Profile = chosen(c.Profile)
	if err := checkName(c.Profile); err != nil {
		return terminal.WrongUsage(err)
	}
	all, err := readAll()
	if err != nil {
		return err
	}
	stored := all.Profiles[c.Profile]
	server := strings.TrimRight(first(c.Server, stored.home()), "/")
	if err := CheckServer(server); err != nil {
		return err
	}
	if err := stored.takesSignIn(c.Profile, server); err != nil {
		return terminal.WrongUsage(err)
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	at, err := discover(ctx, server)
	if err != nil {
		return err
	}
	var tokens SignIn
	if c.Device {
		tokens, err = at.byDevice(ctx, app)
	} else {
		tokens, err = at.byBrowser(ctx, app)
	}
	if err != nil {
		return inWords(err)
	}
	var before SignIn
	path, err := changeIf(c.Profile, func(p *Stored) error {
		if err := p.takesSignIn(c.Profile, server); err != nil {
			return err
		}
		before, p.SignedIn = p.SignedIn, tokens
		p.Server = first(p.Server, server)
		if !SameServer(p.Server, server) {
			p.Server = server // no key is for the server before
		}
		return nil
	})
	if err != nil {
		return errors.Join(err, at.revoke(ctx, tokens.RefreshToken))
	}
	if SameServer(before.Server, server) {
		_ = at.revoke(ctx, before.RefreshToken) // it is in the list of keys, where it can be revoked
	}
	terminal.Printf(app.Stdout, "signed in to %s; profile %s, kept in %s", server, c.Profile, path)
	terminal.Printf(app.Stderr, "What it may spend and when it ends: %s/console/keys. svc logout%s ends it.", server, profileFlag(c.Profile))
	return nil
}

// takesSignIn refuses to sign in where the profile's keys are another service's, or where
// its agent key would count before the sign-in.
func (p Stored) takesSignIn(name, server string) error {
	switch {
	case p.AgentKey != "":
		return fmt.Errorf("profile %q has an agent key (%s), which would override the sign-in. Remove it first, or sign in under another profile:\n  svc config unset key%s\n  svc login --server %s --profile NAME", name, Mask(p.AgentKey), profileFlag(name), server)
	case !SameServer(p.home(), server) && (p.AccountKey != "" || p.SignedIn != (SignIn{})):
		return fmt.Errorf("profile %q is for %s. Sign in to %s under another profile:\n  svc login --server %s --profile NAME", name, p.home(), server, server)
	}
	return nil
}

// inWords explains a refusal to the person who signs in.
func inWords(err error) error {
	refused, is := errors.AsType[*refusal](err)
	if !is {
		return err
	}
	switch refused.Code {
	case "access_denied":
		return errors.New("the sign-in was declined in the browser; nothing was saved")
	case "expired_token":
		return errors.New("the code expired; run the command again for a new one")
	}
	return err
}

// byBrowser has the browser of this machine bring the code (RFC 8252, with PKCE).
func (g grants) byBrowser(ctx context.Context, app *kong.Context) (s SignIn, err error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return s, fmt.Errorf("listen for the browser's answer: %w", err)
	}
	verifier, state, answers := rand.Text()+rand.Text(), rand.Text(), make(chan url.Values, 1)
	server := &http.Server{Handler: answerPage(state, answers), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // it ends with Shutdown
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // lets the page that thanks arrive
	}()
	redirect := "http://" + listener.Addr().String() + "/"
	sum := sha256.Sum256([]byte(verifier))
	to := g.authorize + "?" + url.Values{
		"response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {redirect}, "state": {state}, "resource": g.resources(),
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode()
	if terminal.Open(to) {
		terminal.Printf(app.Stderr, "Your browser asks whether svc may come in. If it does not open, go to:")
	} else {
		terminal.Printf(app.Stderr, "Open this address in a browser on this machine (elsewhere: svc login --device):")
	}
	fmt.Fprintln(app.Stderr, "  "+to) // whole, so that it can be copied
	waiting, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	select {
	case <-waiting.Done():
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		return s, &refusal{Code: "expired_token"}
	case q := <-answers:
		if code := q.Get("error"); code != "" {
			return s, &refusal{plaintext.Line(code), plaintext.Line(q.Get("error_description"))}
		}
		if q.Get("iss") != g.issuer {
			return s, errors.New("the answer in the browser is not from this service; nothing was saved")
		}
		return g.tokens(ctx, url.Values{"grant_type": {"authorization_code"}, "code": {q.Get("code")}, "redirect_uri": {redirect}, "code_verifier": {verifier}})
	}
}

// answerPage takes the first answer with the state that was sent. Other requests, such as
// another page's guess, change nothing.
func answerPage(state string, answers chan<- url.Values) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.Method != http.MethodGet || r.URL.Path != "/" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
			http.NotFound(w, r)
			return
		}
		select {
		case answers <- q:
		default:
			http.Error(w, "This was answered already.", http.StatusConflict)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		_, _ = fmt.Fprintln(w, "svc has the answer. You can close this page and go back to the terminal.")
	})
}

// byDevice shows a code and asks until a person has answered it elsewhere (RFC 8628).
func (g grants) byDevice(ctx context.Context, app *kong.Context) (s SignIn, err error) {
	var d struct {
		DeviceCode string `json:"device_code"`
		UserCode   string `json:"user_code"`
		At         string `json:"verification_uri"`
		Complete   string `json:"verification_uri_complete"`
		ExpiresIn  int64  `json:"expires_in"` // seconds
		Interval   int64  `json:"interval"`   // seconds
	}
	if err := g.post(ctx, g.device, url.Values{"resource": g.resources()}, &d); err != nil {
		return s, err
	}
	terminal.Printf(app.Stderr, "Open %s in any browser and type the code %s", plaintext.Line(d.At), plaintext.Line(d.UserCode))
	terminal.Printf(app.Stderr, "It works for %d minutes. Waiting for the answer; Ctrl-C ends that.", d.ExpiresIn/60)
	pace, end := max(d.Interval, 1), time.Now().Add(time.Duration(d.ExpiresIn)*time.Second)
	for time.Now().Before(end) {
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-time.After(time.Duration(pace) * time.Second):
		}
		s, err = g.tokens(ctx, url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {d.DeviceCode}})
		refused, is := errors.AsType[*refusal](err)
		switch {
		case is && refused.Code == "authorization_pending":
		case is && refused.Code == "slow_down":
			pace += 5 // RFC 8628 3.5
		default:
			return s, err
		}
	}
	return s, &refusal{Code: "expired_token"}
}
