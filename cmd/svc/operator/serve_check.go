package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"syscall"
	"time"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/db"
)

// checkFlags say what svc serve accepts of the place where it starts.
type checkFlags struct {
	NewDatabase bool          `name:"new-database" env:"-" help:"Start with an empty database even though the data folder belongs to a service with another one."`
	LostFiles   bool          `name:"lost-files" env:"-" help:"Start even though the store has none of the service's files. Frames are rendered again; jobs whose scene is lost fail."`
	MinFree     terminal.Size `name:"min-free" env:"SVC_MIN_FREE" default:"256MiB" help:"Refuse to start with less free space in the data folder."`
	IgnoreClock bool          `name:"ignore-clock" env:"-" help:"Start even though the machine's clock is earlier than the newest stored time."`
}

// maxBehind is how far the clock may be behind the newest stored event. Machines that keep
// time are within seconds of each other.
const maxBehind = 10 * time.Minute

// released is before any version of this program: a clock before it was never set.
var released = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// check refuses to start where the service could not do its work, one sentence for each
// reason, before anything is migrated, created or announced. A place that the flags name
// wrongly is wrong usage; a machine that is not ready is a failure.
func (c *Serve) check(ctx context.Context, cfg app.Config) error {
	if err := writable(c.Data); err != nil {
		return fmt.Errorf("the data folder %s cannot be written: %w; make it writable for the user of this process, or name another with --data", c.Data, err)
	}
	free, _, err := diskOf(c.Data)
	if err != nil {
		return fmt.Errorf("read the free space of %s: %w", c.Data, err)
	}
	if free < int64(c.MinFree) {
		return fmt.Errorf("the data folder %s has only %s free: free some space, or start with a lower --min-free", c.Data, terminal.InBytes.Text(free))
	}
	if time.Now().Before(released) && !c.IgnoreClock {
		return fmt.Errorf("the clock says %s, so it was never set: set it, or start with --ignore-clock", time.Now().UTC().Format(time.DateTime))
	}
	if err := c.checkDatabase(ctx, cfg); err != nil {
		return err
	}
	if c.Metrics != "" {
		if err := listens(ctx, c.Metrics, "--metrics-listen"); err != nil {
			return err
		}
	}
	return listens(ctx, c.Listen, "--listen")
}

// unpaidStorage is what workspaces that never paid may store together unless the operator
// says otherwise: a tenth of the disk.
func unpaidStorage(folder string) (int64, error) {
	_, size, err := diskOf(folder)
	if err != nil {
		return 0, fmt.Errorf("read the size of the disk of %s: %w", folder, err)
	}
	return max(1, size/10), nil
}

// writable creates the folder where it is missing, and a file in it, which it removes.
func writable(folder string) error {
	if err := atomicfile.MkdirAll(folder); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, ".writable-")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// checkDatabase opens what is there to read it, if anything is.
func (c *Serve) checkDatabase(ctx context.Context, cfg app.Config) error {
	d, err := db.Open(ctx, db.Config{URL: cfg.DatabaseURL(), ReadOnly: true, AcceptNewer: true})
	version, other := errors.AsType[*db.VersionError](err)
	switch {
	case errors.Is(err, db.ErrNoStore) && c.NewDatabase:
		return nil
	case errors.Is(err, db.ErrNoStore):
		if err = app.CheckNew(ctx, cfg); errors.Is(err, app.ErrOtherDatabase) {
			err = terminal.WrongUsage(err)
		}
		return err
	case other && version.Is < version.Wants:
		return nil // the start brings it up to date
	case other:
		return terminal.WrongUsage(version)
	case err != nil:
		return fmt.Errorf("the database cannot be opened: %w", err)
	}
	defer func() { _ = d.Close() }()
	err = d.Read(ctx, func(tx *db.Tx) error {
		if err := c.checkClock(ctx, tx); err != nil || c.LostFiles {
			return err
		}
		return app.CheckFiles(ctx, tx, cfg)
	})
	if errors.Is(err, app.ErrOtherFiles) {
		return terminal.WrongUsage(err)
	}
	return err
}

// checkClock compares the clock with the newest event in the store, which cannot lie in
// the future, and with the database's own clock.
func (c *Serve) checkClock(ctx context.Context, tx *db.Tx) error {
	newest, err := tx.NewestEvent(ctx)
	if err != nil {
		return fmt.Errorf("read the newest event: %w", err)
	}
	if behind := db.Time(newest).Sub(tx.Time()); newest > 0 && behind > maxBehind && !c.IgnoreClock {
		return fmt.Errorf("the clock says %s, and the newest event in the store is of %s, %s later: set the clock, or start with --ignore-clock",
			tx.Time().Format(time.DateTime), db.Time(newest).Format(time.DateTime), behind.Round(time.Minute))
	}
	if differ := time.Since(tx.Time()).Abs(); differ > time.Minute {
		slog.Warn("this machine's clock is not the database's", "difference", differ.Round(time.Second))
	}
	return nil
}

// listens reports a port that another program has. A port of 0 is any free one. flag is
// where the address comes from.
func listens(ctx context.Context, address, flag string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use by another program, perhaps another svc serve: stop it, or choose another address with %s", address, flag)
	}
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return l.Close()
}
