package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
)

// selfChecks is when the public URL is called after the start: a proxy in front may come
// up later than the service.
var selfChecks = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute}

// selfCheckTimeout bounds one call of the public URL.
const selfCheckTimeout = 10 * time.Second

// checkPublicURL returns the work that calls this service under its public URL, as a
// caller would, and warns when something else answers or nothing does. Links, receipts and
// webhooks would lead there.
func (a *App) checkPublicURL(public string) func(context.Context) {
	return func(ctx context.Context) {
		if !a.Config.SelfCheck || a.Config.PublicURL == "" {
			return
		}
		switch err := tried(ctx, func() error { return a.callPublicURL(ctx, public) }); {
		case err == nil:
			a.Config.Log.Info("the public URL leads to this service", "public_url", public)
		case ctx.Err() == nil:
			a.Config.Log.Warn("the public URL does not lead to this service, so links in answers do not work: check --public-url, the proxy and its name", "public_url", public, "err", err)
		}
	}
}

// tried makes a check until it succeeds, at the times of selfChecks, and returns its last error.
func tried(ctx context.Context, check func() error) (err error) {
	for _, after := range selfChecks {
		if !pause(ctx, after) {
			return ctx.Err()
		}
		if err = check(); err == nil {
			return nil
		}
	}
	return err
}

// checkMail signs in to the mail server, and warns when that fails: nobody who waits for a link
// can tell the operator.
func (a *App) checkMail(ctx context.Context) {
	if !a.Config.SelfCheck || a.Config.Mail == nil {
		return
	}
	err := tried(ctx, func() error { return a.Config.Mail.Check(ctx) })
	if err != nil && ctx.Err() == nil {
		a.Config.Log.Warn("the mail server cannot be used, so sign-in links and notices wait or get lost: check --smtp", "err", err)
	}
}

// callPublicURL asks the public URL for the signing keys, of which one is this process's.
func (a *App) callPublicURL(ctx context.Context, public string) error {
	ctx, cancel := context.WithTimeout(ctx, selfCheckTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, public+links.SigningKeysPath, nil)
	if err != nil {
		return err
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", response.Status)
	}
	return a.DB.Read(ctx, func(tx *db.Tx) error {
		key, err := a.Keys.Current(ctx, tx)
		if err == nil && !bytes.Contains(body, []byte(key.Public().ID())) {
			err = errors.New("it is another service: it has other signing keys")
		}
		return err
	})
}
