package caller

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/text/unicode/norm"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/contract"
)

// Pack writes a .blend and the files that its scene needs into one archive, without a
// service.
type Pack struct {
	File         string `arg:"" type:"existingfile" help:"The .blend file."`
	Out          string `short:"o" env:"-" type:"path" placeholder:"FILE" help:"Archive to write. Default: named after the .blend, in the current folder. Existing files are never replaced."`
	ProjectRoot  string `env:"SVC_PROJECT_ROOT" type:"existingdir" placeholder:"DIR" help:"Folder that contains the scene's files. Nothing outside it is read. Default: the folder of the .blend."`
	OCIO         string `name:"ocio" env:"SVC_OCIO" placeholder:"PATH" help:"OpenColorIO configuration to pack with its LUTs. none packs none. Default: the configuration that the variable OCIO names."`
	AllowMissing bool   `env:"SVC_ALLOW_MISSING" help:"Write the archive even if files that the scene uses are missing."`
	JSON         bool   `name:"json" env:"SVC_JSON" help:"Print one JSON object; everything else goes to standard error."`
}

// Help is printed below the flags.
func (Pack) Help() string {
	return "The archive is a .zip of up to 100 MiB. The service accepts it instead of a .blend, and it unpacks to a folder that renders. svc render uploads the same files without an archive, at any size and only once. " +
		terminal.ExitHelp(terminal.ExitMissingFiles, terminal.ExitInterrupted)
}

// Run finds the files and writes the archive.
func (c *Pack) Run(app *kong.Context) (err error) {
	out := c.Out
	if out == "" {
		name := filepath.Base(c.File)
		out = strings.TrimSuffix(name, filepath.Ext(name)) + ".zip"
	}
	if _, err := os.Lstat(out); err == nil {
		return terminal.WrongUsagef("%s exists already; remove it, or give another --out", out)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = terminal.Exit(terminal.ExitInterrupted, errors.New("stopped; nothing was written"))
		}
		stop()
	}()
	context.AfterFunc(ctx, stop)
	flags := FileFlags{OCIO: c.OCIO}
	s := &scene{path: c.File, config: configOf(flags)}
	if err := s.config.check(flags); err != nil {
		return err
	}
	if err := s.find(ctx, c.ProjectRoot); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	defer s.close()
	human := app.Stdout
	if c.JSON {
		human = app.Stderr
	}
	main, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	all := sentOf(s.found, main.Size())
	table := terminal.NewTable(human)
	s.config.say(table.Rowf)
	printFiles(table.Rowf, s.found)
	if err := table.Flush(); err != nil {
		return err
	}
	if len(all.Missing) > 0 && !c.AllowMissing {
		err = terminal.Exit(terminal.ExitMissingFiles, &missingError{len(all.Missing), "not packed"})
	} else {
		err = pack(ctx, s.disk.Tree, all, out, terminal.NewDisplay(human, time.Now))
	}
	var size int64
	if info, gone := os.Stat(out); err == nil && gone == nil {
		size = info.Size()
	}
	if c.JSON {
		all.OK, all.Error = err == nil, failureOf(err)
		object := struct {
			sent
			Archive      string `json:"archive"` // path; "" where none was written
			ArchiveBytes int64  `json:"archive_bytes"`
			OCIO         string `json:"ocio"` // path in the archive, for the setting ocio; "" without a configuration
		}{sent: all, ArchiveBytes: size, OCIO: s.chosen.OCIO}
		if err == nil {
			object.Archive = out
		}
		return terminal.Told(errors.Join(terminal.PrintJSON(app.Stdout, object), err))
	}
	if err != nil {
		return err
	}
	terminal.Printf(human, "%s, %s: %s, %s unpacked", near(out), terminal.InBytes.Text(size), terminal.CountOf(len(all.Files), "file"), terminal.InBytes.Text(all.SizeBytes))
	if s.chosen.OCIO != "" {
		terminal.Printf(human, "to render it in these colours, give the setting ocio: %s", s.chosen.OCIO)
	}
	if size > contract.MaxUploadBytes {
		terminal.Printf(human, "a service takes archives of at most %s; svc render sends the same files in parts", terminal.InBytes.Text(contract.MaxUploadBytes))
	}
	return nil
}

// pack writes files of a tree into an archive that appears whole or not at all. Equal files
// give equal archives.
func pack(ctx context.Context, tree fs.FS, all sent, out string, to terminal.Display) error {
	draft, err := os.CreateTemp(filepath.Dir(out), ".part-*")
	if err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	defer func() { _ = os.Remove(draft.Name()) }() // published it is gone already
	meter := to.Meter("pack", terminal.InBytes)
	archive := zip.NewWriter(draft)
	done := int64(0)
	for _, f := range all.Files {
		if err = add(ctx, archive, tree, f.Path, func(n int64) {
			done += n
			meter.Move(done, max(done, all.SizeBytes))
		}); err != nil {
			break
		}
	}
	meter.End()
	if err := errors.Join(err, archive.Close(), draft.Chmod(0o644), draft.Close()); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	return atomicfile.Publish(draft.Name(), out)
}

// add copies a file of a tree into an archive.
func add(ctx context.Context, archive *zip.Writer, tree fs.FS, path string, told func(n int64)) error {
	file, err := tree.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	entry, err := archive.CreateHeader(&zip.FileHeader{Name: norm.NFC.String(path), Method: zip.Deflate})
	if err != nil {
		return err
	}
	_, err = io.Copy(entry, reading{ctx, file, told})
	return err
}

// reading reports how much is read, and ends with its context.
type reading struct {
	ctx  context.Context
	from io.Reader
	told func(n int64)
}

func (r reading) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.from.Read(p)
	r.told(int64(n))
	return n, err
}
