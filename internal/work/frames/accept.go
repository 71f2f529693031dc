package frames

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"path"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/framename"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt"
)

// Picture is a frame that a worker delivers. Its bytes are already stored under BlobKey:
// a row must never name a file that is not on disk.
type Picture struct {
	framecheck.Picture // Holder is Lease.Holder

	Lease      lease.Ref
	JobID      string
	Frame      int
	BlobKey    string // where the caller has stored the bytes
	SHA256     string // of the stored file, hex
	SizeBytes  int64
	RenderTime time.Duration // Blender's own, as the worker reports it; stored in microseconds
	Played     int           // frames that were computed before this one, and not rendered
	PlayTime   time.Duration // that they took
	Times      receipt.Times // where the attempt's time went, as the worker reports; zero when it does not
	TellsTimes bool
	DeviceName string // as the driver names it
	Version    string // of Blender
	BuildHash  string
	// Small is the picture at most SmallSide pixels wide and high, of a GPU's frame that
	// Compares; else nil.
	Small    *image.RGBA
	Switched []string // settings that the worker changed to render at all
	Joined   bool     // of strips that several workers rendered
	// Outputs are the files of File Output nodes, in the worker's order.
	Outputs []Output
}

// Admit checks, before a byte of a picture is read, that its worker may deliver it: the
// lease, and then its description. known reports that the picture has been accepted before:
// the answer was lost on the way. Errors: lease_lost; frame_rejected, after which the
// attempt has failed.
func (f *Frames) Admit(ctx context.Context, p Picture) (scene framecheck.Scene, known bool, err error) {
	if scene, err = f.SceneOf(ctx, p.JobID); err != nil {
		return scene, false, err
	}
	err = f.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if known, err = isRepeated(ctx, tx, p); known || err != nil {
			return err
		}
		all, err := candidatesOf(ctx, tx, p.JobID, p.Frame)
		if err != nil {
			return err
		}
		for _, c := range all {
			known = known || (c.Lease == p.Lease && c.SHA256 == p.SHA256)
		}
		if known {
			return nil
		}
		if err := lease.Check(ctx, tx, p.Lease); !errors.Is(err, lease.ErrLost) {
			return err
		}
		if lapsed, err := lease.HasLapsed(ctx, tx, p.Lease); lapsed || err != nil {
			return err // it comes late, and nobody else has the frame
		}
		return leaseLost(p.Lease.ID)
	})
	if err != nil || known {
		return scene, known, err
	}
	failure := framecheck.RejectUnread(p.Picture, scene)
	if failure == nil {
		failure, err = f.rejectOutputs(ctx, p)
	}
	if failure != nil {
		err = f.Refuse(ctx, p.Lease, *failure)
	}
	return scene, false, err
}

// isRepeated reports whether a frame has been accepted with this picture: the same worker,
// attempt and bytes mean that an answer was lost on the way, and that the worker asks again.
// Anything else is a second picture of a frame that already has one. Error: lease_lost.
func isRepeated(ctx context.Context, tx *db.Tx, p Picture) (bool, error) {
	frame, err := tx.FrameGet(ctx, query.FrameGetParams{JobID: p.JobID, Frame: int64(p.Frame)})
	switch {
	case db.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read frame: %w", err)
	case frame.WorkerID == p.Lease.Holder && frame.Attempt == p.Lease.Attempt && frame.Sha256 == p.SHA256:
		return true, nil
	}
	return false, leaseLost(p.Lease.ID)
}

// Accept stores a frame of the worker that holds its lease, if the frame check passes it.
// Repeating a report succeeds and changes nothing; kept is then false, and the caller
// removes the bytes of the repetition. The last frame moves the job to packaging. Errors:
// lease_lost; frame_rejected, after which the attempt has failed. A crash after the commit
// loses only the answer: the worker repeats its report and gets a success. The scene is
// read before the transaction, because it never changes.
func (f *Frames) Accept(ctx context.Context, p Picture) (kept bool, err error) {
	scene, err := f.SceneOf(ctx, p.JobID)
	if err != nil {
		return false, err
	}
	if bad := framecheck.Reject(p.Picture, scene); bad != nil {
		return false, f.Refuse(ctx, p.Lease, *bad)
	}
	var suspect *framecheck.Failure
	take := func(tx *db.Tx) error {
		kept, suspect = false, nil // the transaction may run again after a conflict
		if known, err := isRepeated(ctx, tx, p); known || err != nil {
			return err
		}
		var earlier []framecheck.Attempt
		if p.Lease.Attempt > 1 { // a first attempt has no history, which is nearly every frame
			if earlier, err = dispatch.FailedAttempts(ctx, tx, p.Lease.ID); err != nil {
				return err
			}
		}
		finding, failure := framecheck.Judge(p.Picture, scene, earlier)
		if suspect = failure; suspect != nil {
			return f.failFrame(ctx, tx, p.Lease, *suspect)
		}
		kept, err = f.compare(ctx, tx, p, finding, earlier)
		return err
	}
	err = f.DB.Write(ctx, take)
	if fault.Is(err, fault.LeaseLost) {
		err = f.takeLate(ctx, p.Lease, take)
	}
	// The failed attempt is committed by now: an error inside the transaction would have
	// undone it.
	if err == nil && suspect != nil {
		err = fault.New(fault.FrameRejected, "%s", suspect.Message)
	}
	return kept && err == nil, err
}

