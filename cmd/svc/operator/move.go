package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
)

// move is svc admin move.
type move struct {
	changeFlags
	ToDatabase string `env:"SVC_TO_DATABASE" placeholder:"URL" help:"Empty PostgreSQL database for the rows of SQLite, postgres://…"`
	ToBlobs    string `env:"SVC_TO_BLOBS" placeholder:"URL" help:"S3 store for the files, s3://…, as in --blobs of svc serve. It may already have files from an interrupted run."`
}

// Validate refuses addresses of another form before anything is opened.
func (c *move) Validate() error {
	if c.ToDatabase == "" && c.ToBlobs == "" {
		return errors.New("give --to-database, --to-blobs, or both")
	}
	if c.ToDatabase != "" && !strings.HasPrefix(c.ToDatabase, "postgres://") && !strings.HasPrefix(c.ToDatabase, "postgresql://") {
		return errors.New("--to-database needs an address that begins with postgres://")
	}
	if c.ToBlobs != "" {
		if _, err := blob.ParseS3(c.ToBlobs); err != nil {
			return fmt.Errorf("--to-%w", err)
		}
	}
	return c.store.Validate()
}

// Run moves a service that does not run, and audits it where it is then.
func (c *move) Run(k *kong.Context) error {
	what := "the rows to PostgreSQL"
	switch {
	case c.ToDatabase == "":
		what = "the files to the S3 store"
	case c.ToBlobs != "":
		what += " and the files to the S3 store"
	}
	if err := c.confirm(fmt.Sprintf("move %s, from %s; svc must not run", what, c.place())); err != nil {
		return err
	}
	const lost = "the service is as it was; run the command again to resume"
	err := c.copy(k, "moved", "moved "+what, lost, func(ctx context.Context, progress app.BackupProgress) (app.BackupReport, []app.Breach, error) {
		return app.Move(ctx, c.config(), c.ToDatabase, c.ToBlobs, progress)
	})
	if errors.Is(err, db.ErrInUse) {
		return terminal.WrongUsagef("stop svc first: %w", err)
	}
	return err
}
