package story_test

import (
	"context"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
)

// TestTheConsoleShowsTestModeUnderAStripe switches test mode on and off in a real browser.
func TestTheConsoleShowsTestModeUnderAStripe(t *testing.T) {
	eachShared(t, func(t *testing.T, svc *service) {
		owner, tester := svc.caller(credit), svc.testCaller()
		svc.write(func(ctx context.Context, tx *db.Tx) (err error) { // a key of test mode of the owner's workspace
			tester.agent, err = identity.CreateAgentKey(ctx, tx, owner.workspace, identity.AgentTerms{Name: "tester", Test: true})
			return err
		})
		tester.Client = newClient(t, svc.url, tester.agent.Secret)
		owner.await(owner.start(1).JobID, client.StatusCompleted)
		tested := tester.await(tester.mustTake(tester.named("test-black.blend", 1)), client.StatusCompleted)

		p := svc.console(owner)
		shows := func(text string) string { return `document.querySelector('main')?.innerText.includes('` + text + `')` }
		const stripe = `document.querySelector('.test-mode')`
		p.open("/console")
		p.until("the real jobs, without a stripe", shows("demo.blend")+" && !"+shows("test-black")+" && !"+stripe)
		p.until("the switch", `(document.querySelector('form.mode button')?.click(), true)`)
		p.until("the jobs of test mode", shows("test-black")+" && !"+shows("demo.blend"))
		p.until("a stripe that nobody can miss", `(window.scrollTo(0, 1e6), (r => r.top === 0 && r.height > 30 && r.width >= document.documentElement.clientWidth)(`+stripe+`.getBoundingClientRect()))`)
		p.open("/console/jobs/" + tested.JobID)
		p.until("the job, with the stripe", shows("test-black")+" && !!"+stripe)
		p.open("/console/wallet")
		p.until("the wallet of test mode", shows("999.99")+" && !!"+stripe)
		p.open("/console/jobs/JOB-" + strings.Repeat("0", 32))
		p.until("what is not there, with the stripe", shows("Back to your jobs")+" && !!"+stripe)
		p.open("/console/keys")
		p.until("the keys of the workspace, of both modes", shows("svc_agent_test_")+" && !"+stripe)
		p.open("/console")
		p.until("the way back", stripe+` && (document.querySelector('.test-mode button').click(), true)`)
		p.until("the real jobs again", shows("demo.blend")+" && !"+shows("test-black")+" && !"+stripe)
	})
}
