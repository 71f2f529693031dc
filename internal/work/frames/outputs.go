package frames

import (
	"context"
	"fmt"
	"path"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/framename"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
)

// Output is a file that Blender wrote for a frame besides its picture. Its bytes are stored with
// those of the picture.
type Output struct {
	Name      string // safe, see framename.Path
	View      bool   // its name begins with that of the picture
	BlobKey   string
	SHA256    string
	SizeBytes int64
}

// rejectOutputs fails a frame if as many outputs of each frame are more than a job may have.
func (f *Frames) rejectOutputs(ctx context.Context, p Picture) (*framecheck.Failure, error) {
	if len(p.Outputs) == 0 {
		return nil, nil
	}
	var record job.Record
	err := f.DB.Read(ctx, func(tx *db.Tx) (err error) {
		record, err = job.Read(ctx, tx, p.JobID)
		return err
	})
	if err != nil || int64(len(p.Outputs))*record.FrameCount <= contract.JobOutputs {
		return nil, err
	}
	return &framecheck.Failure{Code: fault.TooManyOutputs, Final: true, Log: p.Log, Message: fmt.Sprintf(
		"Blender wrote %d files for this frame besides its picture, and the job has %d frames. A job can have %d such files.", len(p.Outputs), record.FrameCount, contract.JobOutputs)}, nil
}

// addOutputs writes the rows of the outputs of an accepted frame, which has a file name. A name
// that another frame's output has gets this frame's number.
func addOutputs(ctx context.Context, tx *db.Tx, p Picture, file string) error {
	for i, o := range p.Outputs {
		o.Name = o.nameWith(p.File, file)
		row := query.FrameOutputAddParams{JobID: p.JobID, Frame: int64(p.Frame), Number: int64(i), Name: o.Name, BlobKey: o.BlobKey, Sha256: o.SHA256, SizeBytes: o.SizeBytes}
		var err error
		row.Name, err = unused(o.Name, p.Frame, func(name string) (bool, error) {
			n, err := tx.FrameOutputNamed(ctx, query.FrameOutputNamedParams{JobID: p.JobID, Name: name})
			return n > 0, err
		})
		row.RowSum = outputRows.Of(row)
		if err == nil {
			err = tx.FrameOutputAdd(ctx, row)
		}
		if err != nil {
			return fmt.Errorf("accept an output of a frame: %w", err)
		}
	}
	return nil
}

// unused is the name of an output of a frame, with the frame's number where an output of another
// frame has the name.
func unused(name string, frame int, taken func(name string) (bool, error)) (string, error) {
	free := name
	for again := 0; ; again++ {
		if has, err := taken(free); err != nil || !has {
			return free, err
		}
		if free = framename.Numbered(name, frame); again > 0 {
			free = framename.Numbered(free, again)
		}
	}
}

// nameWith is the name of an output of a picture that has another name now. A view or a
// preview shares the picture's name.
func (o Output) nameWith(before, now string) string {
	stem := func(file string) string { return strings.TrimSuffix(file, path.Ext(file)) }
	if rest, ok := strings.CutPrefix(o.Name, stem(before)); ok && o.View {
		return framename.Path(stem(now) + rest)
	}
	return o.Name
}

// auditOutputs reports outputs that are not as they were accepted, or of no frame. Those of a frame
// that was taken over have no file.
func auditOutputs(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	const rule = "an output is what was accepted with its frame"
	stray, err := tx.AuditFrameOutputs(ctx)
	if err != nil {
		return fmt.Errorf("audit the outputs of frames: %w", err)
	}
	for _, jobID := range stray {
		breach(rule, jobID, "it has outputs of frames that are not there, or files of frames that nobody rendered for it")
	}
	gone, err := tx.AuditFrameOutputsGone(ctx)
	if err != nil {
		return fmt.Errorf("audit the outputs of frames: %w", err)
	}
	for _, f := range gone {
		breach(rule, fmt.Sprintf("%s/%d", f.JobID, f.Frame), "it was accepted with %d outputs and has %d", f.Outputs, f.Found)
	}
	return outputRows.Audit(ctx, tx, breach, func(row query.FrameOutput) error {
		if framename.Path(row.Name) != row.Name || row.BlobKey != "" && !strings.HasPrefix(row.BlobKey, "frames/"+row.JobID+"/") || !digest.Is(row.Sha256) || row.SizeBytes < 1 {
			breach(rule, fmt.Sprintf("%s/%d/%d", row.JobID, row.Frame, row.Number), "it is %q under %q with %d bytes and the hash %q", row.Name, row.BlobKey, row.SizeBytes, row.Sha256)
		}
		return nil
	})
}
