package frames

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/id"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/framename"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/reuse"
)

// Audit reports frames that their job or its scene does not explain, jobs whose accepted
// frames differ from what they count, and jobs whose missing frames are not all on the
// queue. It reads only, in the transaction of the whole
// audit. rule is a promise in words, subject the job's id. An error means that the tables
// cannot be read.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	counted, err := tx.AuditFrames(ctx)
	if err != nil {
		return fmt.Errorf("audit frames: %w", err)
	}
	for _, r := range counted {
		breach("a frame has one winner", r.JobID, "%s with %d of %d frames, but %d frame rows", r.Status, r.FramesCompleted, r.FrameCount, r.Frames)
	}
	if err := auditRows(ctx, tx, breach); err != nil {
		return err
	}
	if err := candidateRows.Audit(ctx, tx, breach, nil); err != nil {
		return err
	}
	if err := auditOutputs(ctx, tx, breach); err != nil {
		return err
	}
	leased, err := tx.AuditLeases(ctx)
	if err != nil {
		return fmt.Errorf("audit the leases of frames: %w", err)
	}
	for _, r := range leased {
		breach("missing frames are leased out", r.JobID, "%s with %d of %d frames, but %d leases", r.Status, r.FramesCompleted, r.FrameCount, r.Leases)
	}
	return nil
}

// clockSlack is how far times of one job may run against each other. On SQLite they come
// from the machine's clock, which may be set back. An hour, in microseconds.
const clockSlack = 3_600_000_000

// mostAttempts is above the number of attempts that any frame can have.
const mostAttempts = 1 << 31

// auditRows compares every accepted frame with its job and its scene, page by page.
func auditRows(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	orphans, err := tx.AuditFrameOrphans(ctx)
	if err != nil {
		return fmt.Errorf("audit frames: %w", err)
	}
	if orphans > 0 {
		breach("a frame is what was accepted", "frames", "%d are of no job", orphans)
	}
	last := query.AuditFrameRowsParams{}
	var scene quote.Scene // of the job of last
	var record job.Record
	var seen []framecheck.AcceptedFrame // of the same
	var ordered framelist.List
	for {
		rows, err := tx.AuditFrameRows(ctx, last)
		if err != nil {
			return fmt.Errorf("audit frames: %w", err)
		}
		if len(rows) == 0 {
			auditFindings(record, seen, breach)
			return nil
		}
		for _, f := range rows {
			if f.JobID != last.JobID {
				auditFindings(record, seen, breach)
				record, seen = f.Job, nil
				// A job whose frames cannot be read is a breach of its order.
				ordered, _ = quote.ListOf(record.FrameStart, record.FrameEnd, record.FrameStep, record.FrameCount, record.Frames)
				row, err := tx.JobScene(ctx, f.JobID)
				scene = quote.Scene{}
				// A scene that is gone or cannot be read is a breach of the upload.
				if err == nil {
					_ = json.Unmarshal([]byte(row.Scene), &scene)
				} else if !db.IsNotFound(err) {
					return fmt.Errorf("audit frames: %w", err)
				}
			}
			frameRows.Check(f, breach)
			if why := strange(f, scene, ordered); why != "" {
				breach("a frame is what was accepted", fmt.Sprintf("%s/%d", f.JobID, f.Frame), "%s", why)
			}
			seen = append(seen, framecheck.AcceptedFrame{Frame: int(f.Frame), Finding: f.Finding, PixelSHA256: f.PixelSha256})
			last = query.AuditFrameRowsParams{JobID: f.JobID, Frame: f.Frame}
		}
	}
}

// auditFindings compares a job's recorded findings with its frames. A job without frames
// is checked with the jobs.
func auditFindings(record job.Record, seen []framecheck.AcceptedFrame, breach func(rule, subject, format string, args ...any)) {
	if record.Findings == framecheck.NotLookedFor {
		return
	}
	now := framecheck.Find(seen, int64(len(seen)) == record.FrameCount).Stored()
	if len(seen) > 0 && record.Findings != now {
		breach("a job is told what its frames look like", record.JobID, "it was told %.200s, its frames give %.200s", record.Findings, now)
	}
}

// delivered is the name with which a worker delivers a frame.
func delivered(f query.AuditFrameRowsRow) string {
	return fmt.Sprintf("frame_%04d%s", f.Frame, path.Ext(f.File))
}

// named is the name that a frame has by what was ordered. Of a scene that is gone any is right.
func named(f query.AuditFrameRowsRow, scene quote.Scene) string {
	chosen, err := settings.Read(f.Job.Settings)
	switch {
	case err != nil || chosen.OutputName != settings.NameScene:
		return delivered(f)
	case scene.OutputName == "":
		return f.File
	}
	return framename.Of(scene.OutputName).File(int(f.Frame), path.Ext(f.File))
}

