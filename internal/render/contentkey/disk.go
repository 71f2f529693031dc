package contentkey

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/scenefiles"
)

// ErrTooManyFiles reports that a scene refers to more files than a search follows.
var ErrTooManyFiles = errors.New("the scene refers to more files than can be compared")

// OnDisk reads a .blend and the files that its scene needs from this machine's disk. root is
// the folder that they may lie in; "" means the folder of the .blend. Errors are those of
// Read, scenefiles.OpenDisk and scenefiles.Find, of the file system, and ErrTooManyFiles.
func OnDisk(ctx context.Context, blend, root string) (*Scene, error) {
	disk, err := scenefiles.OpenDisk(blend, root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = disk.Close() }()
	s, err := Read(func() (io.ReadCloser, error) { return os.Open(blend) }, blendfile.Options{})
	if err != nil {
		return nil, err
	}
	found, err := disk.Find(ctx, scenefiles.Options{})
	if err != nil {
		return nil, err
	}
	if found.Partial {
		return nil, ErrTooManyFiles
	}
	for i := range found.Files {
		if err := s.addFrom(disk.Tree, &found.Files[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addFrom adds a file of a tree, unless no picture needs it.
func (s *Scene) addFrom(tree fs.FS, f *scenefiles.File) error {
	if f.Reach == scenefiles.ReachUnneeded {
		return nil
	}
	if !f.There() {
		s.AddFile(f.Stored, string(f.Status))
	}
	for _, name := range f.Names {
		sum, err := hashOf(tree, name.Path)
		if err != nil {
			return err
		}
		s.AddFile(name.Path, sum)
	}
	return nil
}

func hashOf(tree fs.FS, path string) (string, error) {
	f, err := tree.Open(path)
	if err != nil {
		return "", fmt.Errorf("read a file of the scene: %w", err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
