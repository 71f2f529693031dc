package agent_test

import (
	"testing"
	"time"
)

// started starts the frames of a scene's own range, and returns the arguments that name the
// job.
func (c *client) started(svc *service) map[string]any {
	c.t.Helper()
	i := svc.scene()
	return map[string]any{"job_id": c.call("svc_start", terms(i.UploadID, i.Quote.QuoteID, "max_price_cents", credit)).at("job_id")}
}

// TestStatusWaitsForTheEndOfAJob so that a model calls it once and does not poll.
func TestStatusWaitsForTheEndOfAJob(t *testing.T) {
	eachRendering(t, func(_ *testing.T, svc *service) {
		c := svc.client(svc.agent)
		job := c.started(svc)
		job["wait_seconds"] = 50
		end := c.call("svc_status", job)
		end.want("status", "completed")
		end.want("next_tool", "svc_download")
		again := time.Now()
		c.call("svc_status", job).want("status", "completed")
		if waited := time.Since(again); waited >= 50*time.Second {
			svc.t.Errorf("of a job that has ended it answers after %s", waited)
		}
	})
}

func TestStatusWaitsNoLongerThanItIsToldTo(t *testing.T) {
	each(t, func(_ *testing.T, svc *service) {
		c := svc.client(svc.agent)
		job := c.started(svc)
		job["wait_seconds"] = 1
		asked := time.Now()
		queued := c.call("svc_status", job)
		if waited := time.Since(asked); waited < time.Second {
			svc.t.Errorf("it has waited %s for a running job, not a second", waited)
		}
		queued.want("status", "queued")
		queued.want("next_tool", "svc_status")
		queued.want("next_arguments.wait_seconds", 1)
		queued.want("poll_after_seconds", nil)
		for _, wrong := range []any{0, 51, -1, 1.5, "1"} {
			job["wait_seconds"] = wrong
			c.call("svc_status", job).wantRefusal("invalid_request")
		}
		c.call("svc_status", map[string]any{"job_id": "JOB-00000000000000000000000000000000", "wait_seconds": 50}).wantRefusal("render_not_found")
	})
}

// TestInspectPricesTheFramesThatAreAskedFor, and the same ones once.
func TestInspectPricesTheFramesThatAreAskedFor(t *testing.T) {
	each(t, func(_ *testing.T, svc *service) {
		c := svc.client(svc.agent)
		upload := svc.scene().UploadID
		ask := map[string]any{"upload_id": upload, "frame_start": 3, "frame_end": 7, "frame_step": 2}
		first := c.call("svc_inspect", ask)
		first.want("quote.frame_list", "3-7:2")
		first.want("quote.price_cents", 3)
		c.call("svc_inspect", ask).want("quote.quote_id", first.at("quote.quote_id"))
		ask["frame_end"] = 3
		c.call("svc_inspect", ask).want("quote.price_cents", 1)

		waiting := c.call("svc_inspect", map[string]any{"frame_start": 1, "frame_end": 2})
		waiting.want("status", "awaiting_upload")
		waiting.want("next_arguments.frame_end", 2)
		waiting.want("next_arguments.upload_id", waiting.at("upload_id"))
		c.call("svc_inspect", map[string]any{"upload_id": upload, "frame_start": 1}).wantRefusal("invalid_request")
		c.call("svc_inspect", map[string]any{"upload_id": upload, "frame_step": 2}).wantRefusal("invalid_request")
		c.call("svc_inspect", map[string]any{"upload_id": upload, "frame_start": 7, "frame_end": 3}).wantRefusal("invalid_frame_range")
	})
}
