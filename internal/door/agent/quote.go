package agent

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
)

// quoteDef describes svc_quote. It writes, because each call locks a new quote.
func quoteDef() def {
	return def{
		name: quoteTool, title: "Price other frames", writes: true,
		description: "Locks a price for frames of an upload, such as 1-50,80-100x5; " +
			"or another scene, camera, view layer, size or fewer samples. " +
			"With job_id instead: frames of an ended job once more. " +
			"Spends nothing; 1 cent a frame, for 24 hours.",
	}
}

// quoteIn selects frames: of an upload frame_start to frame_end, every frame_step; of an
// ended job those of a list. Frame numbers are those of the scene's timeline, 1 or more.
type quoteIn struct {
	UploadID   uploadID    `json:"upload_id,omitempty" jsonschema:"From svc_inspect."`
	FrameStart frameNumber `json:"frame_start,omitempty"`
	FrameEnd   frameNumber `json:"frame_end,omitempty" jsonschema:"Last frame."`
	FrameStep  *frameStep  `json:"frame_step,omitempty" jsonschema:"Step; 1 when left out."`
	JobID      jobID       `json:"job_id,omitempty" jsonschema:"An ended job."`
	Frames     string      `json:"frames,omitempty"`
	Reuse      bool        `json:"reuse,omitempty" jsonschema:"Reuse unchanged frames, free."`
	// MaxPriceCents refuses a dearer price before there is a quote of it.
	MaxPriceCents *cents `json:"max_price_cents,omitempty" jsonschema:"Refuse a dearer price."`
	settings.Settings
}

// quote handles svc_quote. It reserves nothing. Errors: invalid_request, upload_not_found,
// invalid_frame_range, frame_range_too_large, invalid_settings, price_above_max,
// and those of intake.Intake.Rerender.
func (s *server) quote(ctx context.Context, in quoteIn) (inspected, error) {
	var choice quote.Choice
	if in.UploadID != "" {
		var err error
		if choice, err = s.Intake.Choose(ctx, callerOf(ctx).WorkspaceID, string(in.UploadID), in.Settings); err != nil {
			return inspected{}, err
		}
	}
	lock, err := s.quoted(ctx, in, choice, callerOf(ctx).WorkspaceID)
	if err != nil {
		return inspected{}, err
	}
	var i intake.Inspection
	err = s.DB.Write(ctx, func(tx *db.Tx) (err error) {
		if i, err = lock(ctx, tx); err != nil {
			return err
		}
		return job.WithinMax(i.Quote.PriceCents, (*int64)(in.MaxPriceCents))
	})
	if err != nil {
		return inspected{}, err
	}
	return s.inspectedOf(i), nil
}

// quoted returns what locks the price that is asked for. Errors: invalid_request,
// invalid_frame_range, frame_range_too_large.
func (s *server) quoted(ctx context.Context, in quoteIn, choice quote.Choice, workspaceID string) (lock func(context.Context, *db.Tx) (intake.Inspection, error), err error) {
	ofUpload := in.UploadID != "" && in.FrameStart != 0 && in.FrameEnd != 0 && in.JobID == "" && in.Frames == ""
	listed := in.UploadID != "" && in.Frames != "" && in.JobID == "" && in.FrameStart == 0 && in.FrameEnd == 0 && in.FrameStep == nil
	asked := quote.RequestedFrames{Choice: choice, AskReuse: in.Reuse}
	ofSettings := in.UploadID != "" && in.JobID == "" && in.Frames == "" && in.FrameStart == 0 && in.FrameEnd == 0 && in.FrameStep == nil && (!in.Settings.IsZero() || in.Reuse)
	ofJob := in.JobID != "" && in.Frames != "" && in.Settings.IsZero() && !in.Reuse && in.UploadID == "" && in.FrameStart == 0 && in.FrameEnd == 0 && in.FrameStep == nil
	requote := func(ctx context.Context, tx *db.Tx) (intake.Inspection, error) {
		return s.Intake.Requote(ctx, tx, workspaceID, string(in.UploadID), asked)
	}
	compare := func() error {
		asked, err = s.Intake.Compare(ctx, workspaceID, string(in.UploadID), asked)
		return err
	}
	switch {
	case ofSettings:
		return requote, compare()
	case ofUpload:
		start, end, every := int(in.FrameStart), int(in.FrameEnd), 1
		if in.FrameStep != nil {
			every = int(*in.FrameStep)
		}
		asked.Start, asked.End, asked.Step = &start, &end, &every
		return requote, compare()
	case listed:
		if asked.List, err = quote.ReadList(in.Frames); err != nil {
			return nil, err
		}
		return requote, compare()
	case ofJob:
		frames, err := quote.ReadList(in.Frames)
		if err != nil {
			return nil, err
		}
		return s.Intake.Rerender(ctx, workspaceID, string(in.JobID), frames)
	}
	return nil, fault.New(fault.InvalidRequest, "The arguments are neither upload_id nor job_id with frames.").
		WithAction("Call svc_quote with upload_id and frames for frames of an upload, or with job_id and frames for frames of an ended job.")
}
