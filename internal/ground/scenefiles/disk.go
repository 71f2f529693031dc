package scenefiles

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// OnDisk is Find for a .blend of this machine's disk. root is the folder that its files may
// lie in; "" means the folder of the .blend. Nothing outside of root is read, except the
// .blend itself where it is a link. Errors are those of Find and of the file system; a
// .blend that is not below root is one, too.
func OnDisk(ctx context.Context, blend, root string, o Options) (*Found, error) {
	if root == "" {
		root = filepath.Dir(blend)
	}
	base, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("find the project's folder: %w", err)
	}
	full, err := filepath.Abs(blend)
	if err != nil {
		return nil, fmt.Errorf("find the .blend: %w", err)
	}
	main, err := filepath.Rel(base, full)
	if err != nil || !filepath.IsLocal(main) {
		return nil, fmt.Errorf("%s is not in the folder %s: choose one that is above it", blend, root)
	}
	folder, err := os.OpenRoot(base)
	if err != nil {
		return nil, fmt.Errorf("open the project's folder: %w", err)
	}
	defer func() { _ = folder.Close() }()
	o.Base = base
	main = filepath.ToSlash(main)
	return Find(ctx, withMain{folder.FS(), main, full}, main, o)
}

// withMain is a tree whose main file may be a link to any file: the caller chose it.
type withMain struct {
	fs.FS
	main string
	at   string // on the disk
}

// Open opens a file of the tree.
func (w withMain) Open(name string) (fs.File, error) {
	if name == w.main {
		return os.Open(w.at)
	}
	return w.FS.Open(name)
}

// Stat describes a file without opening it: a pipe would wait for its other end.
func (w withMain) Stat(name string) (fs.FileInfo, error) {
	if name == w.main {
		return os.Stat(w.at)
	}
	return fs.Stat(w.FS, name)
}
