package project

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/blob"
)

// Tree is the files of a manifest as a file system: that of package fs, read only. It holds
// no links. Its files read their parts from the blob store: forward, or with ReadAt.
type Tree struct {
	ctx     context.Context
	blobs   blob.Store
	keys    map[string]string // of blobs, by the hash of the part
	files   map[string]*File
	folders map[string][]fs.DirEntry
}

// NewTree makes the tree of a manifest, whose parts are stored under keys. Reading ends
// with ctx.
func NewTree(ctx context.Context, blobs blob.Store, m Manifest, keys map[string]string) *Tree {
	t := &Tree{ctx: ctx, blobs: blobs, keys: keys, files: map[string]*File{}, folders: map[string][]fs.DirEntry{".": nil}}
	for i := range m.Files {
		f := &m.Files[i]
		t.files[f.Path] = f
		t.put(path.Dir(f.Path), entry{path.Base(f.Path), f.SizeBytes, 0o444})
	}
	for _, entries := range t.folders {
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return t
}

// put adds an entry to a folder, and the folder to those around it.
func (t *Tree) put(folder string, e entry) {
	_, known := t.folders[folder]
	t.folders[folder] = append(t.folders[folder], e)
	if !known {
		t.put(path.Dir(folder), entry{path.Base(folder), 0, fs.ModeDir | 0o555})
	}
}

// Open implements fs.FS.
func (t *Tree) Open(name string) (fs.File, error) {
	if f, ok := t.files[name]; ok {
		return &file{tree: t, of: f, rest: f.Parts}, nil
	}
	if entries, ok := t.folders[name]; ok {
		return &openFolder{entry{path.Base(name), 0, fs.ModeDir | 0o555}, entries}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Stat implements fs.StatFS.
func (t *Tree) Stat(name string) (fs.FileInfo, error) {
	f, err := t.Open(name)
	if err != nil {
		return nil, err
	}
	return f.Stat()
}

// entry describes a file or a folder.
type entry struct {
	name string
	size int64
	mode fs.FileMode
}

func (e entry) Name() string               { return e.name }
func (e entry) Size() int64                { return e.size }
func (e entry) Mode() fs.FileMode          { return e.mode }
func (e entry) Type() fs.FileMode          { return e.mode.Type() }
func (e entry) ModTime() time.Time         { return time.Time{} }
func (e entry) IsDir() bool                { return e.mode.IsDir() }
func (e entry) Sys() any                   { return nil }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }

// file reads a file part by part.
type file struct {
	tree *Tree
	of   *File
	rest []string
	open blob.Reader // nil between parts
}

func (f *file) Stat() (fs.FileInfo, error) {
	return entry{path.Base(f.of.Path), f.of.SizeBytes, 0o444}, nil
}

func (f *file) Read(p []byte) (n int, err error) {
	for len(p) > 0 {
		if err := f.tree.ctx.Err(); err != nil {
			return 0, err
		}
		if f.open == nil {
			if len(f.rest) == 0 {
				return 0, io.EOF
			}
			if f.open, err = f.tree.blobs.Open(f.tree.ctx, f.tree.keys[f.rest[0]]); err != nil {
				return 0, err
			}
			f.rest = f.rest[1:]
		}
		n, err = f.open.Read(p)
		if errors.Is(err, io.EOF) {
			err = f.Close()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, nil
}

// ReadAt implements io.ReaderAt. How large a part is shows once it is open, and callers want the
// last bytes, so it opens the parts from the last one.
func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	end := f.of.SizeBytes // of the part
	if off < 0 || off >= end {
		return 0, io.EOF
	}
	if rest := end - off; int64(len(p)) > rest {
		p, err = p[:rest], io.EOF
	}
	for i := len(f.of.Parts) - 1; i >= 0 && end > off; i-- {
		part, openErr := f.tree.blobs.Open(f.tree.ctx, f.tree.keys[f.of.Parts[i]])
		if openErr != nil {
			return 0, openErr
		}
		start := end - part.Size()
		if from, to := max(off, start), min(off+int64(len(p)), end); from < to {
			_, readErr := part.ReadAt(p[from-off:to-off], from-start)
			if readErr != nil && !errors.Is(readErr, io.EOF) {
				return 0, errors.Join(readErr, part.Close())
			}
		}
		if closeErr := part.Close(); closeErr != nil {
			return 0, closeErr
		}
		end = start
	}
	return len(p), err
}

// Close closes the part that is open.
func (f *file) Close() (err error) {
	if f.open != nil {
		err = f.open.Close()
	}
	f.open = nil
	return err
}

// openFolder lists a folder.
type openFolder struct {
	entry
	rest []fs.DirEntry
}

func (d *openFolder) Stat() (fs.FileInfo, error) { return d.entry, nil }
func (d *openFolder) Close() error               { return nil }

func (d *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: fs.ErrInvalid}
}

// ReadDir implements fs.ReadDirFile.
func (d *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(d.rest)
	} else if len(d.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.rest))
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out, nil
}
