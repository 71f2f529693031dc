package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
)

// backup is svc admin backup.
type backup struct {
	adminFlags
	Folder string `arg:"" type:"path" help:"An empty or new folder. The copy is a data folder with SQLite, whatever database the service uses."`
}

// Run copies a service while it runs, and audits the copy. It asks nothing: it only adds.
func (c *backup) Run(k *kong.Context) error {
	const lost = "there is no backup, the folder is empty again, and the service is as it was"
	return c.copy(k, "backup", "backed up into "+c.Folder, lost, func(ctx context.Context, progress app.BackupProgress) (app.BackupReport, []app.Breach, error) {
		return app.Backup(ctx, c.config(), c.Folder, progress)
	})
}

// restore is svc admin restore.
type restore struct {
	changeFlags
	Folder string `arg:"" type:"existingdir" help:"A folder created by svc admin backup."`
}

// Run puts a backup into the empty folder and database that the flags name, and audits
// what it has made.
func (c *restore) Run(k *kong.Context) error {
	if err := c.confirm(fmt.Sprintf("restore the backup in %s into %s", c.Folder, c.place())); err != nil {
		return err
	}
	const lost = "nothing is restored, and the backup is as it was"
	return c.copy(k, "backup", "restored into "+c.place(), lost, func(ctx context.Context, progress app.BackupProgress) (app.BackupReport, []app.Breach, error) {
		return app.Restore(ctx, c.config(), c.Folder, progress)
	})
}

// copy runs a backup, a restore or a move, shows how far it is, and prints what it has
// copied, with --json as a member of that name. An unsuitable place is wrong usage. done
// and lost are the messages at the end and after a signal.
func (f adminFlags) copy(k *kong.Context, member, done, lost string, run func(context.Context, app.BackupProgress) (app.BackupReport, []app.Breach, error)) error {
	ctx, stop := terminal.UntilSignal()
	defer stop()
	shown := &auditProgress{display: terminal.NewDisplay(k.Stderr, time.Now)}
	report, breaches, err := run(ctx, shown.move)
	shown.end()
	for _, b := range breaches {
		terminal.Printf(k.Stderr, "BREACH %s: %s: %s", b.Rule, b.Subject, b.Detail)
	}
	switch {
	case errors.Is(err, app.ErrUnaudited) && ctx.Err() != nil:
		return terminal.Exit(terminal.ExitInterrupted, errors.New("interrupted: everything is restored, but not audited. Continue with svc admin audit, with the same --data and --database"))
	case err != nil && ctx.Err() != nil:
		return terminal.Interrupted(ctx, err, lost)
	case errors.Is(err, app.ErrNotEmpty), errors.Is(err, app.ErrNoBackup):
		return terminal.WrongUsage(err)
	case err != nil:
		return f.refusal(err)
	case f.JSON:
		return terminal.PrintJSON(k.Stdout, map[string]any{"ok": true, member: report})
	}
	terminal.Printf(k.Stdout, "%s: %s, %s of the log, %s of %s; the audit is clean",
		done, terminal.CountOf(report.Jobs, "job"), terminal.Count(report.Leaves, "leaf", "leaves"), terminal.CountOf(report.Blobs, "file"), terminal.InBytes.Text(report.Bytes))
	return nil
}
