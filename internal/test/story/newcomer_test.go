package story_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// A newcomer signs in by a link, finds no money in the wallet, gets credit of an operator,
// renders, makes a key for the pipeline, and ends it. When the session has lived its time,
// the page that is open leads to the sign-in.
func TestANewcomerGetsCreditAndRendersInABrowser(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		pass := moved(&config)
		svc := start(t, config)
		svc.worker(&painter{})
		c, staff := svc.caller(0), svc.caller(0)
		svc.operator(staff, true)
		p, boss := svc.console(c), svc.console(staff)
		p.open("/console")
		p.run(`document.querySelector("form.who button").click()`)
		p.says("The price is locked.")
		p.open("/console/wallet")
		p.says("Sign in to see yours")

		link := svc.signInLink(c)
		p.do(chromedp.Navigate(link))
		p.press("Sign in")
		p.press("Open the console")
		p.says("No jobs yet", "Upload a scene")
		p.do(chromedp.Navigate(link)) // a link works once, and leads on
		p.press("Sign in")
		p.says("unknown, used or too old")
		p.press("Sign in again")
		p.says("Send me a link")

		scene := filepath.Join(t.TempDir(), demo.Filename)
		if err := os.WriteFile(scene, demo.Scene(), 0o600); err != nil {
			t.Fatal(err)
		}
		p.open("/console/new")
		p.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{scene}))
		p.says("Before you pay", "You need $")
		priced := look[string](p.tab, t, "location.pathname")

		boss.open("/admin/workspaces?q=" + c.workspace)
		boss.do(chromedp.SetValue(chromedp.CSS("[name=amount]"), "10"))
		boss.press("Add credit")
		boss.says("This will add 10.00 USD")
		boss.press("Yes, do it")
		boss.says("Done, and recorded", "$10.00")

		p.open(priced)
		p.run(`document.querySelector("[name=terms]").click(); document.querySelector("form[data-once] button").click()`)
		p.until("every frame has come", `document.querySelector("#live .state.completed") !== null`)
		jobID := filepath.Base(look[string](p.tab, t, "location.pathname"))
		done := p.await(jobID, client.StatusCompleted)
		p.verifiedZIP(done)
		svc.wantMoney(c.workspace, 1000-done.PriceCents, wallet.Credited, wallet.Reserved, wallet.Captured)

		p.open("/console/keys")
		p.do(chromedp.SetValue(chromedp.CSS("form[action='/console/keys'] [name=name]"), "pipeline"))
		p.run(`document.querySelector("form[action='/console/keys'] button").click()`)
		p.says("This is shown only once")
		pipeline := newClient(t, svc.url, look[string](p.tab, t, `document.querySelector(".secret code").textContent`))
		jobs := func() (n int, err error) {
			for _, err := range pipeline.Jobs(t.Context(), client.JobsRequest{}) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		}
		if n, err := jobs(); n != 1 || err != nil {
			t.Errorf("the key sees %d jobs: %v", n, err)
		}
		p.press("I have stored it")
		p.until("the page without the secret", `document.querySelector(".secret") === null && document.querySelector("[aria-label='End pipeline']") !== null`)
		p.run(`document.querySelector("[aria-label='End pipeline']").click()`)
		p.until("the key has ended", `document.querySelector("tbody .state.cancelled") !== null`)
		var refused *client.Error
		if _, err := jobs(); !errors.As(err, &refused) || refused.Status != 401 {
			t.Errorf("an ended key: %v", err)
		}

		p.open("/console/jobs/" + jobID)
		p.says("completed")
		pass(contract.SessionLife)
		p.run(`[...document.querySelectorAll("header a")].find(a => a.textContent === "Wallet").click()`)
		p.says("Sign in to see yours")
		for _, said := range append(p.said, boss.said...) {
			if !strings.Contains(said, " 401 ") && !strings.Contains(said, " 400 ") { // a session that has ended, a link that is used
				t.Errorf("the browser says %q", said)
			}
		}
	})
}

// signInLink is a link for the person of a caller, as mail brings it.
func (svc *service) signInLink(c caller) (link string) {
	svc.t.Helper()
	svc.write(func(ctx context.Context, tx *db.Tx) error {
		_, emails, err := identity.WorkspaceOf(ctx, tx, c.workspace)
		if err != nil {
			return err
		}
		token, err := identity.CreateSignInLink(ctx, tx, emails[0])
		link = links.Links{PublicURL: svc.url}.SignIn(token)
		return err
	})
	return link
}
