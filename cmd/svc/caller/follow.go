package caller

import (
	"context"
	"fmt"
	"strings"
	"time"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/plaintext"
)

// jobError is a job that ended without a result: failed or cancelled. The whole
// reservation was released.
type jobError struct{ job *client.Job }

func (e *jobError) Error() string {
	if e.job.Failure == nil {
		return fmt.Sprintf("job %s was %s; nothing was charged", e.job.JobID, e.job.Status)
	}
	return strings.TrimSpace(fmt.Sprintf("job %s failed: %s (%s); nothing was charged. %s",
		e.job.JobID, plaintext.Line(e.job.Failure.Message), e.job.Failure.Code, e.job.Failure.SuggestedAction))
}

// Failure implements failure.Coded.
func (e *jobError) Failure() (code, action string) {
	if e.job.Failure == nil {
		return "", ""
	}
	return e.job.Failure.Code, e.job.Failure.SuggestedAction
}

// follow waits until the job is terminal and shows its progress. It returns a
// *jobError unless the job is completed.
func follow(ctx context.Context, o Options, jobID string) (*client.Job, error) {
	shown := newFollowing(o.Display)
	defer shown.end()
	job, err := o.Client.Wait(ctx, jobID, shown.event)
	if err != nil {
		return nil, err
	}
	if job.Status != client.StatusCompleted {
		return nil, &jobError{job}
	}
	return job, nil
}

// following shows the progress of a job by its events.
//
// The count shown never goes back: a frame event may come before a job event that was
// written earlier, and after a lost connection the job is read instead of its events.
//
// Its meter appears with the first event: a job that does not exist has none.
type following struct {
	display     terminal.Display
	frames      terminal.Meter // nil before
	done, total int64
	waiting     string
}

func newFollowing(to terminal.Display) *following {
	return &following{display: to}
}

// event shows one event.
func (f *following) event(e client.Event) {
	if f.frames == nil {
		f.frames = f.display.Meter("frames", terminal.InFrames)
	}
	switch {
	case e.Frame != nil:
		f.done = max(f.done, terminal.FrameParts*int64(e.Frame.FramesCompleted))
	case e.Job != nil:
		f.done, f.total = max(f.done, doneOf(e.Job)), terminal.FrameParts*int64(e.Job.FrameCount)
		f.frames.Expect(leftText(e.Job))
		if now := waitingText(e.Job); now != f.waiting && !e.Job.Terminal() {
			f.waiting = now
			f.display.Say("%s", now)
		}
		if e.Job.Status == client.StatusQueued {
			return // the estimate must not count the time in the queue
		}
	}
	f.frames.Move(f.done, f.total)
}

// end closes the meter. Call it once.
func (f *following) end() {
	if f.frames != nil {
		f.frames.End()
	}
}

// doneOf is how far a job is, in terminal.FrameParts. Completed frames count whole.
// The rest comes from the service's percentage and always stays below one frame more,
// so that a frame is never shown as done before it is accepted.
func doneOf(job *client.Job) int64 {
	whole := terminal.FrameParts * int64(job.FramesCompleted)
	reported := int64(job.ProgressPercent / 100 * terminal.FrameParts * float64(job.FrameCount))
	return min(max(whole, reported), whole+terminal.FrameParts-1, terminal.FrameParts*int64(job.FrameCount))
}

// leftText is the service's estimate of the time left, "" when it has none. The range
// is shown where it adds something in whole seconds.
func leftText(job *client.Job) string {
	if job.ETASeconds == nil {
		return ""
	}
	text := inSeconds(*job.ETASeconds) + " left"
	if r := job.ETARange; r != nil && inSeconds(r.LowSeconds) != inSeconds(r.HighSeconds) {
		text += fmt.Sprintf(" (%s to %s)", inSeconds(r.LowSeconds), inSeconds(r.HighSeconds))
	}
	return text
}

// inSeconds formats seconds, rounded down to 1 or more, as in "3m20s".
func inSeconds(s float64) string {
	return (time.Duration(max(1, s)) * time.Second).String()
}

// waitingText describes in words what happens to the job right now.
func waitingText(job *client.Job) string {
	text := reasonText(job)
	if job.QueuePosition != nil {
		text += fmt.Sprintf(", number %d in the queue", *job.QueuePosition)
	}
	return text
}

// reasonText is the API's waiting_reason (decisions 5), or otherwise the state,
// in words.
func reasonText(job *client.Job) string {
	switch {
	case job.PausedBy == "operator":
		return "paused by the operator of the service"
	case job.PausedBy != "":
		return "paused; svc resume " + job.JobID + " continues it"
	case job.WaitingReason == "no_worker_online":
		return "waiting: no worker is online yet"
	case job.WaitingReason == "workers_unable":
		return "waiting: the workers report that they cannot work"
	case job.WaitingReason == "no_matching_blender":
		return "waiting: no worker that is online has the Blender version and denoising of the frames so far"
	case job.WaitingReason == "no_tagged_worker":
		return "waiting: no worker that is online has the tags that the operator requires for this workspace"
	case job.WaitingReason == "workspace_limit":
		return "waiting: the workspace renders as many frames at once as it may"
	case job.WaitingReason == "no_capable_worker":
		return "waiting: none of the workers that are online can render this job"
	case job.WaitingReason == "workers_busy":
		return "waiting: all workers that can render this job are busy"
	case job.Status == client.StatusRendering && job.DeviceName != "":
		return fmt.Sprintf("rendering on %s (%s)", job.DeviceName, job.RenderDevice)
	}
	return job.Status
}