// strange says how a row contradicts being an accepted frame of its job; "" if it does
// not. It is compared with a completed job's receipt elsewhere.
func strange(f query.AuditFrameRowsRow, scene quote.Scene, ordered framelist.List) string {
	// Before its first frame, a job's seq is 1, and one more for each move of its state.
	if f.Origin != "" {
		return strangeTaken(f, scene, ordered)
	}
	seq := f.Ordinal + 2
	if f.Job.Flow == string(job.FlowPublicV1) {
		seq++
	}
	width, height := scene.PictureSize()
	switch {
	case !ordered.Has(int(f.Frame)):
		return fmt.Sprintf("the job has frames %s", quote.ListText(int(f.Job.FrameStart), int(f.Job.FrameEnd), int(f.Job.FrameStep), f.Job.Frames))
	case f.Ordinal < 1 || f.Ordinal > f.Job.FrameCount || f.Seq < seq || (f.Seq != seq && job.Reopened(f.Job) <= 0):
		return fmt.Sprintf("it was accepted as number %d at seq %d", f.Ordinal, f.Seq)
	case f.File != named(f, scene) || !strings.HasPrefix(f.BlobKey, "frames/"+f.JobID+"/") || !strings.HasSuffix(f.BlobKey, delivered(f)):
		return fmt.Sprintf("it is %q under %q", f.File, f.BlobKey)
	case !digest.Is(f.Sha256) || !digest.Is(f.PixelSha256) || f.SizeBytes < 1:
		return fmt.Sprintf("it has %d bytes with the hashes %q and %q", f.SizeBytes, f.Sha256, f.PixelSha256)
	case width > 0 && (f.Width != int64(width) || f.Height != int64(height)), f.Width < 1 || f.Height < 1:
		return fmt.Sprintf("it is %dx%d, the scene's pictures are %dx%d", f.Width, f.Height, width, height)
	case !id.Valid(id.Node, f.WorkerID) || f.Attempt < 1 || f.Attempt > mostAttempts || f.RenderUs < 0:
		return fmt.Sprintf("worker %q rendered it in attempt %d in %d microseconds", f.WorkerID, f.Attempt, f.RenderUs)
	case (f.Renderer != contract.RendererID && f.Renderer != contract.SyntheticRenderer) || (f.Device != "GPU" && f.Device != "CPU") || f.BlenderVersion == "":
		return fmt.Sprintf("%q rendered it on %q by %q", f.Renderer, f.Device, f.BlenderVersion)
	case f.AcceptedAt < f.Job.ClaimedAt-clockSlack || f.AcceptedAt > f.Job.UpdatedAt+clockSlack:
		return fmt.Sprintf("it was accepted at %d, the job was claimed at %d and changed last at %d", f.AcceptedAt, f.Job.ClaimedAt, f.Job.UpdatedAt)
	case f.Checked != "" && f.Checked != framecheck.CheckedPixels && f.Checked != framecheck.CheckedStructure:
		return fmt.Sprintf("of it %q was checked", f.Checked)
	case !soundTimes(f.Times):
		return fmt.Sprintf("its times are %.200q", f.Times)
	case f.Blank < 0 || f.Blank > framecheck.WholeFrame || (f.Finding != "" && (f.Finding == framecheck.FindingRepeated || !framecheck.IsFinding(f.Finding))):
		return fmt.Sprintf("%d parts in a thousand are blank, the finding is %q", f.Blank, f.Finding)
	}
	return ""
}

// strangeTaken is strange for a frame that was taken over from another job. That it shows the
// same as there, a completed job's receipt says.
func strangeTaken(f query.AuditFrameRowsRow, scene quote.Scene, ordered framelist.List) string {
	switch {
	case !ordered.Has(int(f.Frame)):
		return fmt.Sprintf("the job has frames %s", quote.ListText(int(f.Job.FrameStart), int(f.Job.FrameEnd), int(f.Job.FrameStep), f.Job.Frames))
	case f.Ordinal < 1 || f.Ordinal > f.Job.FrameCount || f.Seq != f.Ordinal+1:
		return fmt.Sprintf("it was taken over as number %d at seq %d", f.Ordinal, f.Seq)
	case f.File != named(f, scene) || f.BlobKey != "":
		return fmt.Sprintf("it is %q under %q", f.File, f.BlobKey)
	case !digest.Is(f.Sha256) || !digest.Is(f.PixelSha256) || f.SizeBytes < 1 || f.Width < 1 || f.Height < 1:
		return fmt.Sprintf("it has %d bytes and %dx%d pixels with the hashes %q and %q", f.SizeBytes, f.Width, f.Height, f.Sha256, f.PixelSha256)
	case f.WorkerID != "" || f.Attempt != 0 || f.RenderUs != 0 || f.Times != "" || f.Finding != "" || !reuse.Repeatable(f.Switched):
		return fmt.Sprintf("worker %q rendered it in attempt %d in %d microseconds", f.WorkerID, f.Attempt, f.RenderUs)
	case f.AcceptedAt != f.Job.CreatedAt || !id.Valid(id.Job, f.Origin) || f.Origin == f.JobID:
		return fmt.Sprintf("it was taken over from %q at %d, the job is of %d", f.Origin, f.AcceptedAt, f.Job.CreatedAt)
	}
	return ""
}

// soundTimes reports whether a row's times are some that the service stores.
func soundTimes(stored string) bool {
	times, err := receipt.ParseTimes(stored)
	return err == nil && times.Within(math.MaxFloat64)
}
