package job

import (
	"context"
	"fmt"
	"reflect"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/receipt"
)

// Differs says how a job's row contradicts its receipt; "" if it does not. The
// receipt is signed, so the row is the one that is wrong.
func Differs(job Record, r receipt.Receipt) string {
	for _, c := range []struct {
		what          string
		row, received any
	}{
		{"job", job.JobID, r.JobID},
		{"workspace", job.WorkspaceID, r.WorkspaceID},
		{"status", job.Status, string(Completed)},
		{"input", mainFile(job), r.Input.File},
		{"artifact", receipt.File{Filename: job.ArtifactFilename, SHA256: job.ArtifactSha256, SizeBytes: job.ArtifactSize}, r.Artifact},
		{"frames", [4]int64{job.FrameStart, job.FrameEnd, job.FrameStep, job.FrameCount},
			[4]int64{int64(r.FrameStart), int64(r.FrameEnd), int64(r.FrameStep), int64(r.FrameCount)}},
		{"frame_list", job.Frames, r.FrameList},
		{"settings", job.Settings, r.Settings.Text()},
		{"frames_completed", job.FramesCompleted, int64(len(r.Frames))},
		{"renderer", [2]string{job.Renderer, job.BlenderVersion}, [2]string{r.Renderer.ID, r.Renderer.Version}},
		{"device", [2]string{job.RenderDevice, job.DeviceName}, [2]string{r.RenderDevice, r.DeviceName}},
		{"render_seconds", seconds(job.RenderUs), r.RenderSeconds},
		{"quote", [2]string{job.QuoteID, job.PricingVersion}, [2]string{r.QuoteID, r.PricingVersion}},
		{"charged_cents", job.ChargedCents, r.ChargedCents},
		{"currency", contract.Currency, r.Currency},
		{"claimed_at", job.ClaimedAt, db.Micros(r.StartedAt)},
		{"completed_at", job.CompletedAt, db.Micros(r.CompletedAt)},
	} {
		if c.row != c.received {
			return fmt.Sprintf("its %s is %v, the receipt states %v", c.what, c.row, c.received)
		}
	}
	return ""
}

// AuditInput holds the files of a project in a receipt against the project, as long as that
// is stored.
func AuditInput(ctx context.Context, tx *db.Tx, job Record, r receipt.Receipt) (why string, err error) {
	if len(r.Input.Files) == 0 {
		return "", nil
	}
	input, err := inputOf(ctx, tx, job)
	if db.IsNotFound(err) {
		return "", nil
	}
	if err == nil && !reflect.DeepEqual(input, r.Input) {
		why = fmt.Sprintf("its project is %s, the receipt states %s", input.ProjectSHA256, r.Input.ProjectSHA256)
	}
	return why, err
}
