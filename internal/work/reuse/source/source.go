// Package source reads what the pictures of an order come from, for package reuse, and
// compares them with the job before it.
//
// What always holds: what is read takes bounded memory, and one workspace does not keep others
// waiting. A scene that cannot be compared in parts counts as a whole. Start reading at
// Reader.OfUpload.
package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/ground/sharing"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/blendfile/memory"
	"svc.example/internal/render/contentkey"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/project"
	"svc.example/internal/work/reuse"
)

// Reader reads what the pictures of a project's frames come from. It is safe for concurrent
// use. Every field is required except Memory.
type Reader struct {
	DB     *db.DB
	Blobs  blob.Store
	Memory *memory.Budget // that inspections share; nil bounds each reading alone

	once   sync.Once
	places sharing.Places
}

// mostAtOnce bounds the scenes that a process reads at once for their keys: each takes up to
// 149 MiB. One workspace reads one.
const mostAtOnce = 2

// OfUpload reads the frames of a stored upload, as an order with settings renders them. Errors:
// blendfile.ErrBusy, fs.ErrNotExist for content that is gone, and those of the store.
func (r *Reader) OfUpload(ctx context.Context, workspaceID, uploadID string, s settings.Settings, frames framelist.List) (p reuse.Pictures, err error) {
	var m project.Manifest
	keys := map[string]string{}
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if m, err = project.ManifestOf(ctx, tx, uploadID); err != nil {
			return err
		}
		has, _, err := project.Stored(ctx, tx, workspaceID, m.Parts())
		for sum, c := range has {
			keys[sum] = c.BlobKey
		}
		return err
	})
	if err != nil {
		return p, err
	}
	return r.Of(ctx, workspaceID, m, keys, s, frames)
}

// Of is OfUpload for a project whose parts are stored under keys.
func (r *Reader) Of(ctx context.Context, workspaceID string, m project.Manifest, keys map[string]string, s settings.Settings, frames framelist.List) (p reuse.Pictures, err error) {
	r.once.Do(func() { r.places.Most, r.places.Share = mostAtOnce, 1 })
	leave, err := r.places.Enter(ctx, workspaceID)
	if err != nil {
		return p, fmt.Errorf("read what frames come from: %w", err)
	}
	defer leave()
	content := make(map[int][sha256.Size]byte, len(frames))
	o := order{workspaceID, m, keys, s, frames}
	scene, err := r.scene(ctx, o)
	switch {
	case err == nil:
		for i, key := range scene.Keys(frames) {
			content[frames[i]] = key
		}
		return reuse.PicturesOf(content, s.Picture().Text()).With(r.earlier(ctx, o, scene)), nil
	case errors.Is(err, blendfile.ErrBusy), errors.Is(err, fs.ErrNotExist), errors.Is(err, blob.ErrNotFound), ctx.Err() != nil:
		return p, err
	}
	// What cannot be told apart counts as a whole.
	whole := wholeOf(m)
	for _, frame := range frames {
		content[frame] = sha256.Sum256(fmt.Appendf(nil, "%s %d", whole, frame))
	}
	return reuse.PicturesOf(content, s.Picture().Text()), nil
}

// errOtherScene reports a scene that package contentkey does not read.
var errOtherScene = errors.New("an order that chooses a scene is compared as a whole")

func (r *Reader) scene(ctx context.Context, o order) (*contentkey.Scene, error) {
	if o.settings.Scene != "" {
		return nil, errOtherScene
	}
	sums := make(map[string]string, len(o.project.Files))
	for _, f := range o.project.Files {
		sums[f.Path] = f.SHA256
	}
	hash := func(path string) (string, error) {
		if sum, ok := sums[path]; ok {
			return sum, nil
		}
		return "", &fs.PathError{Op: "hash", Path: path, Err: errors.New("it is no file of the project")}
	}
	var scene *contentkey.Scene
	var err error
	ratelimit.Work(ctx, func() {
		scene, err = contentkey.InTree(ctx, project.NewTree(ctx, r.Blobs, o.project, o.keys), o.project.Main, o.settings.OCIO, hash, blendfile.Options{Memory: r.Memory})
	})
	return scene, err
}

// wholeOf is a hash of all files of a project.
func wholeOf(m project.Manifest) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q\n", m.Main)
	for _, f := range m.Files { // sorted by path
		_, _ = fmt.Fprintf(h, "%q %s\n", f.Path, f.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))
}
