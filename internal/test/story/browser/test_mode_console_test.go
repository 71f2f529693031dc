package browser_test

import (
	"context"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
)

// TestTheConsoleShowsTestModeUnderAStripe switches test mode on and off in a real browser.
func TestTheConsoleShowsTestModeUnderAStripe(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		owner, tester := svc.Caller(story.Credit), svc.TestCaller()
		svc.Write(func(ctx context.Context, tx *db.Tx) (err error) { // a key of test mode of the owner's workspace
			tester.Agent, err = identity.CreateAgentKey(ctx, tx, owner.Workspace, identity.AgentTerms{Name: "tester", Test: true})
			return err
		})
		tester.Client = story.NewClient(t, svc.URL, tester.Agent.Secret)
		owner.Await(owner.StartFrames(1).JobID, client.StatusCompleted)
		tested := tester.Await(tester.MustTake(tester.Named("test-black.blend", 1)), client.StatusCompleted)

		p := svc.Console(owner)
		shows := func(text string) string { return `document.querySelector('main')?.innerText.includes('` + text + `')` }
		const stripe = `document.querySelector('.test-mode')`
		p.Open("/console")
		p.Until("the real jobs, without a stripe", shows("demo.blend")+" && !"+shows("test-black")+" && !"+stripe)
		p.Until("the switch", `(document.querySelector('form.mode button')?.click(), true)`)
		p.Until("the jobs of test mode", shows("test-black")+" && !"+shows("demo.blend"))
		p.Until("a stripe that nobody can miss", `(window.scrollTo(0, 1e6), (r => r.top === 0 && r.height > 30 && r.width >= document.documentElement.clientWidth)(`+stripe+`.getBoundingClientRect()))`)
		p.Open("/console/jobs/" + tested.JobID)
		p.Until("the job, with the stripe", shows("test-black")+" && !!"+stripe)
		p.Open("/console/wallet")
		p.Until("the wallet of test mode", shows("999.99")+" && !!"+stripe)
		p.Open("/console/jobs/JOB-" + strings.Repeat("0", 32))
		p.Until("what is not there, with the stripe", shows("Back to your jobs")+" && !!"+stripe)
		p.Open("/console/keys")
		p.Until("the keys of the workspace, of both modes", shows("svc_agent_test_")+" && !"+stripe)
		p.Open("/console")
		p.Until("the way back", stripe+` && (document.querySelector('.test-mode button').click(), true)`)
		p.Until("the real jobs again", shows("demo.blend")+" && !"+shows("test-black")+" && !"+stripe)
	})
}
