package web_test

import (
	"net/http"
	"strings"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/identity"
)

// TestTheConsoleShowsAMembersMonthlyLimitWhereItMatters: owners change it next to the member, who
// sees it in the wallet and next to the price.
func TestTheConsoleShowsAMembersMonthlyLimitWhereItMatters(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		owner := personOf(t, w, 500)
		member := joins(t, w, owner, identity.Member)
		form := "/console/members/" + owner.idOf(member) + "/limit"
		owner.open("/console/members").want(t, http.StatusOK, `placeholder="no limit" value="" aria-label="Monthly limit of `+member.Email)
		for _, bad := range []string{"-1", "ten", "1.234", "99999999999"} {
			owner.submit(form, "limit", bad).want(t, http.StatusBadRequest, `role="alert"`, "The monthly limit must be")
		}
		owner.submit(form, "limit", " 0.11 ").want(t, http.StatusOK, "The monthly limit is changed", `value="0.11" aria-label="Monthly limit of `+member.Email)
		page := member.open("/console/members").want(t, http.StatusOK, "$0.00 of $0.11")
		if strings.Contains(page.text, "/limit") {
			t.Error("a member sees how to change limits")
		}
		priced := member.upload("demo.blend", demo.Scene())
		ten := member.submit(priced.path+"/frames", "frames", "1-10").want(t, http.StatusOK, "Left of your monthly limit</dt><dd>$0.11", "Render 10 frames for $0.10")
		member.submit(priced.path+"/start", "quote_id", ten.hidden(t, "quote_id"), "frames", "1-10", "terms", contract.LegalAcceptance, "outside", "yes").want(t, http.StatusOK, "queued")
		member.open("/console/wallet").want(t, http.StatusOK, "up to $0.11 a month", "Spent this month: $0.10")
		owner.open("/console/members").want(t, http.StatusOK, "$0.10 <form")
		member.submit(priced.path+"/frames", "frames", "1-2").want(t, http.StatusOK, "Left of your monthly limit</dt><dd>$0.01", "above your monthly limit", "disabled>Render 2 frames")
		if page := owner.open(priced.path).want(t, http.StatusOK, "Render 2 frames for $0.02"); strings.Contains(page.text, "monthly limit") {
			t.Error("an owner without a limit sees that of a member")
		}
		owner.submit(form, "limit", "").want(t, http.StatusOK, "The monthly limit is changed")
		if page := member.open("/console/wallet").want(t, http.StatusOK); strings.Contains(page.text, "a month (UTC)") {
			t.Error("a limit that was removed is shown")
		}
	})
}
