package browser_test

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
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// A newcomer signs in by a link, finds no money in the wallet, gets credit of an operator,
// renders, makes a key for the pipeline, and ends it. When the session has lived its time,
// the page that is open leads to the sign-in.
func TestANewcomerGetsCreditAndRendersInABrowser(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		svc.Worker(&story.Painter{})
		c, staff := svc.Caller(0), svc.Caller(0)
		setOperator(svc, staff, true)
		p, boss := svc.Console(c), svc.Console(staff)
		p.Open("/console")
		p.Run(`document.querySelector("form.who button").click()`)
		p.Says("The price is locked.")
		p.Open("/console/wallet")
		p.Says("Sign in to see yours")

		link := signInLink(svc, c)
		p.Do(chromedp.Navigate(link))
		press(p, "Sign in")
		p.Until("the page that was asked for", `location.pathname === "/console/wallet"`)
		p.Open("/console")
		p.Says("No jobs yet", "Upload a scene")
		p.Do(chromedp.Navigate(link)) // a link works once, and leads on
		p.Says("is invalid, has expired, or was already used")
		press(p, "Sign in again")
		p.Says("Send me a link")

		scene := filepath.Join(t.TempDir(), demo.Filename)
		if err := os.WriteFile(scene, demo.Scene(), 0o600); err != nil {
			t.Fatal(err)
		}
		p.Open("/console/new")
		p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{scene}))
		p.Says("Before you pay", "You need $")
		priced := story.Look[string](p.Tab, t, "location.pathname")

		boss.Open("/admin/workspaces?q=" + c.Workspace)
		boss.Do(chromedp.SetValue(chromedp.CSS("[name=amount]"), "10"))
		press(boss, "Add credit")
		boss.Says("This will add $10.00")
		press(boss, "Yes, do it")
		boss.Says("Done, and recorded", "$10.00")

		p.Open(priced)
		p.Run(`document.querySelector("[name=terms]").click(); document.querySelector("form[data-once] button.big").click()`)
		p.Until("every frame has come", `document.querySelector("#live .state.completed") !== null`)
		jobID := filepath.Base(story.Look[string](p.Tab, t, "location.pathname"))
		done := p.Await(jobID, client.StatusCompleted)
		p.VerifiedZIP(done)
		svc.WantMoney(c.Workspace, 1000-done.PriceCents, wallet.Credited, wallet.Reserved, wallet.Captured)

		p.Open("/console/keys")
		p.Do(chromedp.SetValue(chromedp.CSS("form[action='/console/keys'] [name=name]"), "pipeline"))
		p.Run(`document.querySelector("form[action='/console/keys'] button").click()`)
		p.Says("This is shown only once")
		pipeline := story.NewClient(t, svc.URL, story.Look[string](p.Tab, t, `document.querySelector(".secret code").textContent`))
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
		press(p, "I have stored it")
		p.Until("the page without the secret", `document.querySelector(".secret") === null && document.querySelector("[aria-label='End pipeline']") !== null`)
		p.Run(`document.querySelector("[aria-label='End pipeline']").click()`)
		p.Until("the key has ended", `document.querySelector("tbody .state.cancelled") !== null`)
		var refused *client.Error
		if _, err := jobs(); !errors.As(err, &refused) || refused.Status != 401 {
			t.Errorf("an ended key: %v", err)
		}

		p.Open("/console/jobs/" + jobID)
		p.Says("completed")
		pass(contract.SessionLife)
		p.Run(`[...document.querySelectorAll("header a")].find(a => a.textContent === "Wallet").click()`)
		p.Says("Sign in to see yours")
		for _, said := range append(p.Said, boss.Said...) {
			if !strings.Contains(said, " 401 ") && !strings.Contains(said, " 400 ") { // a session that has ended, a link that is used
				t.Errorf("the browser says %q", said)
			}
		}
	})
}

// signInLink is a link for the person of a caller, as mail brings it.
func signInLink(svc *story.Service, c story.Caller) (link string) {
	svc.T.Helper()
	svc.Write(func(ctx context.Context, tx *db.Tx) error {
		_, emails, err := identity.WorkspaceOf(ctx, tx, c.Workspace)
		if err != nil {
			return err
		}
		token, err := identity.CreateSignInLink(ctx, tx, emails[0])
		link = links.Links{PublicURL: svc.URL}.SignIn(token)
		return err
	})
	return link
}
