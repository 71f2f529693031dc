package preview

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/quote"
)

// Order queues a preview of a frame of an upload, in the caller's transaction; frame nil
// means the middle of the quoted range. It has the settings of the newest quote. A preview of
// the same frame with the same settings that is in progress or done is returned instead: an
// upload never changes. Errors: previews_off,
// workspace_frozen, upload_not_found, invalid_frame_range, free_preview_limit_reached.
func (p *Previews) Order(ctx context.Context, tx *db.Tx, workspaceID, uploadID string, frame *int) (View, error) {
	if p.Limits.Off() {
		return View{}, fault.New(fault.PreviewsOff, "This service has no free previews.")
	}
	// The lock orders all that count a workspace's previews, in all processes.
	if _, err := tx.WorkspaceLock(ctx, workspaceID); err != nil {
		return View{}, fmt.Errorf("lock workspace: %w", err)
	}
	if err := freeze.Require(ctx, tx, workspaceID); err != nil {
		return View{}, err
	}
	upload, err := quote.Upload(ctx, tx, workspaceID, uploadID)
	if err != nil {
		return View{}, err
	}
	quoted, err := p.quoted(ctx, tx, workspaceID, upload.UploadID)
	if err != nil {
		return View{}, err
	}
	number := quoted.middle()
	if frame != nil {
		number = int64(*frame)
	}
	if number < contract.MinFrames || number > contract.MaxFrameNumber {
		return View{}, fault.New(fault.InvalidFrameRange, "The frame is %d; it must be %d to %d.", number, contract.MinFrames, contract.MaxFrameNumber)
	}
	row, err := tx.PreviewSame(ctx, query.PreviewSameParams{UploadID: uploadID, Frame: number, Settings: quoted.settings})
	if db.IsNotFound(err) {
		row, err = p.create(ctx, tx, workspaceID, uploadID, number, quoted)
	}
	if err != nil {
		return View{}, fmt.Errorf("order a preview: %w", err)
	}
	return p.view(ctx, tx, row, quoted)
}

// create queues a preview, if the limits allow one more.
func (p *Previews) create(ctx context.Context, tx *db.Tx, workspaceID, uploadID string, frame int64, quoted quotedRange) (query.Preview, error) {
	used, err := tx.PreviewsUsed(ctx, query.PreviewsUsedParams{UploadID: uploadID, WorkspaceID: workspaceID, Since: tx.Now - day.Microseconds()})
	if err != nil {
		return query.Preview{}, err
	}
	if err := p.Limits.check(used); err != nil {
		return query.Preview{}, err
	}
	// Last, because a scene can be long and previews are few.
	needs, err := needsOf(ctx, tx, uploadID)
	if err != nil {
		return query.Preview{}, err
	}
	row := query.Preview{
		PreviewID: id.New(id.Preview), WorkspaceID: workspaceID, UploadID: uploadID, Frame: frame, Status: string(Queued),
		Ordinal: used.OfWorkspace + 1, Needs: int64(needs), Settings: quoted.settings, CreatedAt: tx.Now,
	}
	row.RowSum = previewRows.Of(row)
	err = tx.PreviewCreate(ctx, query.PreviewCreateParams{
		PreviewID: row.PreviewID, WorkspaceID: row.WorkspaceID, UploadID: row.UploadID, Frame: row.Frame, Status: row.Status,
		Ordinal: row.Ordinal, Needs: row.Needs, Settings: row.Settings, CreatedAt: row.CreatedAt, RowSum: row.RowSum,
	})
	if err != nil {
		return row, err
	}
	if err := lease.Add(ctx, tx, Queue, row.PreviewID, frame, time.Time{}); err != nil {
		return row, err
	}
	return row, lease.Add(ctx, tx, lease.ExpireQueue, ExpirePreview+"/"+row.PreviewID, 0, tx.Time().Add(contract.PreviewWait))
}

// needsOf is what Blender must be built with for the scene of an upload.
func needsOf(ctx context.Context, tx *db.Tx, uploadID string) (buildoption.Set, error) {
	text, err := tx.PreviewScene(ctx, uploadID)
	var scene quote.Scene
	if err == nil {
		err = json.Unmarshal([]byte(text), &scene)
	}
	if err != nil {
		return 0, fmt.Errorf("read the scene of %s: %w", uploadID, err)
	}
	return scene.Needs(), nil
}

// limitDetail is the detail of free_preview_limit_reached. AvailableAt is when the
// workspace has a preview again; null for an upload, which gets no further ones.
type limitDetail struct {
	Scope       string     `json:"scope"` // upload or workspace
	Used        int64      `json:"used"`
	Limit       int        `json:"limit"`
	AvailableAt *time.Time `json:"available_at"`
}

// check refuses a preview beyond the limits. Errors: free_preview_limit_reached.
func (l Limits) check(used query.PreviewsUsedRow) error {
	switch {
	case used.OfUpload >= int64(l.Upload):
		return fault.New(fault.PreviewLimitReached, "This upload has used its %d free previews.", l.Upload).
			With(limitDetail{Scope: "upload", Used: used.OfUpload, Limit: l.Upload})
	case used.OfWorkspace >= int64(l.Day):
		again := db.Time(used.Oldest).Add(day)
		return fault.New(fault.PreviewLimitReached, "This workspace has used its %d free previews of the last 24 hours. The next one is available at %s.", used.OfWorkspace, again.Format(time.RFC3339)).
			With(limitDetail{Scope: "workspace", Used: used.OfWorkspace, Limit: l.Day, AvailableAt: &again})
	}
	return nil
}
