// Command goclient is the Go client as a program under test (docs/conformance.md): a verb a line in,
// an answer a line out.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"svc.example/client"
)

// arguments are those of all verbs.
type arguments struct {
	File            string   `json:"file"`
	Path            string   `json:"path"`
	Folder          string   `json:"folder"`
	Root            string   `json:"root"`
	Main            string   `json:"main"`
	Files           []string `json:"files"`
	Start           *int     `json:"frame_start"`
	End             *int     `json:"frame_end"`
	Frame           int      `json:"frame"`
	Limit           int      `json:"limit"`
	UploadID        string   `json:"upload_id"`
	QuoteID         string   `json:"quote_id"`
	JobID           string   `json:"job_id"`
	LegalAcceptance *string  `json:"legal_acceptance"`
	Before          int64    `json:"before"`
	Secret          string   `json:"secret"`
	ID              string   `json:"id"`
	Timestamp       string   `json:"timestamp"`
	Signature       string   `json:"signature"`
	Body            string   `json:"body"`
	Now             int64    `json:"now"`
}

type told map[string]any

func main() {
	if err := listen(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func listen(ctx context.Context) error {
	c, err := client.New(os.Getenv("SVC_SERVER"), os.Getenv("SVC_KEY"), client.WithAttempts(10))
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var asked struct {
			Verb string    `json:"verb"`
			Args arguments `json:"args"`
		}
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		verb, ok := verbs[asked.Verb]
		if !ok {
			return fmt.Errorf("there is no verb %q", asked.Verb)
		}
		answer, err := verb(ctx, c, asked.Args)
		line := map[string]any{"ok": answer}
		if err != nil {
			refused, known := errorOf(err, asked.Args)
			if !known {
				return err
			}
			line = map[string]any{"error": refused}
		}
		if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
			return err
		}
	}
	return lines.Err()
}

// errNotBelieved is a webhook that was refused.
var errNotBelieved = errors.New("the webhook is not believed")

// failedCheck is a verification that failed.
type failedCheck struct{ name string }

func (f failedCheck) Error() string { return f.name }

// errorOf translates an error into the words of the suite, and reports whether
// there are any.
func errorOf(err error, a arguments) (told, bool) {
	var refused *client.Error
	var failed failedCheck
	switch {
	case errors.As(err, &refused):
		return told{"kind": "api", "code": refused.Code, "status": refused.Status, "request_id": refused.RequestID != ""}, true
	case errors.Is(err, client.ErrDownloadChanged):
		_, missing := os.Stat(a.Path)
		return told{"kind": "changed", "kept": missing == nil}, true
	case errors.As(err, &failed):
		return told{"kind": "verification", "check": failed.name}, true
	case errors.Is(err, errNotBelieved):
		return told{"kind": "webhook"}, true
	}
	return nil, false
}

var verbs = map[string]func(context.Context, *client.Client, arguments) (any, error){
	"inspect": func(ctx context.Context, c *client.Client, a arguments) (any, error) {
		file, err := os.Open(a.File)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return c.Inspect(ctx, client.InspectRequest{Filename: filepath.Base(a.File), Body: file, FrameStart: a.Start, FrameEnd: a.End})
	},
	"quote": func(ctx context.Context, c *client.Client, a arguments) (any, error) {
		return c.Quote(ctx, a.UploadID, fmt.Sprintf("%d-%d", *a.Start, *a.End))
	},
	"render": render,
	"look":   look,
	"project": func(ctx context.Context, c *client.Client, a arguments) (any, error) {
		p, err := client.ListProject(ctx, os.DirFS(a.Root), a.Main, a.Files, nil)
		if err != nil {
			return nil, err
		}
		return c.InspectProject(ctx, client.ProjectRequest{Project: p, FrameStart: &a.Frame, FrameEnd: &a.Frame})
	},
	"start": func(ctx context.Context, c *client.Client, a arguments) (any, error) {
		legal := client.LegalV1
		if a.LegalAcceptance != nil {
			legal = *a.LegalAcceptance
		}
		return c.Start(ctx, &client.Quote{UploadID: a.UploadID, QuoteID: a.QuoteID}, client.StartRequest{LegalAcceptance: legal})
	},
	"follow": func(ctx context.Context, c *client.Client, a arguments) (any, error) { return follow(ctx, c, a) },
	"download": func(ctx context.Context, c *client.Client, a arguments) (any, error) {
		artifact, err := c.Download(ctx, a.JobID, a.Path, nil)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(a.Path)
		if err != nil {
			return nil, err
		}
		left, err := filepath.Glob(filepath.Join(filepath.Dir(a.Path), "*.part"))
		return told{"whole": info.Size() == artifact.SizeBytes, "left": len(left)}, err
	},
	"verify": func(ctx context.Context, c *client.Client, a arguments) (any, error) { return verify(ctx, c, a) },
	"wallet": func(ctx context.Context, c *client.Client, a arguments) (any, error) {
		wallet, err := c.Wallet(ctx)
		if err != nil {
			return nil, err
		}
		return told{"available_cents": wallet.AvailableCents, "spent_since": a.Before - wallet.AvailableCents}, nil
	},
	"job": func(ctx context.Context, c *client.Client, a arguments) (any, error) { return c.Job(ctx, a.JobID) },
	"jobs": func(ctx context.Context, c *client.Client, a arguments) (any, error) {
		for job, err := range c.Jobs(ctx, client.JobsRequest{Limit: a.Limit}) {
			if err != nil {
				return nil, err
			}
			return told{"first": job.JobID}, nil
		}
		return told{}, nil
	},
	"webhook": func(_ context.Context, _ *client.Client, a arguments) (any, error) {
		header := http.Header{"Webhook-Id": {a.ID}, "Webhook-Timestamp": {a.Timestamp}, "Webhook-Signature": {a.Signature}}
		event, err := client.VerifyWebhook(a.Secret, header, []byte(a.Body), time.Unix(a.Now, 0))
		if err != nil {
			return nil, errNotBelieved
		}
		return told{"id": event.ID, "type": event.Type}, nil
	},
}

