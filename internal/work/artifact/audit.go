package artifact

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/receipt"
)

// AuditReceipt summarizes the frames of a completed job again and reports in what they
// differ from the job's receipt, which is signed. An error means that the frames cannot be
// read.
func AuditReceipt(ctx context.Context, tx *db.Tx, r receipt.Receipt, breach func(rule, subject, format string, args ...any)) error {
	rows, err := tx.FramesOf(ctx, r.JobID)
	if err != nil {
		return fmt.Errorf("audit the frames of %s: %w", r.JobID, err)
	}
	wrong := func(format string, args ...any) {
		breach("a receipt lists the frames as they are", r.ReceiptID, format, args...)
	}
	also, err := detailsOf(ctx, tx, r.JobID, rows)
	if err != nil {
		wrong("%v", err)
		return ctx.Err()
	}
	now := summarize("", r.Artifact, rows, also)
	if len(now.Frames) != len(r.Frames) {
		wrong("%d frames, the receipt has %d", len(now.Frames), len(r.Frames))
	}
	for i, f := range now.Frames[:min(len(now.Frames), len(r.Frames))] {
		if !reflect.DeepEqual(f, r.Frames[i]) {
			wrong("frame %d is %+v, the receipt states %+v", f.Frame, f, r.Frames[i])
		}
	}
	if now.Renderer != r.Renderer || now.Device != r.RenderDevice || now.DeviceName != r.DeviceName || !slices.Equal(now.Switched, r.Switched) {
		wrong("rendered by %+v on %s %q with %q switched, the receipt states %+v on %s %q with %q",
			now.Renderer, now.Device, now.DeviceName, now.Switched, r.Renderer, r.RenderDevice, r.DeviceName, r.Switched)
	}
	return nil
}
