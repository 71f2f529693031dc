package account

import (
	"context"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
)

// queued is common to the commands that change a job's place in the queue.
type queued struct {
	profile.Flags
	output
	ID string `arg:"" name:"job" help:"The job, JOB-…"`
}

// run asks for the change and prints what the job then is.
func (q *queued) run(app *kong.Context, ask func(ctx context.Context, api *client.Client) (*client.Job, error), says func(job *client.Job)) (err error) {
	api, err := q.Any()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	job, err := ask(ctx, api)
	if err != nil {
		return err
	}
	return q.print(app, jobObject{true, job}, func() { says(job) })
}

// Pause is svc pause ID.
type Pause struct{ queued }

// Run pauses a job. Pausing it again is no failure.
func (c *Pause) Run(app *kong.Context) error {
	return c.run(app, func(ctx context.Context, api *client.Client) (*client.Job, error) { return api.Pause(ctx, c.ID) }, func(job *client.Job) {
		terminal.Printf(app.Stdout, "paused %s; frames that are being rendered are finished. Continue it with: svc resume %s", job.JobID, job.JobID)
	})
}

// Resume is svc resume ID.
type Resume struct{ queued }

// Run resumes a paused job. Resuming it again is no failure.
func (c *Resume) Run(app *kong.Context) error {
	return c.run(app, func(ctx context.Context, api *client.Client) (*client.Job, error) { return api.Resume(ctx, c.ID) }, func(job *client.Job) {
		terminal.Printf(app.Stdout, "resumed %s", job.JobID)
	})
}

// Priority is svc priority ID N.
type Priority struct {
	queued
	Priority int `arg:"" help:"1 to 100. A new job has 50."`
}

// Run gives a job a priority among those of its workspace.
func (c *Priority) Run(app *kong.Context) error {
	return c.run(app, func(ctx context.Context, api *client.Client) (*client.Job, error) {
		return api.SetPriority(ctx, c.ID, c.Priority)
	}, func(job *client.Job) {
		terminal.Printf(app.Stdout, "%s has priority %d now; of the workspace's jobs, those with a higher one come first", job.JobID, c.Priority)
	})
}
