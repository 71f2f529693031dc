// Package caller has the commands of people who have files rendered: render and
// inspect.
//
// What always holds: money is spent only after a yes to a price; Ctrl-C never leaves
// unknown whether a job was started; frames are unpacked only where the receipt proves
// them. It leaves the API to package client and the checks to package proof. Start
// reading at Run.
package caller

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
)

// Render has a file priced, rendered, fetched and proven.
type Render struct {
	File   string     `arg:"" optional:"" type:"existingfile" help:"The .blend file."`
	Server string     `env:"SVC_SERVER" default:"http://127.0.0.1:8080" help:"Address of the service."`
	Key    string     `env:"SVC_KEY" required:"" help:"Agent key, svc_agent_…"`
	Frames FrameRange `env:"SVC_FRAMES" placeholder:"A-B" help:"Frames to render: A, A-B or A-B:STEP. Without it, the scene's own."`
	Out    string     `env:"SVC_OUT" type:"path" placeholder:"DIR" help:"Folder for the frames, the ZIP and the receipt. Without it, a new one named after the file and the job."`
	Yes    bool       `short:"y" env:"SVC_YES" help:"Accept the price and the terms without being asked."`
	JSON   bool       `name:"json" env:"SVC_JSON" help:"Print one JSON object at the end; everything else goes to standard error."`
	Job    string     `placeholder:"JOB-…" help:"Follow a job that was started before, and fetch it, instead of starting one."`
}

// Help is shown under the flags.
func (Render) Help() string {
	return "Exit codes: 0 rendered, fetched and verified; 1 it failed or was interrupted; 2 wrong usage; " +
		"3 the receipt is not properly signed; 4 the ZIP is not the one in the receipt; 5 the receipt is not in the log."
}

// Run renders. Ctrl-C stops waiting, not the render.
func (c *Render) Run(app *kong.Context) error {
	if (c.File == "") == (c.Job == "") {
		return terminal.WrongUsage(errors.New("give either a FILE to render or a --job to follow"))
	}
	if c.Job != "" && c.Frames.Given {
		return terminal.WrongUsage(errors.New("--frames belongs to a FILE: a started job has its frames"))
	}
	api, err := client.New(c.Server, c.Key)
	if err != nil {
		return terminal.WrongUsage(err)
	}
	human := app.Stdout
	if c.JSON {
		human = app.Stderr
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	consent := terms{yes: c.Yes, in: os.Stdin, out: human}
	result, err := Run(ctx, Options{
		Client: api, File: c.File, JobID: c.Job, Frames: c.Frames, Folder: c.Out,
		Accept: consent.accept, Display: terminal.NewDisplay(human, time.Now),
	})
	return c.report(app, human, result, c.explain(ctx, result, err))
}

// explain turns a failure into what the person needs to know: how to go on after a Ctrl-C, where
// the service was looked for when it is failed.
func (c *Render) explain(ctx context.Context, result Result, err error) error {
	_, unknown := errors.AsType[*unknownStartError](err)
	failed, unreached := errors.AsType[*url.Error](err)
	switch {
	case err == nil || unknown:
		return err
	case ctx.Err() != nil:
		return c.interrupted(result.JobID)
	case unreached:
		return fmt.Errorf("the service at %s cannot be reached: %w; check the address (--server), and that the service runs", c.Server, failed.Err)
	}
	return err
}

// interrupted tells how to go on.
func (c *Render) interrupted(jobID string) error {
	if jobID == "" {
		return errors.New("stopped before the start: nothing was spent")
	}
	again := "svc render --job " + jobID + " --server " + c.Server
	if c.Out != "" {
		again += " --out " + strconv.Quote(c.Out)
	}
	return fmt.Errorf("stopped waiting; the render goes on without you. To follow and fetch it:\n  %s", again)
}

// report prints how it ended, for people or for programs.
func (c *Render) report(app *kong.Context, human io.Writer, result Result, err error) error {
	if err == nil {
		result.Print(human)
	}
	if c.JSON {
		result.OK = err == nil
		result.Error = failureOf(err)
		err = errors.Join(terminal.PrintJSON(app.Stdout, result), err)
	}
	return proof.WithExitCode(err)
}

// renderError is a failure as --json tells it.
type renderError struct {
	Code            string `json:"code"` // the service's code, or "failed"
	Message         string `json:"message"`
	SuggestedAction string `json:"suggested_action,omitempty"`
	RequestID       string `json:"request_id,omitempty"`
}

func failureOf(err error) *renderError {
	if err == nil {
		return nil
	}
	shown := &renderError{Code: "failed", Message: err.Error()}
	var refused *client.Error
	var failed *jobError
	switch {
	case errors.As(err, &refused) && refused.Code != "":
		*shown = renderError{refused.Code, refused.Message, refused.SuggestedAction, refused.RequestID}
	case errors.As(err, &failed) && failed.job.Failure != nil:
		shown.Code, shown.SuggestedAction = failed.job.Failure.Code, failed.job.Failure.SuggestedAction
	}
	return shown
}

// FrameRange is the value of --frames.
type FrameRange struct {
	Given bool // false: the scene's own
	client.Range
}

// UnmarshalText reads A, A-B or A-B:STEP, all 1 or more.
func (r *FrameRange) UnmarshalText(text []byte) error {
	ends, step, stepped := strings.Cut(string(text), ":")
	first, last, ranged := strings.Cut(ends, "-")
	if !ranged {
		last = first
	}
	if !stepped {
		step = "1"
	}
	var numbers [3]int
	for i, word := range []string{first, last, step} {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || word[0] == '+' {
			return fmt.Errorf("%q is not A, A-B or A-B:STEP with numbers from 1", text)
		}
		numbers[i] = n
	}
	if stepped && !ranged {
		return fmt.Errorf("%q has a step but no end", text)
	}
	if numbers[1] < numbers[0] {
		return fmt.Errorf("%q ends before it starts", text)
	}
	*r = FrameRange{true, client.Range{Start: numbers[0], End: numbers[1], Step: numbers[2]}}
	return nil
}

// terms asks a person to accept a price.
type terms struct {
	yes bool
	in  *os.File
	out io.Writer
}

// errDeclined says that the person did not say yes.
var errDeclined = errors.New("not started: nothing was spent")

func (t terms) accept(ctx context.Context, quote *client.Quote) error {
	if t.yes {
		return nil
	}
	if !terminal.IsTerminal(t.in) {
		return terminal.WrongUsagef("not started: rendering spends %s, and there is no terminal to ask on; accept with --yes",
			terminal.Money(quote.PriceCents, quote.Currency))
	}
	fmt.Fprintf(t.out, "Render %s for %s and accept the terms %s? [y/N] ",
		terminal.CountOf(quote.FrameCount, "frame"), terminal.Money(quote.PriceCents, quote.Currency), client.LegalV1)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(t.in).ReadString('\n') // an end without an answer is a no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(t.out)
		return ctx.Err()
	case word := <-answer:
		if word == "y" || word == "yes" {
			return nil
		}
		return errDeclined
	}
}
