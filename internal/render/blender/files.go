package blender

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"svc.example/internal/render/scenefiles/alias"
	"svc.example/internal/render/settings"
)

// Input is what a Blender opens: the files of a project, and the one to render. The
// files must stay unchanged until the process is closed: Blender reads some of them
// only at a frame that needs them.
type Input struct {
	Main  string // the Name of one of Files
	Files []File
	// Aliases are further places where Blender looks for files. Name is relative to the
	// project ("Tex/A.PNG"), above it ("../a.png") or absolute ("/home/anna/a.png"). One that
	// cannot be made is left out, and Blender finds no file there.
	Aliases []File
	// Preview, when set, renders small and coarse pictures of the scene, as 8-bit PNG.
	// If this Blender does not have the scene's denoiser, the scene is rendered without
	// it.
	Preview *Preview
	// Shot, when set, renders the scene with another seed and from a moved camera. The scene
	// has a camera, and neither it nor the seed is animated.
	Shot *Shot
	// Frames are those that may be rendered; nil when that is not known.
	Frames *Frames
	// Plays says that frames depend on earlier ones, which Blender may not detect itself.
	Plays bool
	// Settings are what an order chose of the file. One that the file does not have is refused
	// with frame_check_failed.
	Settings settings.Settings
	// Scene, when set, is the name of the only scene that may be rendered. Open refuses a
	// file of which Blender renders another.
	Scene string
	// Outputs, when set, lets a scene write more than its picture within these bounds: views, JPEG
	// previews, and what File Output nodes write. Otherwise, and for previews, that is off. A file with more slots than Files is refused with
	// frame_check_failed.
	Outputs *OutputLimits
}

// Frames is a range: First, First+Step and so on up to Last.
type Frames struct {
	First int `json:"first"`
	Last  int `json:"last"`
	Step  int `json:"step"`
}

// Preview bounds the pictures of a preview.
type Preview struct {
	Side    int `json:"side"`    // pixels of the longer side at most
	Samples int `json:"samples"` // a pixel at most
}

// Shot is how a picture differs from what its scene says.
type Shot struct {
	Seed  int        `json:"seed"`  // of Cycles' noise, 0 to 2^31-1
	Shift [2]float64 `json:"shift"` // added to the camera's, in parts of the picture's longer side: to the right, up
}

// File is one file of a project.
type File struct {
	Name string // within the project, with "/" between folders
	Path string // its place on this machine
}

// SingleFile returns the input of a .blend without further files.
func SingleFile(path string) Input {
	name := filepath.Base(path)
	return Input{Main: name, Files: []File{{Name: name, Path: path}}}
}

// place puts the files below root under the names that they have in the project, and returns
// the project's folder there. It lies as far below root as aliases lead above it. Callers
// choose these names, so one that leads out of root is an error; root holds nothing else, so
// no link in it can lead out either. Absolute aliases go below slash, unless it is "".
func (in Input) place(root, slash string) (folder string, err error) {
	above := 0
	for _, a := range in.Aliases {
		above = max(above, levelsAbove(a.Name))
	}
	if above > alias.MaxAbove {
		return "", fmt.Errorf("an alias leads %d folders above the project", above)
	}
	folder = filepath.Join(root, strings.Repeat("project/", above+1))
	for _, f := range in.Files {
		if err := place(f.Path, folder, f.Name); err != nil {
			return "", err
		}
	}
	for _, a := range in.Aliases {
		if !alias.Placeable(a.Name) {
			continue // below slash, folders of the system are links that lead out of it
		}
		from, name := folder, a.Name
		if below, absolute := strings.CutPrefix(name, "/"); absolute {
			from, name = slash, below
		}
		for strings.HasPrefix(name, "../") {
			from, name = filepath.Dir(from), name[len("../"):]
		}
		if from == "" {
			continue
		}
		if err := place(a.Path, from, name); err != nil && !isTaken(err) {
			return "", err
		}
	}
	return folder, nil
}

// isTaken reports that a name cannot exist next to the others.
func isTaken(err error) bool {
	return errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// levelsAbove counts the ".." at the beginning of a name.
func levelsAbove(name string) (n int) {
	for strings.HasPrefix(name, "../") {
		name, n = name[len("../"):], n+1
	}
	return n
}

// place puts a file below a folder under a name, which may not lead out of it.
func place(file, folder, name string) error {
	local := filepath.FromSlash(name)
	if !fs.ValidPath(name) || !filepath.IsLocal(local) {
		return fmt.Errorf("the name %q leads out of the project", name)
	}
	inside := filepath.Join(folder, local)
	if err := os.MkdirAll(filepath.Dir(inside), 0o700); err != nil {
		return err
	}
	return LinkOrCopy(file, inside)
}

// LinkOrCopy makes a single file readable for Blender, and nothing else: by a hard link
// if the file system allows one, otherwise by a copy. A symbolic link would need the
// file's own folder inside the sandbox.
func LinkOrCopy(file, inside string) error {
	if os.Link(file, inside) == nil {
		return nil
	}
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(inside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// collect moves a picture out of Blender's reach, into Options.Out, and returns its
// path there. A hostile file may have taken over Blender: it may name any path, and
// may have put a link to another file in the picture's place.
func (p *Process) collect(name string) (string, error) {
	refused := &Error{Code: FrameCheckFailed, Message: "Blender's picture is not where it should be", Log: p.output.text()}
	if name != filepath.Base(name) || !filepath.IsLocal(name) {
		return "", refused
	}
	path := filepath.Join(p.opts.Out, name)
	if err := os.Rename(filepath.Join(p.out(), name), path); err != nil {
		return "", refused
	}
	// The check comes after the move, because now the file can no longer be
	// changed.
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(refused, os.Remove(path))
	}
	return path, nil
}