// render leads from a file to verified frames.
func render(ctx context.Context, c *client.Client, a arguments) (any, error) {
	file, err := os.Open(a.File)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	quote, err := c.Inspect(ctx, client.InspectRequest{Filename: filepath.Base(a.File), Body: file, FrameStart: a.Start, FrameEnd: a.End})
	if err != nil {
		return nil, err
	}
	job, err := c.Start(ctx, quote, client.StartRequest{LegalAcceptance: client.LegalV1})
	if err != nil {
		return nil, err
	}
	a.JobID, a.Path = job.JobID, filepath.Join(a.Folder, "frames.zip")
	found, err := follow(ctx, c, a)
	if err == nil {
		err = os.Mkdir(a.Folder, 0o700)
	}
	if err == nil {
		_, err = c.Download(ctx, a.JobID, a.Path, nil)
	}
	if err != nil {
		return nil, err
	}
	checks, err := verify(ctx, c, a)
	if err != nil {
		return nil, err
	}
	ended, err := c.Job(ctx, a.JobID)
	if err != nil {
		return nil, err
	}
	result := told{"job_id": a.JobID, "status": found["status"], "frame_numbers": found["frames"], "charged_cents": ended.ChargedCents}
	maps.Copy(result, checks)
	return result, nil
}

// follow follows a job to its end and lists the frames that it heard of.
func follow(ctx context.Context, c *client.Client, a arguments) (told, error) {
	frames := []int{}
	job, err := c.Wait(ctx, a.JobID, func(e client.Event) {
		if e.Frame != nil {
			frames = append(frames, e.Frame.Frame)
		}
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(frames)
	return told{"status": job.Status, "frames": frames}, nil
}

func look(ctx context.Context, c *client.Client, a arguments) (any, error) {
	file, err := os.Open(a.File)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	quote, err := c.Inspect(ctx, client.InspectRequest{Filename: filepath.Base(a.File), Body: file})
	if err != nil {
		return nil, err
	}
	look, err := c.Preview(ctx, quote.UploadID, a.Frame)
	if err != nil {
		return nil, err
	}
	picture, err := c.PreviewImage(ctx, look)
	return told{"status": look.Status, "frame": look.Frame, "jpeg": bytes.HasPrefix(picture, []byte("\xff\xd8"))}, err
}

// verify checks the receipt with the ZIP, and then that it is in the log.
func verify(ctx context.Context, c *client.Client, a arguments) (told, error) {
	receipt, err := c.Receipt(ctx, a.JobID)
	if err != nil {
		return nil, err
	}
	proof, err := c.Proof(ctx, a.JobID)
	if err != nil {
		return nil, err
	}
	keys, err := c.SigningKeys(ctx)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(a.Path)
	if err != nil {
		return nil, err
	}
	checks, err := client.Verify(receipt, keys, bytes.NewReader(content), int64(len(content)))
	if err == nil {
		var inLog []client.Check
		inLog, err = client.VerifyLog(receipt, proof, keys, nil)
		checks = append(checks, inLog...)
	}
	found := told{}
	for _, check := range checks {
		if check.Status == "failed" {
			return nil, failedCheck{check.Name}
		}
		if check.Status == "ok" || found[check.Name] == nil { // the second list skips the ZIP
			found[check.Name] = check.Status
		}
	}
	return found, err
}
