package agent

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // of previews
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/quote"
)

// previewDef describes svc_preview. It writes, because a workspace has so many previews a
// day.
func previewDef() def {
	return def{
		name: previewTool, title: "Look at one frame for free", writes: true, idempotent: true,
		description: "Shows one frame of an upload as the farm renders it, small and coarse, before anything is spent: the answer has the picture, " +
			"what it shows that may be wrong (a missing texture is pink, and named), and what the quoted frames would take. " +
			"Free; an upload has a few. When the picture is not there yet, call again with next_arguments. Show it to the person before svc_start. " +
			"With job_id and frame it shows a frame that is rendered.",
	}
}

// previewIn names a frame of an upload, or a preview that was ordered before. The latter
// orders nothing, so that an agent that polls sees how its preview ended.
type previewIn struct {
	UploadID  uploadID     `json:"upload_id,omitempty" jsonschema:"From svc_inspect."`
	Frame     *frameNumber `json:"frame,omitempty" jsonschema:"The frame to look at; the middle of the quoted range when left out."`
	PreviewID previewID    `json:"preview_id,omitempty" jsonschema:"Instead of both: a preview that was not there yet."`
	JobID     jobID        `json:"job_id,omitempty" jsonschema:"With frame, in place of upload_id: a job."`
}

// looked is the result of svc_preview. The picture is an image in the result's content.
type looked struct {
	OK            yes            `json:"ok"`
	PreviewID     *previewID     `json:"preview_id" jsonschema:"null for a frame of a job."`
	UploadID      uploadID       `json:"upload_id"`
	Frame         frameNumber    `json:"frame"`
	Status        preview.Status `json:"status" jsonschema:"ready: this answer has the picture. failed and expired: none."`
	WaitingReason *string        `json:"waiting_reason" jsonschema:"no_worker_online; no_capable_worker: none online can render the scene; workers_busy with paid frames; null: it does not wait."`
	Width         *count         `json:"width" jsonschema:"Pixels of the picture; null unless ready."`
	Height        *count         `json:"height"`
	Warnings      []warning      `json:"warnings" jsonschema:"Possible problems in the picture, and how the render will differ from what the file expects, worst first."`
	RenderSeconds *float64       `json:"render_seconds" jsonschema:"That the picture took; null before."`
	Estimate      *lookEstimate  `json:"estimate" jsonschema:"What the quoted frames would take; null until it is rendered."`
	Failure       *failure       `json:"failure" jsonschema:"Why there is no picture; null unless failed."`
	step

	picture []byte // a JPEG
}

// lookEstimate is what the quoted frames would take, in seconds.
type lookEstimate struct {
	FrameLow  float64  `json:"seconds_per_frame_low"`
	FrameHigh float64  `json:"seconds_per_frame_high"`
	TotalLow  *float64 `json:"total_seconds_low" jsonschema:"Until the last frame is in, with the wait for others; null while no worker is online."`
	TotalHigh *float64 `json:"total_seconds_high"`
}

// maxPreviewWait is how long svc_preview waits for a picture before it tells the agent to
// call again; see maxFetchWait.
const maxPreviewWait = time.Second

// preview handles svc_preview. It spends nothing. Errors: invalid_request, previews_off,
// upload_not_found, invalid_frame_range, free_preview_limit_reached, preview_not_found.
func (s *server) preview(ctx context.Context, in previewIn) (looked, error) {
	workspace := callerOf(ctx).WorkspaceID
	if in.JobID != "" && in.Frame != nil && in.UploadID == "" && in.PreviewID == "" {
		return s.rendered(ctx, workspace, string(in.JobID), int(*in.Frame))
	}
	if in.JobID != "" || (in.UploadID == "") == (in.PreviewID == "") || (in.PreviewID != "" && in.Frame != nil) {
		return looked{}, fault.New(fault.InvalidRequest, "The arguments are neither upload_id and perhaps frame, nor job_id and frame, nor preview_id.").
			WithAction("Call svc_preview with upload_id to look at a frame before it is paid for, with job_id and frame for a rendered one, or with preview_id for a picture that was not there yet.")
	}
	// It listens before it reads, so that no end between the two goes unnoticed.
	ended, stop := s.Previews.Listen()
	defer stop()
	v, err := s.ordered(ctx, workspace, in)
	if err != nil {
		return looked{}, err
	}
	waited, cancel := context.WithTimeout(ctx, maxPreviewWait)
	defer cancel()
	for v.Status == preview.Queued || v.Status == preview.Rendering {
		select {
		case <-ctx.Done():
			return looked{}, ctx.Err()
		case <-waited.Done():
			return lookedOf(v, pendingPreview(v)), nil
		case <-ended:
		}
		if v, err = s.Previews.Get(ctx, workspace, v.PreviewID); err != nil {
			return looked{}, err
		}
	}
	return s.endedLook(ctx, workspace, v)
}

// rendered shows an accepted frame of a job. Errors: render_not_found, frame_not_found,
// artifact_expired.
func (s *server) rendered(ctx context.Context, workspace, id string, frame int) (looked, error) {
	o, err := s.Jobs.Get(ctx, workspace, id)
	if err != nil {
		return looked{}, err
	}
	found, err := s.Watch.Preview(ctx, workspace, id, frame)
	if err != nil {
		return looked{}, err
	}
	out := looked{OK: true, UploadID: uploadID(o.UploadID), Frame: frameNumber(frame), Status: preview.Ready, Warnings: []warning{}, step: jobStep(o)}
	if out.picture, err = found.JPEG(ctx); err != nil {
		return looked{}, err
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(out.picture))
	if err == nil {
		width, height := count(size.Width), count(size.Height)
		out.Width, out.Height = &width, &height
	}
	return out, err
}

