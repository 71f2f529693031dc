package agent

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/quote"
)

// quoteDef describes svc_quote. It writes, because each call locks a new quote.
func quoteDef() def {
	return def{
		name: quoteTool, title: "Price other frames", writes: true,
		description: "Locks a price for other frames of an upload than the scene's own range: frame_start to frame_end, every frame_step. " +
			"Spends nothing; 1 cent a frame; the price holds for 24 hours. Not needed when svc_inspect already priced the frames you want.",
	}
}

// quoteIn selects frames: frame_start to frame_end, every frame_step. Frame
// numbers are those of the scene's timeline, 1 or more.
type quoteIn struct {
	UploadID   uploadID    `json:"upload_id" jsonschema:"From svc_inspect."`
	FrameStart frameNumber `json:"frame_start" jsonschema:"First frame."`
	FrameEnd   frameNumber `json:"frame_end" jsonschema:"Last frame; equal to frame_start for a single one."`
	FrameStep  *frameStep  `json:"frame_step,omitempty" jsonschema:"Every how many frames one is rendered; 1 when left out."`
}

// quote handles svc_quote. It reserves nothing. Errors: upload_not_found,
// invalid_frame_range, frame_range_too_large.
func (s *server) quote(ctx context.Context, in quoteIn) (inspected, error) {
	start, end, every := int(in.FrameStart), int(in.FrameEnd), 1
	if in.FrameStep != nil {
		every = int(*in.FrameStep)
	}
	var i intake.Inspection
	err := s.DB.Write(ctx, func(tx *db.Tx) (err error) {
		i, err = s.Intake.Requote(ctx, tx, callerOf(ctx).WorkspaceID, string(in.UploadID), quote.RequestedFrames{Start: &start, End: &end, Step: &every})
		return err
	})
	if err != nil {
		return inspected{}, err
	}
	return inspectedOf(i), nil
}
