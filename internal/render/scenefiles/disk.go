package scenefiles

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"svc.example/internal/render/blendfile"
)

// Disk is a folder of this machine's disk with a .blend in it.
type Disk struct {
	// Tree has the files of the folder. Nothing outside of it is read, except the .blend
	// itself where it is a link.
	Tree fs.FS
	Main string // path of the .blend in Tree
	root *os.Root
}

// OpenDisk opens the folder of a .blend. root is the folder that its files may lie in; ""
// means the folder of the .blend. Errors are those of the file system; a .blend that is not
// below root is one, too. Close the folder at the end.
func OpenDisk(blend, root string) (*Disk, error) {
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
		return nil, fmt.Errorf("%s is not inside the folder %s; choose a folder above it", blend, root)
	}
	folder, err := os.OpenRoot(base)
	if err != nil {
		return nil, fmt.Errorf("open the project's folder: %w", err)
	}
	main = filepath.ToSlash(main)
	return &Disk{Tree: withMain{folder.FS(), main, full}, Main: main, root: folder}, nil
}

// Find is the function Find for the .blend of the folder.
func (d *Disk) Find(ctx context.Context, o Options) (*Found, error) {
	o.Base = d.root.Name()
	return Find(ctx, d.Tree, d.Main, o)
}

// ActiveScene is the function ActiveScene for the .blend of the folder.
func (d *Disk) ActiveScene(ctx context.Context, facts *blendfile.Facts, o Options) error {
	o.Base = d.root.Name()
	return ActiveScene(ctx, d.Tree, d.Main, facts, o)
}

// Close ends the reading of the folder.
func (d *Disk) Close() error { return d.root.Close() }

// OnDisk is Find for a .blend of this machine's disk. Errors are those of OpenDisk and Find.
func OnDisk(ctx context.Context, blend, root string, o Options) (*Found, error) {
	d, err := OpenDisk(blend, root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	return d.Find(ctx, o)
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
