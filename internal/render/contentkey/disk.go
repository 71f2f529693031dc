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
	"svc.example/internal/render/settings"
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
	if err := s.follow(ctx, disk.Tree, found, blendfile.Options{}); err != nil {
		return nil, err
	}
	return s, s.addAll(found, func(path string) (string, error) { return hashOf(disk.Tree, path) })
}

// InTree reads a .blend and the files that its scene needs from a tree. config is the
// OpenColorIO configuration with which it is rendered, "" for Blender's own. hash is the hash of
// a file of the tree, by its path. Errors are those of Read, scenefiles.Find, hash, and
// ErrTooManyFiles.
func InTree(ctx context.Context, tree fs.FS, main, config string, hash func(path string) (string, error), o blendfile.Options) (*Scene, error) {
	s, err := Read(func() (io.ReadCloser, error) { return tree.Open(main) }, o)
	if err != nil {
		return nil, err
	}
	found, err := scenefiles.Find(ctx, tree, main, scenefiles.Options{Memory: o.Memory, Settings: settings.Settings{OCIO: config}})
	if err != nil {
		return nil, err
	}
	if err := s.follow(ctx, tree, found, o); err != nil {
		return nil, err
	}
	return s, s.addAll(found, hash)
}

// addAll adds what a search found.
func (s *Scene) addAll(found *scenefiles.Found, hash func(path string) (string, error)) error {
	if found.Partial {
		return ErrTooManyFiles
	}
	for i := range found.Files {
		if err := s.addFrom(&found.Files[i], hash); err != nil {
			return err
		}
	}
	return nil
}

// addFrom adds a file that was found, unless no picture needs it, or what the picture needs of
// it counts already.
func (s *Scene) addFrom(f *scenefiles.File, hash func(path string) (string, error)) error {
	if _, read := s.linked[f.Path]; f.Reach == scenefiles.ReachUnneeded || f.Kind == scenefiles.KindSound || read && f.Kind == scenefiles.KindLibrary {
		return nil
	}
	if !f.There() {
		s.AddFile(f.Stored, string(f.Status))
	}
	for _, name := range f.Names {
		sum, err := hash(name.Path)
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