// ordered orders a preview, or reads one that was ordered before.
func (s *server) ordered(ctx context.Context, workspace string, in previewIn) (v preview.View, err error) {
	if in.PreviewID != "" {
		return s.Previews.Get(ctx, workspace, string(in.PreviewID))
	}
	var frame *int
	if in.Frame != nil {
		number := int(*in.Frame)
		frame = &number
	}
	err = s.DB.Write(ctx, func(tx *db.Tx) (err error) {
		v, err = s.Previews.Order(ctx, tx, workspace, string(in.UploadID), frame)
		return err
	})
	return v, err
}

// pendingPreview is the next call for a preview that is in progress.
func pendingPreview(v preview.View) step {
	again := arguments{"preview_id": v.PreviewID}
	switch {
	case v.WaitingReason == nil:
		return call(previewTool, again, "The frame is being rendered. Call again in a moment.").wait(pollSoon)
	case *v.WaitingReason == preview.NoWorkerOnline:
		return call(previewTool, again, "No worker is online, so there is no picture yet. Wait, or decide without it.").wait(pollIdle)
	case *v.WaitingReason == preview.NoCapableWorker:
		return call(previewTool, again, "None of the workers that are online can render this scene, so there is no picture yet. Wait for another worker, or decide without it.").wait(pollIdle)
	}
	return call(previewTool, again, "All workers render frames that are paid for, which come first. Wait, or decide without the picture.").wait(pollQueued)
}

// endedLook shows a preview that has ended, with the picture where there is one. What
// follows is what follows from the upload's newest quote.
func (s *server) endedLook(ctx context.Context, workspace string, v preview.View) (looked, error) {
	if v.Status == preview.Expired {
		again := arguments{"upload_id": v.UploadID, "frame": v.Frame}
		return lookedOf(v, call(previewTool, again, "The picture is gone, or no worker had time for it. Call again to look once more.").wait(pollQueued)), nil
	}
	i, err := s.Intake.Inspected(ctx, workspace, v.UploadID)
	if err != nil {
		return looked{}, err
	}
	next := quoteStep(i.Quote)
	if v.Status == preview.Failed {
		next.SuggestedAction = "There is no picture, and a render may fail for the same reason: " + v.Failure.SuggestedAction + " " + next.SuggestedAction
		return lookedOf(v, next), nil
	}
	next.SuggestedAction = "Show the picture and its warnings to the person you work for. " + next.SuggestedAction
	out := lookedOf(v, next)
	out.picture, err = s.Previews.Picture(ctx, workspace, v.PreviewID)
	return out, err
}

// lookedOf returns a preview as a tool result.
func lookedOf(v preview.View, next step) looked {
	out := looked{
		OK: true, PreviewID: new(previewID(v.PreviewID)), UploadID: uploadID(v.UploadID), Frame: frameNumber(v.Frame), Status: v.Status, WaitingReason: v.WaitingReason,
		Warnings: warningsOf(v.Findings), RenderSeconds: v.Seconds, step: next,
	}
	if v.Width != nil && v.Height != nil {
		width, height := count(*v.Width), count(*v.Height)
		out.Width, out.Height = &width, &height
	}
	if e := v.Estimate; e != nil {
		out.Estimate = &lookEstimate{e.FrameLow, e.FrameHigh, e.TotalLow, e.TotalHigh}
	}
	if f := v.Failure; f != nil {
		message, _ := escapeText(f.Message, longMessage)
		out.Failure = &failure{f.Code, message, fault.Lookup(f.Code).Retryable, f.SuggestedAction}
	}
	return out
}

// warningsOf returns warnings whose messages are escaped.
func warningsOf(all []quote.Warning) []warning {
	out := []warning{}
	for _, w := range all {
		text, _ := escapeText(w.Message, longMessage)
		out = append(out, warning{w.Code, w.Severity, text, w.SuggestedAction})
	}
	return out
}

// links implements linked: the picture is part of the answer, for models that see.
func (l looked) links() []mcp.Content {
	if l.picture == nil {
		return nil
	}
	return []mcp.Content{&mcp.ImageContent{Data: l.picture, MIMEType: "image/jpeg"}}
}

// lines implements answer.
func (l looked) lines() string {
	var b strings.Builder
	if l.PreviewID == nil {
		fmt.Fprintf(&b, "Frame %d as it was rendered, small.\n", l.Frame)
		return b.String() + l.SuggestedAction
	}
	fmt.Fprintf(&b, "The preview of frame %d of %s is %s", l.Frame, l.UploadID, l.Status)
	if l.Width != nil {
		fmt.Fprintf(&b, ": %d x %d pixels, few samples", *l.Width, *l.Height)
	}
	b.WriteString(". It costs nothing.\n")
	if l.Failure != nil {
		fmt.Fprintf(&b, "Failed (%s): %s\n", l.Failure.Code, l.Failure.Message)
	}
	for _, w := range l.Warnings {
		fmt.Fprintf(&b, "Warning (%s): %s %s\n", w.Code, w.Message, w.SuggestedAction)
	}
	if e := l.Estimate; e != nil {
		fmt.Fprintf(&b, "A frame of the render would take %.1f to %.1f seconds", e.FrameLow, e.FrameHigh)
		if e.TotalLow != nil && e.TotalHigh != nil {
			fmt.Fprintf(&b, ", all quoted frames %.0f to %.0f seconds as the farm is now", *e.TotalLow, *e.TotalHigh)
		}
		b.WriteString(".\n")
	}
	return b.String() + l.SuggestedAction
}
