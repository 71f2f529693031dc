package caller

import (
	"errors"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/failure"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/render/scenefiles"
)

// sent is what a command sends or packs, in the form of --json.
type sent struct {
	OK        bool              `json:"ok"`
	Main      string            `json:"main"`  // path of the .blend among the files
	Files     []scenefiles.Name `json:"files"` // the .blend is one
	SizeBytes int64             `json:"size_bytes"`
	Missing   []missingFile     `json:"missing"` // that the picture needs
	Error     *failure.Failure  `json:"error"`
}

// missingFile is a file that the picture needs and that is not on this disk.
type missingFile struct {
	Kind   scenefiles.Kind `json:"kind"`
	Path   string          `json:"path"` // as the .blend has it; of a set, where the file would be
	From   string          `json:"from"` // the .blend that names it
	Owner  string          `json:"owner"`
	UsedBy string          `json:"used_by"`
}

// sentOf lists what is sent of a scene, whose .blend has so many bytes.
func sentOf(found *scenefiles.Found, main int64) sent {
	all := sent{Main: found.Main, Files: found.Taken(main), Missing: []missingFile{}}
	for _, f := range all.Files {
		all.SizeBytes += f.Bytes
	}
	for i := range found.Files {
		f := &found.Files[i]
		paths := f.Lacking
		if f.Gone() {
			paths = []string{f.Stored}
		}
		for _, path := range paths {
			if f.Reach == scenefiles.ReachNeeded {
				all.Missing = append(all.Missing, missingFile{f.Kind, path, f.From, f.Owner, f.UsedBy})
			}
		}
	}
	return all
}

// dryRun shows what Run would send and cost, without a service.
func (c *Render) dryRun(app *kong.Context) error {
	path, flags, err := mainFile(c.Scene, c.FileFlags)
	if err != nil {
		return err
	}
	facts, err := inspect(path, flags, c.settings())
	if err != nil {
		return err
	}
	frames := facts.FrameCount
	if c.Frames != "" {
		frames = len(c.Frames.Frames())
	}
	if facts.Refused != nil {
		frames = 0
	}
	cents, all := contract.Published().Current().Price(int64(frames)), sentOf(facts.found, facts.SizeBytes)
	if len(all.Missing) > 0 && !c.AllowMissing {
		err = terminal.Exit(terminal.ExitMissingFiles, &missingError{len(all.Missing), "this would not be started"})
	}
	if c.JSON {
		all.OK, all.Error = err == nil, failureOf(err)
		object := struct {
			sent
			FrameCount int    `json:"frame_count"`
			PriceCents int64  `json:"price_cents"`
			Currency   string `json:"currency"`
			// Refused is why the service would not render it; null where it would.
			Refused *refusal `json:"refused"`
		}{all, frames, cents, contract.Currency, facts.Refused}
		return terminal.Told(errors.Join(terminal.PrintJSON(app.Stdout, object), err))
	}
	table := terminal.NewTable(app.Stdout)
	table.Rowf("file", "%s, %s", facts.Filename, terminal.InBytes.Text(facts.SizeBytes))
	facts.config.say(table.Rowf)
	printFiles(table.Rowf, facts.found)
	table.Rowf("send", "%s, %s; only what the service lacks", terminal.CountOf(len(all.Files), "file"), terminal.InBytes.Text(all.SizeBytes))
	if facts.Refused != nil {
		table.Rowf("refused", "%s (%s)", facts.Refused.Message, facts.Refused.Code)
	} else {
		table.Rowf("price", "%s for %s; nothing was sent", numbers.Money(cents, contract.Currency), terminal.CountOf(frames, "frame"))
	}
	return errors.Join(table.Flush(), err)
}
