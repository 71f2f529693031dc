package caller

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/scenefiles"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/inspection"
	"svc.example/internal/work/quote"
)

// FileFlags select the files that go with a .blend.
type FileFlags struct {
	ProjectRoot string `env:"SVC_PROJECT_ROOT" type:"existingdir" placeholder:"DIR" help:"Folder that contains the scene's files. Nothing outside it is read or sent. Default: the folder of the .blend."`
	OCIO        string `name:"ocio" env:"SVC_OCIO" placeholder:"PATH" help:"OpenColorIO configuration to render with; it is uploaded with its LUTs. none is Blender's own. Default: the configuration that the variable OCIO names."`
	NoFiles     bool   `env:"SVC_NO_FILES" help:"Upload only the .blend, without the files that its scene uses."`
}

// scene is what a command renders: a .blend, with the files that its scene needs on this
// disk. Close it at the end.
type scene struct {
	path  string
	sum   string // SHA-256 of the .blend
	disk  *scenefiles.Disk
	found *scenefiles.Found // nil: the .blend is sent alone
	// project is what is sent of found; nil where there is nothing besides the .blend.
	project *client.Project
	chosen  client.Settings
	config  config
	frames  quote.Frames // the scene's own range
	reuse   bool         // frames of earlier jobs that show the same
}

// readLong is from how many bytes on a person sees that files are read.
const readLong = 256 << 20

// openScene reads a .blend, finds its files and hashes all of them. What is no .blend, or a
// damaged one, has not what is chosen of it, or cannot be rendered, is refused as the service
// would, before anything is sent. Other errors are those of the file system.
func openScene(ctx context.Context, path string, flags FileFlags, chosen client.Settings, to terminal.Display) (*scene, error) {
	path, flags, err := mainFile(path, flags)
	if err != nil {
		return nil, err
	}
	s := &scene{path: path, chosen: chosen}
	if err := settings.Settings(chosen).Check(); err != nil {
		return nil, terminal.WrongUsage(quote.BadSettings(err))
	}
	s.config = configOf(flags)
	if err := s.config.check(flags); err != nil {
		return nil, err
	}
	if !flags.NoFiles {
		err = s.find(ctx, flags.ProjectRoot)
	}
	if err == nil {
		err = s.renderable(ctx)
	}
	if err != nil {
		s.close()
		return nil, fmt.Errorf("%s: %w", path, inspection.Refusal(err))
	}
	err = s.hash(ctx, to)
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// mainFile is the .blend of what was named: a file, or a folder whose only .blend at its
// top it is. A folder is the project's too.
func mainFile(path string, flags FileFlags) (string, FileFlags, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", flags, terminal.WrongUsagef("there is no file or folder %s", path)
	}
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return "", flags, terminal.WrongUsagef("%s is not a file or folder; give the path of a .blend", path)
	}
	if err != nil || !info.IsDir() {
		return path, flags, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return "", flags, fmt.Errorf("look for a .blend: %w", err)
	}
	var found []string
	for _, entry := range entries {
		if !entry.IsDir() && strings.EqualFold(filepath.Ext(entry.Name()), ".blend") {
			found = append(found, entry.Name())
		}
	}
	switch {
	case len(found) == 0:
		return "", flags, terminal.WrongUsagef("%s has no .blend; name the file, and the folder with --project-root", path)
	case len(found) > 1:
		return "", flags, terminal.WrongUsagef("%s has %d .blend files (%s); name the one to render", path, len(found), strings.Join(found, ", "))
	}
	if flags.ProjectRoot == "" {
		flags.ProjectRoot = path
	}
	return filepath.Join(path, found[0]), flags, nil
}

// find looks for the files.
func (s *scene) find(ctx context.Context, root string) (err error) {
	if s.disk, err = scenefiles.OpenDisk(s.path, root); err != nil {
		return err
	}
	if s.chosen.OCIO, err = s.config.in(s.disk); err != nil {
		s.close()
		return err
	}
	if s.found, err = s.disk.Find(ctx, scenefiles.Options{Settings: settings.Settings(s.chosen)}); err != nil {
		s.close()
	}
	return err
}

// renderable refuses a scene that no service renders. The service's Blender may be newer than the
// one that is known here.
func (s *scene) renderable(ctx context.Context) error {
	facts, _, err := readFacts(s.path, s.chosen)
	if err != nil {
		return err
	}
	if s.disk != nil {
		if err := s.disk.ActiveScene(ctx, facts, scenefiles.Options{Settings: settings.Settings(s.chosen)}); err != nil {
			return err
		}
	}
	if err = inspection.Renderable(facts, quote.Farm{}); err != nil && !fault.Is(err, fault.FileTooNew) {
		return err
	}
	if facts.Scene != nil {
		s.frames = inspection.SceneOf(facts, s.path).Frames()
	}
	return nil
}

