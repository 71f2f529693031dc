package browser_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
)

// Two tabs show one workspace. When one of them switches to another workspace, the other one
// leaves its form, which would act there.
func TestATabFollowsWhenAnotherOneSwitchesTheWorkspace(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		own, studio := svc.Caller(story.Credit), svc.Caller(story.Credit)
		var email string
		svc.Read(func(ctx context.Context, tx *db.Tx) error {
			people, err := identity.Members(ctx, tx, own.Workspace)
			if err == nil {
				email = people[0].Email
			}
			return err
		})
		apptest.Join(t, svc.App.DB, studio.Workspace, email, identity.Member)
		p := svc.Console(own)
		const shown = `document.querySelector("[name=workspace_id]").value === `
		p.Open("/console/new")
		p.Until("the workspace that was joined", shown+`"`+studio.Workspace+`"`)
		tab, done := chromedp.NewContext(p.Tab)
		t.Cleanup(done)
		other := &story.Console{Caller: p.Caller, Base: p.Base, Tab: tab}
		other.Open("/console")
		other.Run(`document.querySelector("[name=workspace_id]").value = "` + own.Workspace + `"; document.querySelector(".switch button").click()`)
		other.Until("the workspace of the switch", shown+`"`+own.Workspace+`"`)
		p.Until("the same in the first tab", `location.pathname === "/console" && `+shown+`"`+own.Workspace+`"`)
		for _, said := range p.Said {
			t.Errorf("the browser says %q", said)
		}
	})
}
