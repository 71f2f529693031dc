package frames

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/render/framename"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/job"
	"svc.example/internal/work/reuse"
)

// Take puts accepted frames of earlier jobs into a new one, for job.Jobs.Taken, which has
// locked those jobs. Their rows name no file: package result reads them from the job that
// they come from. Error: quote_expired when one of them is not there as it was found.
func Take(ctx context.Context, tx *db.Tx, record job.Record, found reuse.Found) error {
	jobs, err := found.Jobs()
	if err != nil {
		return err
	}
	off, err := reuse.Off(ctx, tx)
	if err != nil {
		return err
	}
	rows := map[int64]query.FramesToTakeRow{}
	for _, from := range found.From {
		accepted, err := tx.FramesToTake(ctx, from.JobID)
		if err != nil {
			return fmt.Errorf("read the frames of %s: %w", from.JobID, err)
		}
		for _, row := range accepted {
			if jobs[int(row.Frame)] == from.JobID && !off[reuse.Class{Renderer: row.Renderer, Device: row.Device, DeviceName: row.DeviceName, BlenderVersion: row.BlenderVersion, BuildHash: row.BuildHash}] {
				rows[row.Frame] = row
			}
		}
	}
	if len(rows) != len(jobs) {
		return job.FrameGone()
	}
	name, err := namer(ctx, tx, record)
	if err != nil {
		return err
	}
	newest := job.RenderedFrame{}
	for i, frame := range slices.Sorted(maps.Keys(rows)) {
		row := rows[frame]
		newest = job.RenderedFrame{Renderer: row.Renderer, Device: row.Device, DeviceName: row.DeviceName, BlenderVersion: row.BlenderVersion}
		ordinal := int64(i + 1)
		taken := query.FrameCreateParams{
			JobID: record.JobID, Frame: frame, Seq: record.Seq + ordinal, Ordinal: ordinal, File: name(int(frame), path.Ext(row.File)), Sha256: row.Sha256, PixelSha256: row.PixelSha256,
			SizeBytes: row.SizeBytes, Width: row.Width, Height: row.Height, Renderer: row.Renderer, Device: row.Device, DeviceName: row.DeviceName,
			BlenderVersion: row.BlenderVersion, BuildHash: row.BuildHash, AcceptedAt: tx.Now, Blank: row.Blank, Checked: row.Checked, Origin: jobs[int(frame)],
		}
		taken.RowSum = frameRows.Of(taken)
		if _, err := tx.FrameCreate(ctx, taken); err != nil {
			return fmt.Errorf("take frame %d over: %w", frame, err)
		}
	}
	return job.CountTaken(ctx, tx, record.JobID, len(rows), newest)
}

// namer names the frames of a job as nameOf does.
func namer(ctx context.Context, tx *db.Tx, record job.Record) (func(frame int, extension string) string, error) {
	scene, chosen, err := PricedScene(ctx, tx, record.JobID)
	if err != nil {
		return nil, err
	}
	if chosen.OutputName == settings.NameScene {
		return framename.Of(scene.OutputName).File, nil
	}
	return func(frame int, extension string) string { return fmt.Sprintf("frame_%04d%s", frame, extension) }, nil
}