// takeLate is take for a picture that comes after its lease has lapsed, which counts if
// nobody else has the frame. Error: lease_lost.
func (f *Frames) takeLate(ctx context.Context, ref lease.Ref, take func(*db.Tx) error) error {
	return f.DB.Write(ctx, func(tx *db.Tx) error {
		resumed, err := f.resume(ctx, tx, []lease.Ref{ref})
		if errors.Is(err, dispatch.ErrOtherKind) || (err == nil && len(resumed) == 0) {
			err = leaseLost(ref.ID)
		}
		if err != nil {
			return err
		}
		return take(tx)
	})
}

// Refuse fails the attempt that delivered a picture. It always returns an error:
// frame_rejected when the attempt has failed, lease_lost otherwise.
func (f *Frames) Refuse(ctx context.Context, ref lease.Ref, failure framecheck.Failure) error {
	if err := f.Fail(ctx, ref, failure); err != nil {
		return err
	}
	return fault.New(fault.FrameRejected, "%s", failure.Message)
}

// accept counts the frame before it finishes the lease: the job's row is locked first.
// The lease is finished by holder and attempt, which fences late reports: the transaction
// of one rolls back with everything that it has counted.
// held is the claim that ends; the picture may be of an earlier one.
func (f *Frames) accept(ctx context.Context, tx *db.Tx, held lease.Ref, p Picture, finding string, earlier []framecheck.Attempt) error {
	record, err := job.CountFrame(ctx, tx, p.JobID, job.RenderedFrame{
		RenderTime: p.RenderTime, Renderer: p.Renderer, Device: p.Device, DeviceName: p.DeviceName, BlenderVersion: p.Version,
	})
	if errors.Is(err, job.ErrNotRendering) {
		return leaseLost(p.Lease.ID)
	}
	if err != nil {
		return err
	}
	if err := lease.Finish(ctx, tx, held); errors.Is(err, lease.ErrLost) {
		return leaseLost(held.ID)
	} else if err != nil {
		return err
	}
	if err := insertFrame(ctx, tx, p, record, finding); err != nil {
		return err
	}
	if f.Cuts != nil && held.Attempt > 1 { // one that is cut has been claimed more than once
		if err := f.Cuts.Close(ctx, tx, held, p.JobID, p.Frame, p.Joined); err != nil {
			return err
		}
	}
	if f.Accepted != nil {
		tx.AfterCommit(func() { f.Accepted(p.RenderTime, p.Times) })
	}
	if finding != "" {
		if err := job.AddFinding(ctx, tx, record, finding, p.Frame); err != nil {
			return err
		}
	}
	if err := dispatch.RecordPlay(ctx, tx, job.ForDispatch(record), int64(p.Played), p.PlayTime); err != nil {
		return err
	}
	// A job of one frame takes the first case only: it is complete, and no estimate is
	// needed.
	switch record.FramesCompleted {
	case record.FrameCount:
		err = f.finishRendering(ctx, tx, record)
	case record.FramesReused + 1:
		err = dispatch.RecordFirstFrame(ctx, tx, job.ForDispatch(record))
	}
	if err != nil {
		return err
	}
	return f.credit(ctx, tx, p, finding, earlier)
}

// timesSlack is by how much the times of an attempt, by its worker's clock, may exceed those
// of the service, in seconds.
const timesSlack = 5

// insertFrame writes the row of an accepted frame. record is the job after counting it:
// its Seq orders the frame in the event stream.
func insertFrame(ctx context.Context, tx *db.Tx, p Picture, record job.Record, finding string) error {
	// Sorted, so that equal settings are equal text.
	slices.Sort(p.Switched)
	// The service does not know when this attempt began. It is within the job's.
	if !p.Times.Within(float64(tx.Now-record.ClaimedAt)/1e6 + timesSlack) {
		p.Times = receipt.Times{}
	}
	times, err := p.Times.Text()
	if err != nil {
		return err
	}
	file, err := nameOf(ctx, tx, record, p)
	if err != nil {
		return err
	}
	row := query.FrameCreateParams{
		JobID: p.JobID, Frame: int64(p.Frame), Seq: record.Seq, Ordinal: record.FramesCompleted, File: file, BlobKey: p.BlobKey, Sha256: p.SHA256, PixelSha256: p.PixelSHA256,
		SizeBytes: p.SizeBytes, Width: int64(p.Width), Height: int64(p.Height), RenderUs: p.RenderTime.Microseconds(),
		WorkerID: p.Lease.Holder, Attempt: p.Lease.Attempt, Renderer: p.Renderer, Device: p.Device, DeviceName: p.DeviceName,
		BlenderVersion: p.Version, BuildHash: p.BuildHash, Switched: strings.Join(p.Switched, ","), Log: p.Log, AcceptedAt: tx.Now,
		Finding: finding, Blank: p.Blank(), Times: times, Checked: p.Checked(), Outputs: int64(len(p.Outputs)),
	}
	row.RowSum = frameRows.Of(row)
	if _, err := tx.FrameCreate(ctx, row); err != nil {
		return fmt.Errorf("accept frame: %w", err)
	}
	return addOutputs(ctx, tx, p, file)
}