// has refuses an order of all frames of a scene whose own range no job can have. A list of
// frames needs no range of the scene, and neither does a scene that is not known here.
func (s *scene) has(list FrameList) error {
	if list != "" || s.frames == (quote.Frames{}) {
		return nil
	}
	_, _, err := (quote.RequestedFrames{}).Resolve(s.frames)
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		err = refused.WithAction("Choose frames with --frames, such as --frames 1-20.")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

// hash reads all that would be sent.
func (s *scene) hash(ctx context.Context, to terminal.Display) (err error) {
	taken := s.taken()
	if len(taken) < 2 {
		if s.sum, err = digest.OfFile(s.path); err != nil {
			err = fmt.Errorf("read the file to render: %w", err)
		}
		return err
	}
	paths, bytes := make([]string, len(taken)), int64(0)
	for i, f := range taken {
		paths[i] = f.Path
		bytes += f.Bytes
	}
	var progress func(int64)
	if bytes >= readLong {
		meter := to.Meter("read", terminal.InBytes)
		defer meter.End()
		progress = func(read int64) { meter.Move(read, bytes) }
	}
	if s.project, err = client.ListProject(ctx, s.disk.Tree, s.found.Main, paths, progress); err != nil {
		return err
	}
	s.sum = s.project.MainFile().SHA256
	return nil
}

// taken are the files to send; the .blend is one.
func (s *scene) taken() []scenefiles.Name {
	if s.found == nil {
		return nil
	}
	size := int64(0)
	if info, err := os.Stat(s.path); err == nil {
		size = info.Size()
	}
	return s.found.Taken(size)
}

// projectSum is the hash of the project as a receipt states it; "" of a .blend alone.
func (s *scene) projectSum() string {
	if s.project == nil {
		return ""
	}
	return s.project.SHA256()
}

func (s *scene) close() {
	if s.disk != nil {
		_ = s.disk.Close() // it was only read
		s.disk = nil
	}
}

// lacks is how many files that the picture needs are not on this disk.
func (s *scene) lacks() (n int) {
	if s.found == nil {
		return 0
	}
	for i := range s.found.Files {
		f := &s.found.Files[i]
		switch {
		case f.Gone():
			n++
		case f.Reach == scenefiles.ReachNeeded:
			n += len(f.Lacking)
		}
	}
	return n
}

// say shows what goes with the .blend, before it is uploaded.
func (s *scene) say(to terminal.Display, missing bool) {
	if s.found == nil || len(s.found.Files) == 0 {
		return
	}
	table := terminal.NewTable(nil)
	s.config.say(table.Rowf)
	if missing {
		printFiles(table.Rowf, s.found)
	} else if s.project != nil {
		table.Rowf("files", "%s", filesSummary(s.found))
		table.Rowf("project", "%s, %s", terminal.CountOf(len(s.project.Files), "file"), terminal.InBytes.Text(s.project.SizeBytes()))
		printUnread(table.Rowf, s.found)
	}
	table.Say(to)
}

// inspect sends what the service lacks, for a quote of the frames.
func (s *scene) inspect(ctx context.Context, api *client.Client, to terminal.Display, frames FrameList) (*client.Quote, error) {
	if s.project == nil {
		return s.inspectAlone(ctx, api, to, client.InspectRequest{Frames: string(frames), Settings: s.chosen, Reuse: s.reuse})
	}
	var upload terminal.Meter
	quote, err := api.InspectProject(ctx, client.ProjectRequest{
		Project: s.project, Frames: string(frames), Settings: s.chosen, Reuse: s.reuse,
		Progress: func(sent, total int64) {
			if upload == nil {
				upload = to.Meter("upload", terminal.InBytes)
			}
			upload.Move(sent, total)
		},
	})
	if upload != nil {
		upload.End()
	} else if err == nil {
		to.Say("the service already has all files of the project; nothing is uploaded")
	}
	if changed, ok := errors.AsType[*client.ChangedError](err); ok {
		return nil, fmt.Errorf("%w. Nothing was spent", changed)
	}
	return quote, err
}

// inspectAlone sends the .blend without other files.
func (s *scene) inspectAlone(ctx context.Context, api *client.Client, to terminal.Display, r client.InspectRequest) (*client.Quote, error) {
	file, err := os.Open(s.path)
	if err != nil {
		return nil, fmt.Errorf("open the file to render: %w", err)
	}
	defer file.Close()
	upload := to.Meter("upload", terminal.InBytes)
	defer upload.End()
	r.Filename, r.Body, r.Progress = filepath.Base(s.path), file, upload.Move
	return api.Inspect(ctx, r)
}
