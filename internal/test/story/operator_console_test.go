package story_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// An operator drains a worker while it renders, ends a job of a workspace in the middle of a
// frame, and returns what another job has paid. Owners read why. A person from whom it is
// taken is an operator no more, on pages that are open too.
func TestAnOperatorDrainsAWorkerAndEndsAJobInABrowser(t *testing.T) {
	path := realBlender(t)
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		tenant, staff := svc.caller(credit), svc.caller(0)
		svc.worker(worker.Blender{Path: path}, onCPU)
		paid := tenant.render(1)
		svc.operator(staff, true)
		p := svc.console(staff)

		p.open("/admin")
		p.says("Frames waiting", "No job renders now")
		p.open("/admin/workers")
		p.run(`document.querySelector("tbody a").click()`)
		p.says("Drain", "Sandbox")
		p.press("Drain")
		p.says("Are you sure?", "This will give the worker")
		p.press("Yes, do it")
		p.says("Done, and recorded", "drained", "Give it frames again")

		p.open("/admin")
		job, err := tenant.take(tenant.quote(2))
		if err != nil {
			t.Fatal(err)
		}
		p.says("Who waits", "2 frames") // while the page is open
		owner := svc.console(tenant)
		owner.open("/console/jobs/" + job.JobID)
		owner.says("queued")
		p.open("/admin/jobs/" + job.JobID)
		p.says("waiting", "End this job")
		p.do(chromedp.SetValue(chromedp.CSS("[name=reason]"), "The hall is too hot today."))
		p.press("End the job")
		p.says("This will end "+job.JobID, "Reason: The hall is too hot today.")
		p.press("Yes, do it")
		p.says("ended_by_operator", "The hall is too hot today.")
		owner.says("failed", "The hall is too hot today.", "You paid nothing")

		p.open("/admin/jobs/" + paid.JobID)
		p.do(chromedp.SetValue(chromedp.CSS("[name=amount]"), "0.01"))
		p.press("Give back")
		p.says("This will return 0.01 USD")
		p.press("Yes, do it")
		p.says("Done, and recorded")
		p.open("/admin/acts")
		p.says("no more frames", "end "+job.JobID, "The hall is too hot today.", "return 0.01 USD", "console")
		svc.wantMoney(tenant.workspace, credit, wallet.Credited, wallet.Reserved, wallet.Captured, wallet.Reserved, wallet.Released, wallet.Refunded)

		svc.operator(staff, false)
		p.press("Overview")
		p.says("Not found")
		p.open("/admin/acts")
		p.says("Not found")
		for _, said := range append(p.said, owner.said...) {
			if !strings.Contains(said, "404") {
				t.Errorf("the browser says %q", said)
			}
		}
	})
}

// operator makes the person of a caller an operator, or takes that away.
func (svc *service) operator(c caller, is bool) {
	svc.t.Helper()
	svc.write(func(ctx context.Context, tx *db.Tx) error {
		_, emails, err := identity.WorkspaceOf(ctx, tx, c.workspace)
		if err == nil {
			_, err = identity.SetOperator(ctx, tx, emails[0], is)
		}
		return err
	})
}

// press clicks the button or link with a text.
func (p *console) press(text string) {
	p.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll('main button, main a')].find(b => b.textContent === %q)", text)
	p.until("there is "+text, find+" !== undefined")
	p.run(find + ".click()")
}

// render has a job of so many frames rendered.
func (c caller) render(frames int) *client.Job {
	c.t.Helper()
	job, err := c.take(c.quote(frames))
	if err != nil {
		c.t.Fatal(err)
	}
	return c.await(job.JobID, client.StatusCompleted)
}
