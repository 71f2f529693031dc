package story

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/wallet"
)

// FailedTries counts the tries of a job that failed.
func (svc *Service) FailedTries(jobID string) (n int) {
	svc.T.Helper()
	svc.Read(func(ctx context.Context, tx *db.Tx) error {
		tries, err := tx.FailedAttemptsOfJob(ctx, query.FailedAttemptsOfJobParams{JobID: jobID, Max: 100})
		n = len(tries)
		return err
	})
	return n
}

// FailFinally reports a leased frame as one that cannot be rendered.
func (w ManualWorker) FailFinally(t *testing.T, got farmapi.LeaseReply) error {
	return w.Fail(t.Context(), farmapi.FailRequest{
		WorkerID: w.ID, LeaseID: got.Leases[0].LeaseID, Attempt: got.Leases[0].Attempt, Code: blender.OutOfMemory, Message: "no memory", Final: true,
	})
}

// SettledOnce checks the money of a caller whose one job of so many frames has
// completed.
func (svc *Service) SettledOnce(c Caller, frames int64) {
	svc.T.Helper()
	svc.WantMoney(c.Workspace, Credit-frames, wallet.Credited, wallet.Reserved, wallet.Captured)
}

// Result is the painted picture of a leased frame, described.
func (w ManualWorker) Result(t *testing.T, got farmapi.LeaseReply) (farmapi.FrameResult, []byte) {
	t.Helper()
	l := got.Leases[0]
	picture, err := Paint(l.Frame)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := pixels.Read(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(picture)
	return farmapi.FrameResult{
		WorkerID: w.ID, LeaseID: l.LeaseID, Attempt: l.Attempt, JobID: got.Job.JobID, Frame: l.Frame, File: "frame_0001.png",
		SHA256: hex.EncodeToString(sum[:]), PixelSHA256: decoded.SHA256, SizeBytes: int64(len(picture)),
		Width: decoded.Width, Height: decoded.Height, RenderSeconds: 0.01, Device: "GPU", DeviceName: "Story GPU", Switched: []string{},
		Settings: got.Job.Settings,
	}, picture
}

// DeliverResult hands in the painted picture of a leased frame.
func (w ManualWorker) DeliverResult(t *testing.T, got farmapi.LeaseReply) error {
	t.Helper()
	result, picture := w.Result(t, got)
	return w.Deliver(t.Context(), result, bytes.NewReader(picture))
}

// DeliverOutputs leases a frame and hands in its painted picture, which File Output nodes have
// written under these names as well.
func (w ManualWorker) DeliverOutputs(t *testing.T, names ...string) (frame int, picture []byte) {
	t.Helper()
	got, err := w.Lease(t.Context(), farmapi.LeaseRequest{WorkerID: w.ID, Max: 1, WaitSeconds: 20})
	if err != nil || len(got.Leases) != 1 {
		t.Fatalf("leased %+v, %v", got, err)
	}
	result, picture := w.Result(t, got)
	result.File = fmt.Sprintf("frame_%04d.png", result.Frame)
	var files []io.Reader
	for _, name := range names {
		result.Outputs = append(result.Outputs, farmapi.Output{Name: name, SHA256: result.SHA256, SizeBytes: result.SizeBytes})
		files = append(files, bytes.NewReader(picture))
	}
	if err := w.Deliver(t.Context(), result, bytes.NewReader(picture), files...); err != nil {
		t.Fatal(err)
	}
	return result.Frame, picture
}
