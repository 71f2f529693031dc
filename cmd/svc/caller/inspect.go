package caller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/scenefiles"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/inspection"
	"svc.example/internal/work/quote"
)

// Inspect prints what a .blend contains, without a service and without Blender. It
// uses the same reader, rules and price as the service, so it shows what an upload
// would be answered with.
type Inspect struct {
	File        string `arg:"" type:"existingfile" help:"The .blend file."`
	ProjectRoot string `env:"SVC_PROJECT_ROOT" type:"existingdir" placeholder:"DIR" help:"Folder that contains the scene's files. Nothing outside it is read. Default: the folder of the .blend."`
	OCIO        string `name:"ocio" env:"SVC_OCIO" placeholder:"PATH" help:"OpenColorIO configuration to judge colours by. none is Blender's own. Default: the configuration that the variable OCIO names."`
	SettingFlags
	JSON bool `name:"json" env:"SVC_JSON" help:"Print one JSON object with all details instead of a table."`
}

// Help is printed below the flags.
func (Inspect) Help() string {
	return "Finds the scene's images, libraries, caches and other files on this disk as Blender does, and lists the missing ones. Succeeds if the file can be read, even if a service would refuse it. " + terminal.ExitHelp()
}

// inspected is what inspect found, in the form of --json.
type inspected struct {
	OK        bool   `json:"ok"`
	Filename  string `json:"filename"`
	SizeBytes int64  `json:"size_bytes"`
	*blendfile.Facts
	FrameCount int      `json:"frame_count"` // frames numbered 1 and above; 0 where the range has no price
	PriceCents int      `json:"price_cents"` // of the whole range; 0 likewise
	Currency   string   `json:"currency"`
	Refused    *refusal `json:"refused"` // why the service would not render it; null where it would
	// Warnings are those of a quote of the scene's own range with the files that are found
	// here, by a service without workers.
	Warnings []quote.Warning `json:"warnings"`
	// Files are the files on this disk that the scene refers to, including libraries and what
	// those refer to. FilesPartial says that there are more.
	Files        []scenefiles.File `json:"files"`
	FilesPartial bool              `json:"files_partial"`
	// LibrarySimulations run from frame to frame in libraries, as these are on this disk.
	LibrarySimulations []blendfile.Simulation `json:"library_simulations"`

	chosen settings.Settings
	config config
	found  *scenefiles.Found
	alone  bool // the .blend is all that would be sent
}

// refusal is how the service would refuse the file. It is a result here and no error:
// the facts are worth printing all the same, and the exit code is 0.
type refusal struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
}

// Run reads the file and prints its facts.
func (c *Inspect) Run(app *kong.Context) error {
	found, err := inspect(c.File, FileFlags{ProjectRoot: c.ProjectRoot, OCIO: c.OCIO}, c.settings())
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(app.Stdout, found)
	}
	found.print(app.Stdout)
	return nil
}

// inspect reads a .blend and finds its files. Errors are those of package blendfile and of
// the file system.
func inspect(path string, flags FileFlags, chosen client.Settings) (*inspected, error) {
	facts, size, err := readFacts(path, chosen)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, quote.BadSettings(err))
	}
	name := filepath.Base(path)
	i := &inspected{OK: true, Filename: name, SizeBytes: size, Facts: facts, Currency: contract.Currency, Warnings: []quote.Warning{}, chosen: settings.Settings(chosen)}
	i.found = &scenefiles.Found{Main: name, Files: []scenefiles.File{}, Simulations: []blendfile.Simulation{}}
	i.config = configOf(flags)
	if err := i.config.check(flags); err != nil {
		return nil, err
	}
	if !flags.NoFiles {
		if err := i.find(path, flags.ProjectRoot); err != nil {
			return nil, fmt.Errorf("find the scene's files: %w", quote.BadSettings(err))
		}
	}
	i.Files, i.FilesPartial, i.LibrarySimulations = i.found.Files, i.found.Partial, i.found.Simulations
	i.alone = len(i.found.Taken(size)) == 1
	if !i.alone {
		i.MissingData = i.found.Gone
	} else {
		err = scenefiles.Complete(context.Background(), facts, name, func() (io.ReadCloser, error) { return os.Open(path) }, scenefiles.Options{Settings: i.chosen})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	i.judge()
	return i, nil
}

// find finds the scene's files, and the scene itself where it is in one of them.
func (f *inspected) find(path, root string) error {
	disk, err := scenefiles.OpenDisk(path, root)
	if err != nil {
		return err
	}
	defer func() { _ = disk.Close() }()
	if f.chosen.OCIO, err = f.config.in(disk); err != nil {
		return err
	}
	if err := disk.ActiveScene(context.Background(), f.Facts, scenefiles.Options{Settings: f.chosen}); err != nil {
		return err
	}
	f.found, err = disk.Find(context.Background(), scenefiles.Options{Settings: f.chosen})
	return err
}

