package intake

import (
	"context"
	"errors"
	"io/fs"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/inspection"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/reuse"
)

// Comparer is the part of source.Reader that this package needs.
type Comparer interface {
	// OfUpload reads what frames of an upload come from.
	OfUpload(ctx context.Context, workspaceID, uploadID string, s settings.Settings, frames framelist.List) (reuse.Pictures, error)
	// Of is OfUpload for a project whose parts are stored under keys.
	Of(ctx context.Context, workspaceID string, m project.Manifest, keys map[string]string, s settings.Settings, frames framelist.List) (reuse.Pictures, error)
}

// Compare finds out for Requote what the upload's scene is, what the workspace stores, and what
// the requested frames come from, if they are asked for with reuse. It reads the upload's files:
// call it outside of any transaction, after Choose. Errors: upload_not_found, unavailable when
// others hold Memory, and those of quote.RequestedFrames.In.
func (in *Intake) Compare(ctx context.Context, workspaceID, uploadID string, requested quote.RequestedFrames) (quote.RequestedFrames, error) {
	if err := in.ready(ctx, workspaceID); err != nil {
		return requested, err
	}
	own, err := in.own(ctx, workspaceID, uploadID, func(*db.Tx, query.Upload) error { return nil })
	if err != nil {
		return requested, err
	}
	requested.Own = &own
	if !requested.AskReuse || in.Reuse == nil {
		return requested, nil
	}
	frames, err := requested.In(own)
	if err != nil {
		return requested, err
	}
	pictures, err := in.Reuse.OfUpload(ctx, workspaceID, uploadID, requested.Choice.Settings, frames)
	return withPictures(requested, pictures, err)
}

// withPictures adds what frames come from to a request.
func withPictures(requested quote.RequestedFrames, pictures reuse.Pictures, err error) (quote.RequestedFrames, error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, blob.ErrNotFound) || db.IsNotFound(err) {
		return requested, removed() // meanwhile
	}
	if err != nil {
		return requested, inspection.Refusal(err)
	}
	requested.Reuse = &pictures
	return requested, nil
}

// compare is Compare for a file that was just received, whose scene is rendered as it is
// chosen. Its content is committed for that.
func (r *Received) compare(ctx context.Context, requested quote.RequestedFrames) (quote.RequestedFrames, error) {
	if !requested.AskReuse || r.in.Reuse == nil {
		return requested, nil
	}
	frames, err := requested.In(r.scene)
	if err != nil {
		return requested, err
	}
	keys := map[string]string{}
	for _, c := range r.contents {
		if err := c.commitUnknown(ctx, r.workspaceID); err != nil {
			return requested, err
		}
		keys[c.sha256] = c.key
	}
	err = r.in.DB.Read(ctx, func(tx *db.Tx) error {
		has, _, err := project.Stored(ctx, tx, r.workspaceID, r.manifest.Parts())
		for sum, c := range has {
			keys[sum] = c.BlobKey
		}
		return err
	})
	if err != nil {
		return requested, err
	}
	pictures, err := r.in.Reuse.Of(ctx, r.workspaceID, r.manifest, keys, requested.Choice.Settings, frames)
	return withPictures(requested, pictures, err)
}
