package browser_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// An operator drains a worker while it renders, ends a job of a workspace in the middle of a
// frame, and returns what another job has paid. Owners read why. A person from whom it is
// taken is an operator no more, on pages that are open too.
func TestAnOperatorDrainsAWorkerAndEndsAJobInABrowser(t *testing.T) {
	path := story.RealBlender(t)
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		tenant, staff := svc.Caller(story.Credit), svc.Caller(0)
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		paid := renderFrames(tenant, 1)
		setOperator(svc, staff, true)
		p := svc.Console(staff)

		p.Open("/admin")
		p.Says("Frames waiting", "No job is rendering")
		p.Open("/admin/workers")
		p.Run(`document.querySelector("tbody a").click()`)
		p.Says("Drain", "Sandbox")
		press(p, "Drain")
		p.Says("Are you sure?", "This will give the worker")
		press(p, "Yes, do it")
		p.Says("Done, and recorded", "drained", "Give it frames again")

		p.Open("/admin")
		job, err := tenant.Take(tenant.QuoteFrames(2))
		if err != nil {
			t.Fatal(err)
		}
		p.Says("Waiting workspaces", "2 frames") // while the page is open
		owner := svc.Console(tenant)
		owner.Open("/console/jobs/" + job.JobID)
		owner.Says("queued")
		p.Open("/admin/jobs/" + job.JobID)
		p.Says("waiting", "End this job")
		p.Do(chromedp.SetValue(chromedp.CSS("form:has([value=fail]) [name=reason]"), "The hall is too hot today."))
		press(p, "End the job")
		p.Says("This will end "+job.JobID, "Reason: The hall is too hot today.")
		press(p, "Yes, do it")
		p.Says("ended_by_operator", "The hall is too hot today.")
		owner.Says("failed", "The hall is too hot today.", "not charged")

		p.Open("/admin/jobs/" + paid.JobID)
		p.Do(chromedp.SetValue(chromedp.CSS("[name=amount]"), "0.01"))
		press(p, "Refund")
		p.Says("This will return $0.01")
		press(p, "Yes, do it")
		p.Says("Done, and recorded")
		p.Open("/admin/acts")
		p.Says("no more frames", "end "+job.JobID, "The hall is too hot today.", "return $0.01", "console")
		svc.WantMoney(tenant.Workspace, story.Credit, wallet.Credited, wallet.Reserved, wallet.Captured, wallet.Reserved, wallet.Released, wallet.Refunded)

		setOperator(svc, staff, false)
		press(p, "Overview")
		p.Says("Not found")
		p.Open("/admin/acts")
		p.Says("Not found")
		for _, said := range append(p.Said, owner.Said...) {
			if !strings.Contains(said, "404") {
				t.Errorf("the browser says %q", said)
			}
		}
	})
}

// setOperator makes the person of a caller an operator, or takes that away.
func setOperator(svc *story.Service, c story.Caller, is bool) {
	svc.T.Helper()
	svc.Write(func(ctx context.Context, tx *db.Tx) error {
		_, emails, err := identity.WorkspaceOf(ctx, tx, c.Workspace)
		if err == nil {
			_, err = identity.SetOperator(ctx, tx, emails[0], is)
		}
		return err
	})
}

// press clicks the button or link with a text.
func press(p *story.Console, text string) {
	p.T.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll('main button, main a')].find(b => b.textContent === %q)", text)
	p.Until("there is "+text, find+" !== undefined")
	p.Run(find + ".click()")
}

// renderFrames has a job of so many frames rendered.
func renderFrames(c story.Caller, frames int) *client.Job {
	c.T.Helper()
	job, err := c.Take(c.QuoteFrames(frames))
	if err != nil {
		c.T.Fatal(err)
	}
	return c.Await(job.JobID, client.StatusCompleted)
}