// judge says what the service would.
func (f *inspected) judge() {
	if f.Scene != nil {
		scene := inspection.SceneOf(f.Facts, f.Filename)
		if !f.alone {
			inspection.PutFiles(&scene, f.found)
		}
		frames, skipped, err := (quote.RequestedFrames{}).Resolve(scene.Frames())
		if err == nil { // a range without a price is no refusal: the caller can ask for another one
			f.FrameCount = frames.Count()
		} else {
			frames = scene.Frames()
		}
		f.Warnings = quote.Envelope(contract.QualifiedPixelSamples).Warnings(scene, quote.Farm{}, quote.Selection{Frames: frames, Skipped: skipped})
	}
	if refused, ok := errors.AsType[*fault.Error](inspection.Renderable(f.Facts, quote.Farm{})); ok {
		f.Refused, f.FrameCount = &refusal{refused.Code, refused.Message}, 0
		f.Warnings = slices.DeleteFunc(f.Warnings, func(w quote.Warning) bool { return w.Code == quote.WarnNewerFile }) // nothing renders it
		return
	}
	f.PriceCents = int(contract.Published().Current().Price(int64(f.FrameCount)))
}

// readFacts reads the file to its end, as the service does, so that a truncated file
// fails here too. size is in bytes.
func readFacts(path string, chosen client.Settings) (facts *blendfile.Facts, size int64, err error) {
	if err := settings.Settings(chosen).Check(); err != nil {
		return nil, 0, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("open the file: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("open the file: %w", err)
	}
	facts, err = blendfile.InspectAs(file, blendfile.Options{ReadAll: true}, settings.Settings(chosen))
	return facts, info.Size(), err
}

// print writes the facts as a table, with refusal or price after the scene.
func (f *inspected) print(w io.Writer) {
	table := terminal.NewTable(w)
	row := table.Rowf
	size := terminal.InBytes.Text(f.SizeBytes)
	if f.Compression != "none" {
		size += fmt.Sprintf(", %s unpacked (%s)", terminal.InBytes.Text(f.Unpacked), f.Compression)
	}
	row("file", "%s, %s", f.Filename, size)
	row("saved by", "Blender %d.%d", f.FileVersion/100, f.FileVersion%100)
	if s := f.Scene; s == nil {
		row("scene", "none")
	} else {
		printScene(row, s, f.SceneCount)
		for _, offer := range []struct {
			name string
			of   []string
		}{{"scenes", f.Scenes}, {"cameras", f.Cameras}} {
			if len(offer.of) > 1 { // otherwise there is nothing to choose
				row(offer.name, "%s", strings.Join(offer.of, ", "))
			}
		}
	}
	if f.Refused != nil {
		row("refused", "%s (%s)", f.Refused.Message, f.Refused.Code)
	} else if f.PriceCents > 0 {
		row("price", "%s for %s", numbers.Money(int64(f.PriceCents), f.Currency), terminal.CountOf(f.FrameCount, "frame"))
	} else {
		row("price", "none for the scene's own range; choose a range of %d to %d frames, from frame 1 on", contract.MinFrames, contract.MaxFrames)
	}
	for _, w := range f.Warnings {
		row("warning", "%s (%s)", w.Message, w.Code)
		row("", "%s", w.SuggestedAction)
	}
	f.config.say(row)
	printFiles(row, f.found)
	f.printSimulations(row)
	f.printLists(row)
	_ = table.Flush() // a closed standard output has no reader
}

// printScene writes the rows about the scene that would be rendered, the active one.
func printScene(row func(name, format string, args ...any), s *blendfile.Scene, scenes int) {
	engine := s.Engine
	if engine == "" {
		engine = "an engine from before 2.50"
	}
	name := s.Name
	if scenes > 1 {
		name += fmt.Sprintf(" (1 of %d scenes)", scenes)
	}
	row("scene", "%s, %s", name, engine)
	row("frames", "%d to %d, step %d, at %.4g frames a second", s.FrameStart, s.FrameEnd, s.FrameStep, s.FPS)
	row("picture", "%d x %d at %d %%, %s", s.ResolutionX, s.ResolutionY, s.ResolutionPercentage, s.OutputFormat)
	quality := terminal.CountOf(s.Samples, "sample")
	if s.AdaptiveSampling {
		quality += ", adaptive"
	}
	if s.Denoise {
		quality += ", denoised by " + s.Denoiser
	}
	row("quality", "%s", quality)
	camera := s.Camera
	if camera == "" {
		camera = "none"
	}
	row("camera", "%s", camera)
	row("layers", "%s", strings.Join(s.ViewLayers, ", "))
}

// printSimulations names the simulations of libraries that Blender has to compute. A warning
// has those of the file and of packed libraries.
func (f *inspected) printSimulations(row func(name, format string, args ...any)) {
	for _, s := range f.LibrarySimulations {
		if !s.Baked && !s.Cached && s.Folder == "" && !slices.Contains(f.Simulations, s) {
			row("simulation", "%s (%s), in %s, is not baked", s.Owner, strings.ReplaceAll(string(s.Kind), "_", " "), s.From)
		}
	}
}

// printLists names all scripts, which a warning names the first of, and the settings that
// drivers change.
func (f *inspected) printLists(row func(name, format string, args ...any)) {
	for _, s := range f.Scripted {
		if s.Property == "" {
			row("script", "%s", s.Owner)
			continue
		}
		row("script", "%s, %s: %s", s.Owner, s.Property, s.Expression)
	}
	for _, list := range f.Partial {
		row("partial", "%s: the file has more entries than are listed", list)
	}
	if f.Scene == nil {
		return
	}
	for _, path := range f.Scene.DrivenSettings {
		row("driven", "%s", path)
	}
	for _, n := range f.Scene.FileOutputNodes {
		if !n.Muted {
			row("writes", "%s, by the compositor's node %s", n.Path, n.Name)
		}
	}
}
