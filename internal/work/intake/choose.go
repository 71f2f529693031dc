package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/scenefiles"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/inspection"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
)

// Choose says what is rendered of a received file, before Quote. A file that can only be
// rendered with settings needs them here. Errors: invalid_settings, and those of Receive that
// are about what is rendered.
func (r *Received) Choose(ctx context.Context, s settings.Settings) (err error) {
	if s, err = quote.ReadSettings(s); err != nil {
		return err
	}
	r.choice.Settings = s
	if s.Picture().IsZero() {
		return r.refused
	}
	chosen, err := r.again(ctx, s)
	if err != nil {
		return err
	}
	r.choice.Scene = &chosen
	if refused, ok := errors.AsType[*fault.Error](r.refused); ok {
		r.scene.Refused = &quote.Refused{Code: refused.Code, Message: refused.Message}
	}
	return nil
}

// Choose finds the scene of an upload that settings choose, for Requote. It reads the upload's
// files, unless an earlier quote has the same settings: call it outside of any transaction.
// Errors: invalid_settings, upload_not_found, unavailable when others hold Memory, and those of
// Receive that are about what is rendered.
func (in *Intake) Choose(ctx context.Context, workspaceID, uploadID string, s settings.Settings) (c quote.Choice, err error) {
	if c.Settings, err = quote.ReadSettings(s); err != nil || c.Settings.Picture().IsZero() {
		return c, err
	}
	var of storedUpload
	err = in.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if c.Scene, err = quote.SceneWith(ctx, tx, workspaceID, uploadID, c.Settings); err != nil || c.Scene != nil {
			return err
		}
		of, err = in.stored(ctx, tx, workspaceID, uploadID)
		return err
	})
	if err != nil || c.Scene != nil {
		return c, err
	}
	leave, err := in.enterProject(ctx, workspaceID)
	if err != nil {
		return c, err
	}
	defer leave()
	scene, err := in.sceneOfUpload(ctx, of, c.Settings)
	if errors.Is(err, fs.ErrNotExist) {
		err = removed() // meanwhile
	}
	c.Scene = &scene
	return c, err
}

// storedUpload is an upload whose files can be read.
type storedUpload struct {
	workspaceID string
	manifest    project.Manifest
	keys        map[string]string // of its parts
	alone       bool              // a .blend without further files
}

// stored reads where the files of an upload are. Error: upload_not_found.
func (in *Intake) stored(ctx context.Context, tx *db.Tx, workspaceID, uploadID string) (of storedUpload, err error) {
	upload, err := tx.UploadByID(ctx, uploadID)
	if db.IsNotFound(err) || err == nil && (upload.WorkspaceID != workspaceID || upload.RemovedAt != 0) {
		return of, removed()
	}
	if err != nil {
		return of, fmt.Errorf("read upload: %w", err)
	}
	own, err := inspection.Read(upload.Scene)
	if err != nil {
		return of, err
	}
	of.workspaceID = workspaceID
	if of.manifest, err = project.ManifestOf(ctx, tx, uploadID); err != nil {
		return of, err
	}
	has, _, err := project.Stored(ctx, tx, workspaceID, of.manifest.Parts())
	of.alone, of.keys = own.Files == nil, map[string]string{}
	for sum, c := range has {
		of.keys[sum] = c.BlobKey
	}
	return of, err
}

// sceneOfUpload reads the scene of a stored upload that is rendered with settings.
func (in *Intake) sceneOfUpload(ctx context.Context, of storedUpload, s settings.Settings) (quote.Scene, error) {
	tree := project.NewTree(ctx, in.Blobs, of.manifest, of.keys)
	if of.alone {
		return in.sceneOfFile(ctx, opener{of.workspaceID, of.manifest.Name(), func() (io.ReadCloser, error) { return tree.Open(of.manifest.Main) }}, s)
	}
	return in.sceneOfProject(ctx, tree, of.manifest.Main, s, in.renderableFor(of.workspaceID), func(*scenefiles.Found) {})
}

// opener is a .blend without further files, whose bytes can be read again.
type opener struct {
	workspaceID string
	filename    string
	open        func() (io.ReadCloser, error)
}

// sceneOfFile reads the scene of a .blend that is rendered with settings.
func (in *Intake) sceneOfFile(ctx context.Context, of opener, s settings.Settings) (scene quote.Scene, err error) {
	if s.OCIO != "" {
		return scene, quote.BadSettings(settings.Refuse("ocio", s.OCIO, "needs a project: send the .blend with the configuration and its files"))
	}
	r, err := of.open()
	if err != nil {
		return scene, fmt.Errorf("open the upload again: %w", err)
	}
	var facts *blendfile.Facts
	ratelimit.Work(ctx, func() { facts, err = blendfile.InspectAs(r, blendfile.Options{Memory: in.Memory}, s) })
	_ = r.Close() // it was only read
	if err != nil {
		return scene, inspection.Refusal(err)
	}
	if err := in.renderable(ctx, of.workspaceID, facts); err != nil {
		return scene, err
	}
	if err := in.completed(ctx, facts, of, s); err != nil {
		return scene, inspection.Refusal(err)
	}
	return inspection.SceneOf(facts, of.filename), nil
}
