package frames

import (
	"context"
	"encoding/json"
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
			if jobs[int(row.Frame)] == from.JobID && reuse.Repeatable(row.Switched) && !off[reuse.Class{Renderer: row.Renderer, Device: row.Device, DeviceName: row.DeviceName, BlenderVersion: row.BlenderVersion, BuildHash: row.BuildHash}] {
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
	batches := map[string][]takenFrame{}
	for i, frame := range slices.Sorted(maps.Keys(rows)) {
		row, origin := rows[frame], jobs[int(frame)]
		newest = job.RenderedFrame{Renderer: row.Renderer, Device: row.Device, DeviceName: row.DeviceName, BlenderVersion: row.BlenderVersion}
		ordinal := int64(i + 1)
		taken := query.Frame{
			JobID: record.JobID, Frame: frame, Seq: record.Seq + ordinal, Ordinal: ordinal, File: name(int(frame), path.Ext(row.File)), Sha256: row.Sha256, PixelSha256: row.PixelSha256,
			SizeBytes: row.SizeBytes, Width: row.Width, Height: row.Height, Renderer: row.Renderer, Device: row.Device, DeviceName: row.DeviceName,
			BlenderVersion: row.BlenderVersion, BuildHash: row.BuildHash, Switched: row.Switched, AcceptedAt: tx.Now, Blank: row.Blank, Checked: row.Checked, Origin: origin,
		}
		batches[origin] = append(batches[origin], takenFrame{Frame: frame, Ordinal: ordinal, File: taken.File, RowSum: frameRows.Of(taken)})
	}
	for origin, all := range batches {
		for batch := range slices.Chunk(all, mostAtOnce) {
			if err := takeBatch(ctx, tx, record, origin, batch); err != nil {
				return err
			}
		}
	}
	return job.CountTaken(ctx, tx, record.JobID, len(rows), newest)
}

// mostAtOnce is how many frames one statement takes over.
const mostAtOnce = 1000

// takenFrame is what a frame that is taken over does not have from its origin.
type takenFrame struct {
	Frame   int64  `json:"frame"`
	Ordinal int64  `json:"ordinal"`
	File    string `json:"file"`
	RowSum  string `json:"row_sum"`
}

// takeBatch puts accepted frames of one job into another.
func takeBatch(ctx context.Context, tx *db.Tx, record job.Record, origin string, batch []takenFrame) error {
	text, err := json.Marshal(batch)
	if err != nil {
		return fmt.Errorf("take frames over: %w", err)
	}
	n, err := tx.FramesTake(ctx, query.FramesTakeParams{JobID: record.JobID, Seq: record.Seq, AcceptedAt: tx.Now, Rows: string(text), Origin: origin})
	if err == nil && n != int64(len(batch)) {
		err = fmt.Errorf("%d of %d are there", n, len(batch))
	}
	if err != nil {
		return fmt.Errorf("take frames of %s over: %w", origin, err)
	}
	return nil
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
