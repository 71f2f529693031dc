package clients_test

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/issuer"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
)

// TestPeopleOfADomainJoinTheirStudioWhenTheySignIn: by the issuer only, with a verified address,
// and not after they were removed.
func TestPeopleOfADomainJoinTheirStudioWhenTheySignIn(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		i := issuer.Open(t)
		i.Configure(&config)
		svc := story.Start(t, config)
		members := svc.URL + "/console/members"
		signIn := func(subject, email string, verified bool) (browser *http.Client, page string) {
			jar, err := cookiejar.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			browser = &http.Client{Jar: jar}
			i.Next(subject, email, verified)
			_, page = visit(t, browser, http.MethodGet, svc.URL+"/v1/auth/oidc/start", nil)
			return browser, page
		}
		inside := func(browser *http.Client, owner string) bool {
			_, page := visit(t, browser, http.MethodGet, members, nil)
			return strings.Contains(page, owner)
		}

		owner := press(t, svc, linkFor(svc, "owner@studio.example"))
		see(t, owner, http.MethodPost, svc.URL+"/console/settings/name", url.Values{"name": {"Studio"}})
		claim := url.Values{"role": {"member"}}
		if status, page := visit(t, owner, http.MethodPost, members+"/domains", claim); status != http.StatusBadRequest || !strings.Contains(page, "sign in with OpenID Connect as owner@studio.example") {
			t.Errorf("an owner who came by a link claims their domain: %d %s", status, page)
		}
		owner, _ = signIn("1", "owner@studio.example", true)
		if page := see(t, owner, http.MethodGet, members, nil); !strings.Contains(page, "Everyone at studio.example joins as") {
			t.Errorf("the owner sees no form: %s", page)
		}
		see(t, owner, http.MethodPost, members+"/domains", claim)

		artist, page := signIn("2", "artist@studio.example", true)
		if !strings.Contains(page, "Studio") && !inside(artist, "owner@studio.example") {
			t.Errorf("an artist of the domain sees %s", page)
		}
		if page := see(t, owner, http.MethodGet, members, nil); !strings.Contains(page, "joined by @studio.example") || !strings.Contains(page, `value="studio.example"`) {
			t.Errorf("the owner sees %s", page)
		}
		if _, page := signIn("3", "mallory@studio.example", false); !strings.Contains(page, "has not verified") {
			t.Errorf("an address that is not verified: %s", page)
		}
		for subject, email := range map[string]string{"4": "a@other.example", "5": "a@sub.studio.example"} {
			if browser, _ := signIn(subject, email, true); inside(browser, "owner@studio.example") {
				t.Errorf("%s has joined", email)
			}
		}
		for _, claimed := range []string{"a@studio.example", "a@sub.studio.example", "a@studio.example@other.example", "a@studio.example, a@other.example"} {
			// The service knows this person by another address, and so does everybody who sees them.
			if browser, _ := signIn("4", claimed, true); inside(browser, "owner@studio.example") {
				t.Errorf("a@other.example has joined as %s", claimed)
			}
		}
		if browser, _ := signIn("8", "a@studio.example.other.example", true); inside(browser, "owner@studio.example") {
			t.Error("a domain that begins with the studio's has joined")
		}
		if linked := press(t, svc, linkFor(svc, "linked@studio.example")); inside(linked, "owner@studio.example") {
			t.Error("somebody has joined by a link")
		}
		for _, form := range []string{"/domains", "/domains/release"} { // an artist is no owner
			if status, _ := visit(t, artist, http.MethodPost, members+form, url.Values{"role": {"member"}, "domain": {"studio.example"}}); status != http.StatusForbidden {
				t.Errorf("a member sends %s: %d", form, status)
			}
		}
		press(t, svc, linkFor(svc, "rival@studio.example")) // has a workspace, and joins the studio too
		rival, _ := signIn("6", "rival@studio.example", true)
		if status, page := visit(t, rival, http.MethodPost, members+"/domains", claim); status != http.StatusBadRequest || !strings.Contains(page, "belongs to another workspace") {
			t.Errorf("a second workspace claims the domain: %d %s", status, page)
		}

		remove := regexp.MustCompile(`/console/members/PER-[0-9a-f]{32}/remove"><button class="quiet small" aria-label="Remove artist`).FindString(see(t, owner, http.MethodGet, members, nil))
		see(t, owner, http.MethodPost, svc.URL+strings.Split(remove, `"`)[0], nil)
		if status, _ := visit(t, artist, http.MethodGet, members, nil); status != http.StatusUnauthorized {
			t.Errorf("the session of who was removed: %d", status)
		}
		if again, _ := signIn("2", "artist@studio.example", true); inside(again, "owner@studio.example") {
			t.Error("who was removed has joined again")
		}

		svc.Write(func(ctx context.Context, tx *db.Tx) error {
			act, err := operator.ReleaseDomain(ctx, tx, "studio.example")
			if err == nil {
				err = act.Perform(ctx, tx, operator.Account("an operator"))
			}
			return err
		})
		late, _ := signIn("7", "late@studio.example", true)
		if inside(late, "owner@studio.example") {
			t.Error("somebody has joined after an operator released the domain")
		}
		see(t, late, http.MethodPost, members+"/domains", url.Values{"role": {"viewer"}})
		svc.Write(func(ctx context.Context, tx *db.Tx) error {
			all, err := identity.DomainsOf(ctx, tx, "", "", 10)
			if len(all) != 1 || all[0].ClaimedBy != "late@studio.example" || all[0].Role != identity.Viewer {
				t.Errorf("the domain is %+v", all)
			}
			return err
		})
	})
}
