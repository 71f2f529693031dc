package operator

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/doctor"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/process"
)

// doctorCommand is svc admin doctor: it checks what the service cannot set up itself.
type doctorCommand struct {
	adminFlags
	PublicURL   string `name:"public-url" env:"SVC_PUBLIC_URL" placeholder:"URL" help:"The address at which callers reach the service, such as https://render.example.com. Without it, the way to it is not checked."`
	TrustedHops int    `name:"trusted-hops" env:"SVC_TRUSTED_HOPS" help:"What svc serve is told of the proxies in front of it."`
	Connections int    `name:"database-connections" env:"SVC_DATABASE_CONNECTIONS" placeholder:"N" help:"What each process is told, for PostgreSQL."`
	Key         string `env:"SVC_KEY" config:"-" placeholder:"KEY" help:"Agent or account key of any workspace, with which an event stream is tried."`
}

// Help is printed below the flags.
func (doctorCommand) Help() string {
	return "Checks that the database and the store of files can be written, the unit svc.service and, with --public-url, what lies between callers and the running service. Leaves nothing behind. Give it the flags of svc serve; it reads the same configuration file. Exit codes: 0 all is well; 1 something is wrong, and is printed with what to change."
}

// errUnfit means that a check failed.
var errUnfit = errors.New("the setup has faults: change what is named above")

// Run makes the checks and prints what they found.
func (c *doctorCommand) Run(k *kong.Context) error {
	ctx, stop := terminal.UntilSignal()
	defer stop()
	var all []doctor.Finding
	for _, check := range []func(context.Context) ([]doctor.Finding, error){c.ofStore, c.ofBlobs, c.ofUnit, c.ofPublic} {
		found, err := check(ctx)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	ok := !slices.ContainsFunc(all, func(f doctor.Finding) bool { return !f.OK })
	if c.JSON {
		if err := terminal.PrintJSON(k.Stdout, map[string]any{"ok": ok, "findings": all}); err != nil {
			return err
		}
	} else {
		table := terminal.NewTable(k.Stdout)
		for _, f := range all {
			table.Row(strings.ReplaceAll(f.Check, "_", " "), cmp.Or(f.Lacks, "ok"))
			if f.Change != "" {
				table.Row("", f.Change)
			}
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	if !ok {
		return errUnfit
	}
	return nil
}

// ofStore checks the processes of the service, and PostgreSQL.
func (c *doctorCommand) ofStore(ctx context.Context) (found []doctor.Finding, err error) {
	var processes []process.Process
	err = c.read(func(ctx context.Context, tx *db.Tx) (err error) {
		processes, err = process.List(ctx, tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if c.Database != "" {
		if found, err = doctor.Database(ctx, c.Database, doctor.Alive(processes), c.Connections); err != nil {
			return nil, err
		}
	}
	return append(found, doctor.Processes(processes)), nil
}

// ofBlobs checks the data folder and the store of files, and whether browsers may follow links
// to it.
func (c *doctorCommand) ofBlobs(ctx context.Context) ([]doctor.Finding, error) {
	folder, found := doctor.Folder(c.Data), doctor.Finding{Check: "browser_downloads", OK: true}
	if c.Blobs == "" {
		return []doctor.Finding{folder, found}, nil // browsers fetch files from svc
	}
	store, err := blob.ReadS3(ctx, c.Blobs)
	lacks := ""
	if err == nil {
		if written := doctor.Objects(ctx, store); !written.OK {
			return []doctor.Finding{folder, written}, nil // what browsers may do there is not known
		}
		lacks, err = store.ForBrowsers(ctx)
	}
	switch {
	case err != nil:
		found = doctor.Finding{Check: found.Check, Lacks: err.Error(), Change: "Correct --blobs, or the credentials for it"}
	case lacks != "":
		found = doctor.Finding{Check: found.Check, Lacks: "browsers cannot follow links to files in the store: " + lacks, Change: "Set the CORS rule of the bucket as the page of configuration says"}
	}
	return []doctor.Finding{folder, found}, nil
}

// ofUnit checks the unit of this machine, where systemd has one.
func (c *doctorCommand) ofUnit(ctx context.Context) ([]doctor.Finding, error) {
	text, err := exec.CommandContext(ctx, "systemctl", "cat", "svc.service").Output()
	if err != nil { // there is no systemd here, or no unit in it
		return nil, nil
	}
	settings := map[string]string{"data": c.Data, "database": c.Database, "blobs": c.Blobs}
	if c.PublicURL != "" {
		settings["public-url"] = c.PublicURL
	}
	return []doctor.Finding{doctor.Unit(string(text), settings)}, nil
}

// ofPublic calls the service at its public address.
func (c *doctorCommand) ofPublic(ctx context.Context) ([]doctor.Finding, error) {
	if c.PublicURL == "" {
		return nil, nil
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ExpectContinueTimeout = 20 * time.Second // a proxy asks svc first
	return doctor.Public(ctx, doctor.Address{URL: c.PublicURL, TrustedHops: c.TrustedHops, Key: c.Key, Client: &http.Client{
		Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}), nil
}
