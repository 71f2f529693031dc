package blender

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Input is what a Blender opens: the files of a project, and the one to render. The
// files must stay unchanged until the process is closed: Blender reads some of them
// only at a frame that needs them.
type Input struct {
	Main  string // the Name of one of Files
	Files []File
	// Preview, when set, renders small and coarse pictures of the scene, as 8-bit PNG. A
	// scene whose denoiser this Blender lacks is then rendered without.
	Preview *Preview
	// Frames are those that may be rendered; nil when that is not known.
	Frames *Frames
	// Plays says that frames depend on the frames before, which Blender may not see itself.
	Plays bool
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

// place puts the files below root under the names that they have in the project.
// Callers choose these names, so one that leads out of root is an error; root holds
// nothing else, so no link in it can lead out either.
func (in Input) place(root string) error {
	for _, f := range in.Files {
		name := filepath.FromSlash(f.Name)
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the name %q leads out of the project", f.Name)
		}
		inside := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(inside), 0o700); err != nil {
			return err
		}
		if err := place(f.Path, inside); err != nil {
			return err
		}
	}
	return nil
}

// place makes a single file readable for Blender, and nothing beside it: by a hard
// link where the file system allows one, else by a copy. A symbolic link would need
// the file's own folder inside the sandbox.
func place(file, inside string) error {
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
	// The check comes after the move, because now nobody can change the file any
	// more.
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(refused, os.Remove(path))
	}
	return path, nil
}
