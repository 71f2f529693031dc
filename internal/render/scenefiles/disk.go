package scenefiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"svc.example/internal/render/blendfile"
)

// Disk is a folder of this machine's disk with a .blend in it.
type Disk struct {
	// Tree has the files of the folder. Nothing outside of it is read, except the .blend
	// itself where it is a link.
	Tree fs.FS
	Main string // path of the .blend in Tree
	root *os.Root
	more []*os.Root // of other folders in Tree
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
func (d *Disk) Close() error {
	err := d.root.Close()
	for _, r := range d.more {
		err = errors.Join(err, r.Close())
	}
	return err
}

// Configure finds an OpenColorIO configuration of this machine in Tree. One that is not in the
// folder is brought there with all that is in its own. name is its path, as settings have it.
// Errors are those of the file system.
func (d *Disk) Configure(config string) (name string, err error) {
	full, err := filepath.Abs(config)
	if err != nil {
		return "", fmt.Errorf("find the OpenColorIO configuration: %w", err)
	}
	if inside, err := filepath.Rel(d.root.Name(), full); err == nil && filepath.IsLocal(inside) {
		name = filepath.ToSlash(inside)
		if _, err := fs.Stat(d.Tree, name); err == nil {
			return name, nil
		}
	}
	if _, err := os.Stat(full); err != nil {
		return "", fmt.Errorf("find the OpenColorIO configuration: %w", err)
	}
	folder, err := os.OpenRoot(filepath.Dir(full))
	if err != nil {
		return "", fmt.Errorf("open the folder of the OpenColorIO configuration: %w", err)
	}
	d.more = append(d.more, folder)
	at := "ocio"
	for n := 2; ; n++ {
		if _, err := fs.Stat(d.Tree, at); errors.Is(err, fs.ErrNotExist) {
			break
		}
		at = fmt.Sprintf("ocio-%d", n)
	}
	d.Tree = withFolder{d.Tree, at, withMain{folder.FS(), filepath.Base(full), full}}
	return at + "/" + filepath.Base(full), nil
}

// withFolder is a tree with another one in it, in a folder that it has not. The folder is found
// by the names of its files only.
type withFolder struct {
	fs.FS
	at     string
	folder fs.FS
}

// Open opens a file of one of the trees.
func (w withFolder) Open(name string) (fs.File, error) {
	if below, ok := strings.CutPrefix(name, w.at+"/"); ok {
		return w.folder.Open(below)
	}
	return w.FS.Open(name)
}

// Stat describes a file without opening it.
func (w withFolder) Stat(name string) (fs.FileInfo, error) {
	if below, ok := strings.CutPrefix(name, w.at+"/"); ok {
		return fs.Stat(w.folder, below)
	}
	return fs.Stat(w.FS, name)
}

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
