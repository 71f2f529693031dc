package blender

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// lend puts a file where Blender may read it and nothing beside it: by a second
// name where the file system allows, else by a copy.
func lend(file, inside string) error {
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

// takeOut moves a picture out of Blender's reach, into Options.Out, and returns
// its path there. A Blender that a hostile file has taken over may name anything,
// and may have put a link to a file of ours in the picture's place.
func (p *Process) takeOut(name string) (string, error) {
	refused := &Error{Code: FrameCheckFailed, Message: "Blender's picture is not where it should be", Log: p.said.text()}
	if name != filepath.Base(name) || !filepath.IsLocal(name) {
		return "", refused
	}
	path := filepath.Join(p.opts.Out, name)
	if err := os.Rename(filepath.Join(p.out(), name), path); err != nil {
		return "", refused
	}
	// Only now that nobody can change it any more is it looked at.
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(refused, os.Remove(path))
	}
	return path, nil
}