// nameOf is the name of a frame: the worker's, or the scene's own where that was ordered.
func nameOf(ctx context.Context, tx *db.Tx, record job.Record, p Picture) (string, error) {
	chosen, err := settings.Read(record.Settings)
	if err != nil || chosen.OutputName != settings.NameScene {
		return p.File, err
	}
	scene, _, err := PricedScene(ctx, tx, record.JobID)
	return framename.Of(scene.OutputName).File(p.Frame, path.Ext(p.File)), err
}

// finishRendering moves a job with all frames to packaging, unless recheckBlanks reopens
// one of them.
func (f *Frames) finishRendering(ctx context.Context, tx *db.Tx, record job.Record) error {
	record, err := f.recheckBlanks(ctx, tx, record)
	if err != nil {
		return err
	}
	if err := tell(ctx, tx, record); err != nil {
		return err
	}
	if job.Status(record.Status) != job.Rendering || record.FramesCompleted < record.FrameCount {
		return nil
	}
	return job.BeginPackaging(ctx, tx, record)
}

// tell writes the findings about a job's accepted frames into the job's record. It reads
// all of them, so it is for a job whose frames are all in, or that has just lost one.
func tell(ctx context.Context, tx *db.Tx, record job.Record) error {
	rows, err := tx.FramesFound(ctx, record.JobID)
	if err != nil {
		return fmt.Errorf("read frames: %w", err)
	}
	return job.SetFindings(ctx, tx, record.JobID, framecheck.Find(found(rows), int64(len(rows)) == record.FrameCount))
}

// found is what findings are made of.
func found(rows []query.FramesFoundRow) []framecheck.AcceptedFrame {
	frames := make([]framecheck.AcceptedFrame, len(rows))
	for i, r := range rows {
		frames[i] = framecheck.AcceptedFrame{Frame: int(r.Frame), Finding: r.Finding, PixelSHA256: r.PixelSha256}
	}
	return frames
}

// credit counts a good frame for its worker, and a fault for each worker that failed
// the same frame before: now it is proven that the frame could be rendered.
// Workers' rows are locked last, which is the order of every transaction here.
func (f *Frames) credit(ctx context.Context, tx *db.Tx, p Picture, finding string, earlier []framecheck.Attempt) error {
	if err := f.Workers.RecordGoodFrame(ctx, tx, p.Lease.Holder); err != nil {
		return err
	}
	for _, workerID := range framecheck.WorkersAtFault(p.Picture, finding, earlier) {
		if err := f.Workers.RecordFault(ctx, tx, workerID); err != nil {
			return err
		}
	}
	return nil
}

// SceneOf reads the facts of a job's scene that its pictures must match. Error:
// lease_lost if there is no such job.
func (f *Frames) SceneOf(ctx context.Context, jobID string) (framecheck.Scene, error) {
	var scene quote.Scene
	var chosen settings.Settings
	err := f.DB.Read(ctx, func(tx *db.Tx) (err error) {
		scene, chosen, err = PricedScene(ctx, tx, jobID)
		return err
	})
	if db.IsNotFound(err) {
		return framecheck.Scene{}, fault.New(fault.LeaseLost, "There is no render %s.", jobID)
	}
	if err != nil {
		return framecheck.Scene{}, err
	}
	width, height := scene.PictureSize()
	return framecheck.Scene{
		Width: width, Height: height, OutputFormat: scene.OutputFormat, MovieOutput: scene.MovieOutput, Settings: chosen.Picture(),
		MissingFiles: len(scene.MissingFiles)+len(scene.UnreadableFiles)+len(scene.Sequences) > 0,
	}, nil
}

// PricedScene reads the scene that a job's price is for, and what was chosen of the file.
func PricedScene(ctx context.Context, tx *db.Tx, jobID string) (scene quote.Scene, chosen settings.Settings, err error) {
	row, err := tx.JobScene(ctx, jobID)
	if err == nil {
		err = json.Unmarshal([]byte(row.Scene), &scene)
	}
	if err == nil {
		chosen, err = settings.Read(row.Settings)
	}
	if err != nil {
		return scene, chosen, fmt.Errorf("read the scene of %s: %w", jobID, err)
	}
	return scene, chosen, nil
}
