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
	newest, bytes := job.RenderedFrame{}, int64(0)
	batches := map[string][]takenFrame{}
	for i, frame := range slices.Sorted(maps.Keys(rows)) {
		row, origin := rows[frame], jobs[int(frame)]
		newest = job.RenderedFrame{Renderer: row.Renderer, Device: row.Device, DeviceName: row.DeviceName, BlenderVersion: row.BlenderVersion}
		bytes += row.SizeBytes
		ordinal := int64(i + 1)
		taken := query.Frame{
			JobID: record.JobID, Frame: frame, Seq: record.Seq + ordinal, Ordinal: ordinal, File: name(int(frame), path.Ext(row.File)), Sha256: row.Sha256, PixelSha256: row.PixelSha256,
			SizeBytes: row.SizeBytes, Width: row.Width, Height: row.Height, Renderer: row.Renderer, Device: row.Device, DeviceName: row.DeviceName,
			BlenderVersion: row.BlenderVersion, BuildHash: row.BuildHash, Switched: row.Switched, AcceptedAt: tx.Now, Blank: row.Blank, Checked: row.Checked, Outputs: row.Outputs, Origin: origin,
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
	outputs, err := takeOutputs(ctx, tx, record.JobID, found.From, rows, jobs)
	if err != nil {
		return err
	}
	return job.CountTaken(ctx, tx, record.JobID, len(rows), bytes+outputs, newest)
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

// takenOutput is what an output that is taken over does not have from its origin.
type takenOutput struct {
	Frame  int64  `json:"frame"`
	Number int64  `json:"number"`
	Name   string `json:"name"`
	RowSum string `json:"row_sum"`
}

// takeOutputs puts the outputs of the frames that a job takes over into it. Their rows name no
// file either. bytes is what they have together.
func takeOutputs(ctx context.Context, tx *db.Tx, jobID string, from []reuse.Origin, rows map[int64]query.FramesToTakeRow, jobs map[int]string) (bytes int64, err error) {
	names := map[string]bool{}
	for _, origin := range from {
		all, err := tx.FrameOutputsOf(ctx, origin.JobID)
		if err != nil {
			return bytes, fmt.Errorf("read the outputs of %s: %w", origin.JobID, err)
		}
		var batch []takenOutput
		for _, o := range all {
			if _, taken := rows[o.Frame]; !taken || jobs[int(o.Frame)] != origin.JobID {
				continue
			}
			name, _ := unused(o.Name, int(o.Frame), func(name string) (bool, error) { return names[name], nil })
			names[name] = true
			bytes += o.SizeBytes
			row := query.FrameOutputAddParams{JobID: jobID, Frame: o.Frame, Number: o.Number, Name: name, Sha256: o.Sha256, SizeBytes: o.SizeBytes}
			batch = append(batch, takenOutput{o.Frame, o.Number, name, outputRows.Of(row)})
		}
		for batch := range slices.Chunk(batch, mostAtOnce) {
			text, err := json.Marshal(batch)
			if err != nil {
				return bytes, fmt.Errorf("take outputs over: %w", err)
			}
			n, err := tx.FrameOutputsTake(ctx, query.FrameOutputsTakeParams{JobID: jobID, Rows: string(text), Origin: origin.JobID})
			if err == nil && n != int64(len(batch)) {
				err = fmt.Errorf("%d of %d are there", n, len(batch))
			}
			if err != nil {
				return bytes, fmt.Errorf("take outputs of %s over: %w", origin.JobID, err)
			}
		}
	}
	return bytes, nil
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
