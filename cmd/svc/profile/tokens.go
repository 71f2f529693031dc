package profile

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
)

// SignIn is what svc login keeps: tokens of an agent key, for one service.
type SignIn struct {
	Server       string    `json:"server"` // the tokens go to no other
	AccessToken  string    `json:"access_token"`
	AccessUntil  time.Time `json:"access_until"` // by this machine's clock
	RefreshToken string    `json:"refresh_token"`
}

// renewBefore is how long before its end an access token is changed for a new one: longer
// than a request needs to arrive.
const renewBefore = 2 * time.Minute

// fresh reports whether the access token can still be used.
func (s SignIn) fresh() bool { return time.Now().Add(renewBefore).Before(s.AccessUntil) }

// signInEnded is the failure of a sign-in that the service does not take any more.
type signInEnded struct{ profile string }

func (e signInEnded) Error() string {
	return fmt.Sprintf("the sign-in of profile %q has ended: it was revoked, or is past the end that was chosen for it. Sign in again with:\n  svc login%s", e.profile, profileFlag(e.profile))
}

// Failure returns the code for --json.
func (e signInEnded) Failure() (code, action string) {
	return "unauthenticated", "Sign in again with svc login" + profileFlag(e.profile) + "."
}

// Unwrap has clients try no second time.
func (signInEnded) Unwrap() error { return client.ErrNoKey }

// renewal gives the access token of a profile, and changes it for a new one in time. It is
// safe for concurrent use, also by several processes: a refresh token works once, and a
// second use ends the sign-in, so that the file of profiles is locked meanwhile.
type renewal struct {
	profile string

	mu  sync.Mutex
	now SignIn
}

// token returns an access token that is good for a request. Errors: signInEnded, or that
// the service cannot be reached.
func (r *renewal) token(ctx context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now.fresh() {
		return r.now.AccessToken, nil
	}
	ended := false
	_, err := changeIf(r.profile, func(p *Stored) error {
		if !SameServer(p.SignedIn.Server, r.now.Server) {
			return signInEnded{r.profile} // signed out meanwhile, or in at another service
		}
		if p.SignedIn.fresh() {
			r.now = p.SignedIn // another command was first
			return nil
		}
		at, err := discover(ctx, p.SignedIn.Server)
		if err != nil {
			return err
		}
		// An answer that is not read would lose the sign-in, so Ctrl-C does not end this
		// call.
		t, err := at.tokens(context.WithoutCancel(ctx), url.Values{"grant_type": {"refresh_token"}, "refresh_token": {p.SignedIn.RefreshToken}})
		if refused, is := errors.AsType[*refusal](err); is && refused.Code == "invalid_grant" {
			p.SignedIn, ended = SignIn{}, true
			return nil
		}
		if err != nil {
			return err
		}
		p.SignedIn = t
		r.now = t
		return nil
	})
	if err == nil && ended {
		err = signInEnded{r.profile}
	}
	if err != nil {
		return "", err
	}
	return r.now.AccessToken, nil
}

// Credential returns what opens the service in the next request: the key, or the access
// token of a sign-in, which is renewed in time. Errors are those of the renewal.
func (s Service) Credential(ctx context.Context) (string, error) {
	if s.renewal == nil {
		return s.Key, nil
	}
	return s.renewal.token(ctx)
}

// Logout is svc logout.
type Logout struct {
	named
	Local bool `env:"-" help:"Remove the tokens from this machine without contacting the service, for example if it no longer exists. Anyone with a copy can use them until the key ends."`
}

// Help is printed below the flags.
func (Logout) Help() string {
	return "The key of the sign-in is revoked at the service, which then refuses it. Saved keys stay; remove them with svc config unset key."
}

// Run revokes the sign-in and forgets it. Without a sign-in there is nothing to
// end.
func (c *Logout) Run(app *kong.Context) (err error) {
	ctx, stop := untilSignal(&err)
	defer stop()
	was := ""
	c.Profile = chosen(c.Profile)
	_, err = changeIf(c.Profile, func(p *Stored) error {
		if was = p.SignedIn.Server; was != "" && !c.Local {
			at, err := discover(ctx, was)
			if err == nil {
				err = at.revoke(ctx, p.SignedIn.RefreshToken)
			}
			if err != nil {
				return fmt.Errorf("%w\nNothing was removed. To remove the tokens only from this machine:\n  svc logout --local%s\nThe key can be revoked in a browser at %s/console/keys", err, profileFlag(c.Profile), was)
			}
		}
		p.SignedIn = SignIn{}
		return nil
	})
	switch {
	case err != nil:
		return err
	case was == "":
		terminal.Printf(app.Stdout, "profile %s is not signed in", c.Profile)
	case c.Local:
		terminal.Printf(app.Stdout, "profile %s: the tokens for %s are forgotten; their key was not revoked", c.Profile, was)
	default:
		terminal.Printf(app.Stdout, "signed out of %s; its key is revoked", was)
	}
	return nil
}
