package account

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/numbers"
)

// Job is svc job ID.
type Job struct {
	profile.Flags
	output
	ID string `arg:"" name:"job" help:"The job, JOB-…"`
}

// jobObject is a job in the form of --json.
type jobObject struct {
	OK bool `json:"ok"`
	*client.Job
}

// Run prints everything about one job.
func (c *Job) Run(app *kong.Context) (err error) {
	api, err := c.Any()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	job, err := api.Job(ctx, c.ID)
	if err != nil {
		return err
	}
	return c.print(app, jobObject{true, job}, func() { printJob(app.Stdout, job, time.Now()) })
}

// printJob writes what is known of a job; lines for what is not known are left out.
func printJob(w io.Writer, j *client.Job, now time.Time) {
	table := terminal.NewTable(w)
	row := func(name, value string) {
		if value != "" {
			table.Row(name, value)
		}
	}
	row("job", j.JobID)
	row("status", statusText(j))
	if f := j.Failure; f != nil {
		row("failure", fmt.Sprintf("%s (%s)", f.Message, f.Code))
		row("advice", f.SuggestedAction)
	}
	row("file", fmt.Sprintf("%s, %s", j.Filename, terminal.InBytes.Text(j.InputSizeBytes)))
	row("frames", framesText(j))
	row("tags", strings.Join(j.Tags, ", "))
	if j.Priority != 0 && j.Priority != contract.DefaultPriority {
		row("priority", fmt.Sprintf("%d, of %d to %d", j.Priority, contract.LowestPriority, contract.HighestPriority))
	}
	if j.RerenderOf != "" {
		row("again", "frames of "+j.RerenderOf)
	}
	for _, f := range j.Findings {
		row("look at", terminal.Finding(f.Frames, f.FrameCount, f.Message, f.Code))
		table.Row("", f.SuggestedAction)
	}
	if j.ContactSheetURL != "" && j.FramesCompleted > 1 {
		row("overview", "svc preview "+j.JobID+" --sheet")
		table.Row("", "svc preview "+j.JobID+" --loop")
	}
	if j.Application == contract.SyntheticApplication {
		row("rendering", "NOT RENDERED: test pictures of a "+j.Application)
	} else if j.RenderSeconds > 0 {
		row("rendering", fmt.Sprintf("%s in all, by %s %s on %s (%s)",
			(time.Duration(j.RenderSeconds*1000)*time.Millisecond).Round(100*time.Millisecond), j.Application, j.Version, j.DeviceName, j.RenderDevice))
	}
	row("price", moneyText(j))
	for _, moment := range []struct {
		name string
		at   *time.Time
	}{
		{"created", &j.CreatedAt}, {"submitted", j.SubmittedAt}, {"claimed", j.ClaimedAt}, {"completed", j.CompletedAt},
		{"failed", j.FailedAt}, {"cancelled", j.CancelledAt},
	} {
		if moment.at != nil {
			row(moment.name, fmt.Sprintf("%s, %s", terminal.Time(*moment.at), terminal.Ago(*moment.at, now)))
		}
	}
	row("input", j.InputSHA256)
	row("next", nextStep(j))
	if j.Cancellable {
		row("or", "svc cancel "+j.JobID)
	}
	_ = table.Flush() // a closed standard output has no reader
}

// statusText says what the job waits for.
func statusText(j *client.Job) string {
	switch {
	case j.PausedBy == "operator":
		return j.Status + ", paused by the operator of the service"
	case j.PausedBy != "":
		return j.Status + ", paused"
	case j.WaitingReason == "no_worker_online":
		return j.Status + ", and no worker is online"
	case j.WaitingReason == "workers_unable":
		return j.Status + ", and the workers report that they cannot work"
	case j.WaitingReason == "no_matching_blender":
		return j.Status + ", and no worker that is online has the Blender version and denoising of its frames so far"
	case j.WaitingReason == "no_tagged_worker":
		return j.Status + ", and no worker that is online has the tags that the operator requires for the workspace"
	case j.WaitingReason == "workspace_limit":
		return j.Status + ", and the workspace renders as many frames at once as it may"
	case j.WaitingReason == "no_capable_worker":
		return j.Status + ", and none of the workers that are online can render it"
	case j.WaitingReason == "workers_busy" && j.QueuePosition != nil:
		return fmt.Sprintf("%s, %d in the queue", j.Status, *j.QueuePosition)
	case j.ETASeconds != nil:
		return fmt.Sprintf("%s, about %s left", j.Status, time.Duration(*j.ETASeconds)*time.Second)
	}
	return j.Status
}

func framesText(j *client.Job) string {
	text := fmt.Sprintf("%d to %d", j.FrameStart, j.FrameEnd)
	if j.FrameStep > 1 {
		text += fmt.Sprintf(", step %d", j.FrameStep)
	}
	if strings.Contains(j.FrameList, ",") { // no range
		text = j.FrameList
	}
	return fmt.Sprintf("%s: %s of %s done", text, numbers.Grouped(j.FramesCompleted), numbers.Grouped(j.FrameCount))
}

// moneyText says what became of the price: reserved, charged or returned.
func moneyText(j *client.Job) string {
	price := numbers.Money(j.PriceCents, j.Currency)
	switch {
	case j.ChargedCents > 0:
		return numbers.Money(j.ChargedCents, j.Currency) + ", paid"
	case j.ReservedCents > 0:
		return price + ", reserved"
	}
	return price + ", nothing was charged"
}

// nextStep is the command to run next; "" for none.
func nextStep(j *client.Job) string {
	switch {
	case j.PausedBy == "workspace":
		return "svc resume " + j.JobID
	case j.Status == client.StatusCompleted:
		return "svc download " + j.JobID
	case j.Terminal():
		return ""
	case j.Cancellable:
		return "svc render --job " + j.JobID
	}
	return "svc render --job " + j.JobID
}

// notCompleted says that a job has no result yet, or will have none, and what to do.
func notCompleted(j *client.Job) error {
	switch {
	case j.Failure != nil:
		return fmt.Errorf("job %s failed and has no frames to fetch: %s (%s)\n%s", j.JobID, j.Failure.Message, j.Failure.Code, j.Failure.SuggestedAction)
	case j.Terminal():
		return fmt.Errorf("job %s was %s and has no frames to fetch", j.JobID, j.Status)
	}
	return fmt.Errorf("job %s is %s. To wait for it and fetch it:\n  svc render --job %s", j.JobID, statusText(j), j.JobID)
}
