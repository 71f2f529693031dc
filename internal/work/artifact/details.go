package artifact

import (
	"archive/zip"
	"context"
	"fmt"
	"io"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/result"
)

// details are what a job's frames have besides their rows.
type details struct {
	origins map[string]receipt.Origin // of frames that were taken over, by their job
	strips  map[int64][]receipt.Strip // by frame
	outputs outputs
}

// outputs are the files of File Output nodes, by frame.
type outputs map[int64][]query.FrameOutputsOfRow

func detailsOf(ctx context.Context, tx *db.Tx, jobID string, frames []result.Frame) (d details, err error) {
	if d.origins, err = originsOf(ctx, tx, frames); err != nil {
		return d, err
	}
	if d.strips, err = stripsOf(ctx, tx, jobID); err != nil {
		return d, err
	}
	rows, err := tx.FrameOutputsOf(ctx, jobID)
	if err != nil {
		return d, fmt.Errorf("read the outputs of %s: %w", jobID, err)
	}
	d.outputs = outputs{}
	for _, r := range rows {
		d.outputs[r.Frame] = append(d.outputs[r.Frame], r)
	}
	return d, nil
}

// stripsOf reads the strips of a job's accepted frames, by frame.
func stripsOf(ctx context.Context, tx *db.Tx, jobID string) (map[int64][]receipt.Strip, error) {
	rows, err := tx.StripsOfJob(ctx, jobID)
	if err != nil {
		return nil, fmt.Errorf("read the strips of %s: %w", jobID, err)
	}
	return receiptStrips(rows), nil
}

// receiptStrips are the strips of accepted frames as the receipt lists them, by frame. Neighbours
// that are not equal to the bit were accepted because they agree within the noise of GPUs.
func receiptStrips(rows []query.Strip) map[int64][]receipt.Strip {
	strips := map[int64][]receipt.Strip{}
	for _, r := range rows {
		s := receipt.Strip{From: int(r.RowFrom), To: int(r.RowTo), SHA256: r.Sha256, Above: r.SeamAbove, Below: r.SeamBelow}
		if above := strips[r.Frame]; len(above) > 0 {
			s.Alike = above[len(above)-1].Below != s.Above
		}
		strips[r.Frame] = append(strips[r.Frame], s)
	}
	return strips
}

// receiptOutputs are a frame's outputs as the receipt and the manifest list them; nil for none.
func receiptOutputs(rows []query.FrameOutputsOfRow) (all []receipt.Output) {
	for _, r := range rows {
		all = append(all, receipt.Output{Name: r.Name, SHA256: r.Sha256, SizeBytes: r.SizeBytes})
	}
	return all
}

// packOutputs copies a frame's outputs into the ZIP. Errors are those of copyFrame.
func (a *Artifacts) packOutputs(ctx context.Context, z *zip.Writer, origins *result.Origins, f result.Frame, outputs []query.FrameOutputsOfRow) error {
	for _, o := range outputs {
		w, err := create(z, receipt.OutputEntry(o.Name), db.Time(f.AcceptedAt))
		if err == nil {
			err = a.copyOutput(ctx, w, origins, f, o)
		}
		if err != nil {
			return fmt.Errorf("pack %s: %w", o.Name, err)
		}
	}
	return nil
}

// readOutputs reads a frame's outputs, to see whether they are there. Errors are those of
// copyFrame.
func (a *Artifacts) readOutputs(ctx context.Context, origins *result.Origins, f result.Frame, outputs []query.FrameOutputsOfRow) error {
	for _, o := range outputs {
		if err := a.copyOutput(ctx, io.Discard, origins, f, o); err != nil {
			return err
		}
	}
	return nil
}

func (a *Artifacts) copyOutput(ctx context.Context, to io.Writer, origins *result.Origins, f result.Frame, o query.FrameOutputsOfRow) (err error) {
	var r io.ReadCloser
	if f.Origin != "" {
		r, err = origins.OpenOutput(ctx, f, o.Number)
	} else {
		r, err = a.Blobs.Open(ctx, o.BlobKey)
	}
	return copyHashed(to, r, err, f.Frame, o.Sha256)
}
