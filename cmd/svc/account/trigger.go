package account

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/demo"
	"svc.example/internal/work/testmode"
)

// triggerCompleted brings about a job that completes. All other names are those of test mode.
const triggerCompleted = "completed"

// Trigger is svc trigger OUTCOME.
type Trigger struct {
	profile.Flags
	output
	Outcome string `arg:"" help:"What to bring about: completed, or a name such as out_of_memory, black or insufficient_funds. The guide's page on test mode lists them."`
	Frames  int    `env:"-" default:"1" help:"How many frames the job has, 1 to 24."`
}

// Help is printed below the flags.
func (Trigger) Help() string {
	return "Starts a job of test mode with svc's own demo scene, and waits for its end. Your webhooks and event streams get the same events as from a real job. " +
		"Nothing is rendered or paid. It needs an agent key of test mode, which begins with " + contract.TestAgentKeyPrefix + "; make one on the console's page of keys."
}

// triggered is the outcome in the form of --json.
type triggered struct {
	OK      bool          `json:"ok"`
	Outcome string        `json:"outcome"`
	Job     *client.Job   `json:"job"`     // as it ended; null where its start was refused
	Refused *client.Error `json:"refused"` // why it was not started, as ordered; null where it was
}

// Run starts the job and waits for its end, however it ends. A refusal of the start that was
// asked for is no failure.
func (c *Trigger) Run(app *kong.Context) (err error) {
	if c.Outcome != triggerCompleted && !slices.Contains(testmode.Tricks(), c.Outcome) {
		return terminal.WrongUsagef("there is no outcome %.64q; choose %s or one of: %s", c.Outcome, triggerCompleted, strings.Join(testmode.Tricks(), ", "))
	}
	if c.Frames < 1 || c.Frames > demo.LastFrame {
		return terminal.WrongUsagef("--frames must be 1 to %d", demo.LastFrame)
	}
	service, err := c.Service(profile.AgentKey)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(service.Key, contract.TestAgentKeyPrefix) {
		return terminal.WrongUsagef("svc trigger needs an agent key of test mode, which begins with %s: jobs of other keys are rendered and paid", contract.TestAgentKeyPrefix)
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	job, refused, err := c.start(ctx, service)
	if err != nil {
		return err
	}
	if refused == nil {
		api, err := service.Client()
		if err == nil {
			job, err = api.Wait(ctx, job.JobID, nil)
		}
		if err != nil {
			return err
		}
	}
	return c.print(app, triggered{true, c.Outcome, job, refused}, func() {
		if refused != nil {
			terminal.Printf(app.Stdout, "the start was refused, as asked for: %s (%s). No event is sent", refused.Message, refused.Code)
			return
		}
		terminal.Printf(app.Stdout, "test job %s: %s", job.JobID, statusText(job))
		if job.Failure != nil {
			terminal.Printf(app.Stdout, "failure: %s (%s)", job.Failure.Message, job.Failure.Code)
		}
		terminal.Printf(app.Stdout, "sent render.%s to your webhooks and event streams", job.Status)
	})
}

// start uploads and starts the scene under the name that brings the outcome about. refused is the
// refusal that was ordered. Every call is made once: a refusal is an outcome too.
func (c *Trigger) start(ctx context.Context, service profile.Service) (job *client.Job, refused *client.Error, err error) {
	api, err := service.Client(client.WithAttempts(1))
	if err != nil {
		return nil, nil, err
	}
	name := "test-" + c.Outcome + ".blend"
	if c.Outcome == triggerCompleted {
		name = demo.Filename
	}
	quote, err := api.Inspect(ctx, client.InspectRequest{Filename: name, Body: bytes.NewReader(demo.Scene()), Frames: "1-" + strconv.Itoa(c.Frames)})
	if err != nil {
		return nil, nil, err
	}
	job, err = api.Start(ctx, quote, client.StartRequest{LegalAcceptance: client.LegalV1})
	if e, ok := errors.AsType[*client.Error](err); ok && e.Code == c.Outcome {
		return nil, e, nil
	}
	return job, nil, err
}
