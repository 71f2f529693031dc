package operator

import (
	"errors"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/blob"
)

// doctor is svc admin doctor: it checks what the service cannot set up itself.
type doctor struct {
	Blobs string `env:"SVC_BLOBS" placeholder:"URL" help:"The S3 store of svc serve. Without one, files are in the data folder and there is nothing to check."`
	JSON  bool   `name:"json" env:"SVC_JSON" help:"Print one JSON object."`
}

// Help is printed below the flags.
func (doctor) Help() string {
	return "Checks whether browsers may follow the service's links to files in its S3 store. Exit codes: 0 they may; 1 they may not, and the missing settings are printed."
}

// errUnfit means that a check failed.
var errUnfit = errors.New("browsers cannot fetch files from the store: see “Files in an S3 store” in the operator's guide")

// finding is the result of one check.
type finding struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Lacks string `json:"lacks"` // what is missing; "" for nothing
}

// Run makes the checks and prints what they found.
func (c *doctor) Run(k *kong.Context) error {
	ctx, stop := terminal.UntilSignal()
	defer stop()
	found, text := finding{"browser_downloads", true, ""}, "Files are in the data folder; browsers fetch them from svc."
	if c.Blobs != "" {
		if _, err := blob.ParseS3(c.Blobs); err != nil {
			return terminal.WrongUsagef("--%v", err)
		}
		store, _, err := blob.OpenS3(ctx, c.Blobs, time.Now())
		if err != nil {
			return err
		}
		if found.Lacks, err = store.ForBrowsers(ctx); err != nil {
			return err
		}
		found.OK, text = found.Lacks == "", "Browsers may follow links to files in the store."
		if !found.OK {
			text = "Browsers cannot follow links to files in the store: " + found.Lacks + "."
		}
	}
	if c.JSON {
		if err := terminal.PrintJSON(k.Stdout, map[string]any{"ok": found.OK, "findings": []finding{found}}); err != nil {
			return err
		}
	} else {
		terminal.Printf(k.Stdout, "%s", text)
	}
	if !found.OK {
		return errUnfit
	}
	return nil
}
