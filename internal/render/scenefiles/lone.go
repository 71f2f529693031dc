package scenefiles

import (
	"context"
	"io"
	"io/fs"
	"slices"
	"time"

	"svc.example/internal/render/blendfile"
)

// Complete adds to the facts of a .blend what is in the libraries that are packed in it:
// missing files that the picture needs, simulations of their objects, Python, colour spaces,
// and what is packed in them. name is the file's own name; open gives its bytes, from the
// beginning, as often as they are needed. Where the picture needs no packed library, nothing
// is opened. o.Base is not used. Errors: those of Find, and of open.
func Complete(ctx context.Context, facts *blendfile.Facts, name string, open func() (io.ReadCloser, error), o Options) error {
	if !slices.ContainsFunc(facts.LinkedLibraries, func(l blendfile.Library) bool { return l.Packed && l.Needed }) {
		return nil
	}
	o.Base = ""
	found, err := Find(ctx, lone{name, open}, name, o)
	if err != nil {
		return err
	}
	for _, f := range found.Files {
		if f.packedIn && f.Gone() && !found.said(facts, f) {
			facts.MissingFiles = append(facts.MissingFiles, blendfile.MissingFile{Kind: f.of, Path: f.Stored, Owner: f.Owner, UsedBy: f.UsedBy, From: f.From})
		}
	}
	facts.Simulations = append(facts.Simulations, found.Simulations...)
	facts.Scripted = append(facts.Scripted, found.Scripted...)
	if facts.Scene != nil && facts.Scene.Colors != nil {
		facts.Scene.Colors.Others = append(facts.Scene.Colors.Others, found.Spaces...)
	}
	facts.Packed = append(facts.Packed, found.Packed...)
	facts.WorldVolume = facts.WorldVolume || found.WorldVolume
	facts.MissingData = append(facts.MissingData, found.Gone...)
	if found.Partial {
		facts.Partial = append(facts.Partial, "packed_libraries")
	}
	return nil
}

// said reports whether the facts of the main file name a missing library already: it links
// what its packed libraries link, too.
func (f *Found) said(facts *blendfile.Facts, of File) bool {
	return of.Kind == KindLibrary && slices.ContainsFunc(facts.MissingFiles, func(m blendfile.MissingFile) bool {
		place, _ := placeOf(m.Path, folderOf(f.Main))
		return m.Kind == blendfile.KindLibrary && place == of.Path
	})
}

// lone is a tree of one file.
type lone struct {
	name string
	open func() (io.ReadCloser, error)
}

// Open opens the file; there is nothing else.
func (l lone) Open(name string) (fs.File, error) {
	if name != l.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	r, err := l.open()
	if err != nil {
		return nil, err
	}
	return opened{r, l}, nil
}

// Stat describes the file without opening it.
func (l lone) Stat(name string) (fs.FileInfo, error) {
	if name != l.name {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return l, nil
}

// It is its own description; its size does not matter.
func (l lone) Name() string       { return l.name }
func (l lone) Size() int64        { return 0 }
func (l lone) Mode() fs.FileMode  { return 0 }
func (l lone) ModTime() time.Time { return time.Time{} }
func (l lone) IsDir() bool        { return false }
func (l lone) Sys() any           { return nil }

type opened struct {
	io.ReadCloser
	lone lone
}

func (o opened) Stat() (fs.FileInfo, error) { return o.lone, nil }
