package clients_test

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
)

// TestAMemberRendersWithinTheirLimitUntilTheOwnerRaisesIt in the browser.
func TestAMemberRendersWithinTheirLimitUntilTheOwnerRaisesIt(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		var people []identity.MemberView
		svc.Write(func(ctx context.Context, tx *db.Tx) (err error) {
			people, err = identity.Members(ctx, tx, c.Workspace)
			return err
		})
		owner := press(t, svc, linkFor(svc, people[0].Email))
		apptest.Join(t, svc.App.DB, c.Workspace, "artist@example.com", identity.Member)
		artist := press(t, svc, linkFor(svc, "artist@example.com"))
		members := svc.URL + "/console/members"
		personID := regexp.MustCompile(`/console/members/(PER-[0-9a-f]{32})/remove"><button class="quiet small" aria-label="Remove artist`).FindStringSubmatch(see(t, owner, http.MethodGet, members, nil))[1]
		limit := func(dollars string) {
			see(t, owner, http.MethodPost, members+"/"+personID+"/limit", url.Values{"limit": {dollars}})
		}
		// order sends the form of the price, as a page from before a limit could.
		order := func(frames string) (status int, page string) {
			priced, _ := uploadForm(t, svc, artist)
			page = see(t, artist, http.MethodPost, priced+"/frames", url.Values{"frames": {frames}})
			return visit(t, artist, http.MethodPost, priced+"/start", url.Values{"quote_id": {hidden(t, page, "quote_id")}, "frames": {frames}, "terms": {contract.LegalAcceptance}})
		}
		limit("0.03")
		stop := svc.Worker(&story.Painter{})
		defer stop()
		status, page := order("1-2")
		if status != http.StatusOK {
			t.Fatalf("within the limit: %d %s", status, page)
		}
		c.Await(regexp.MustCompile(`JOB-[0-9a-f]{32}`).FindString(page), client.StatusCompleted)
		if status, page := order("1-2"); status != http.StatusPaymentRequired || !strings.Contains(page, "you have only $0.01 of a monthly $0.03 left") {
			t.Errorf("above the limit: %d %s", status, page)
		}
		limit("0.04")
		if status, page = order("1-2"); status != http.StatusOK {
			t.Errorf("within the raised limit: %d %s", status, page)
		}
		c.Await(regexp.MustCompile(`JOB-[0-9a-f]{32}`).FindString(page), client.StatusCompleted)
		if page := see(t, owner, http.MethodGet, members, nil); !strings.Contains(page, "$0.04 <form") {
			t.Errorf("the owner sees %s", page)
		}
	})
}
