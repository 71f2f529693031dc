package agent_test

import "testing"

func TestToolsPriceWhatIsChosenOfAFile(t *testing.T) {
	each(t, func(_ *testing.T, svc *service) {
		c := svc.client(svc.agent)
		upload := svc.scene().UploadID
		c.call("svc_quote", map[string]any{"upload_id": upload, "resolution_percentage": 50}).want("scene.width", 240)
		c.call("svc_quote", map[string]any{"upload_id": upload, "frames": "2", "camera": "Nobody"}).wantRefusal("invalid_settings")
		c.call("svc_quote", map[string]any{"upload_id": upload, "frames": "2", "resolution_x": 1_000_000, "resolution_y": 4}).wantRefusal("invalid_settings")
		c.call("svc_quote", map[string]any{"job_id": "JOB-00000000000000000000000000000000", "frames": "2", "samples": 1}).wantRefusal("invalid_request")
	})
}

func TestFramesOfAnEndedJobArePricedAgainByTools(t *testing.T) {
	eachRendering(t, func(_ *testing.T, svc *service) {
		c := svc.client(svc.agent)
		upload := svc.scene().UploadID
		job := c.tellAll(upload)[2].at("job_id")
		again := func(frames string) map[string]any { return map[string]any{"job_id": job, "frames": frames} }
		quoted := c.call("svc_quote", again("4"))
		quoted.want("quote.frame_list", "4")
		quoted.want("quote.price_cents", 1)
		quoted.want("upload_id", upload)
		quoted.want("next_tool", "svc_start")
		started := c.call("svc_start", terms(upload, quoted.at("quote.quote_id").(string), "max_price_cents", 1))
		if started.at("job_id") == job {
			svc.t.Error("the rerender is the job that has ended")
		}
		c.call("svc_quote", again("3")).wantRefusal("invalid_frame_range") // the job has 2 and 4
		c.call("svc_quote", again("x")).wantRefusal("invalid_frame_range")
		for _, mixed := range []map[string]any{
			{}, {"job_id": job}, {"frames": "4"}, {"upload_id": upload}, {"upload_id": upload, "frame_start": 1},
			{"job_id": job, "frames": "4", "upload_id": upload}, {"job_id": job, "frames": "4", "frame_step": 1}, {"job_id": job, "frame_start": 1, "frame_end": 1},
		} {
			c.call("svc_quote", mixed).wantRefusal("invalid_request")
		}
	})
}

// TestAQuoteAboveAMaximumIsRefusedBeforeThereIsOne: a person who allows so many cents is not
// asked about a dearer price, and what is refused leads to a quote of fewer frames.
func TestAQuoteAboveAMaximumIsRefusedBeforeThereIsOne(t *testing.T) {
	eachRendering(t, func(t *testing.T, svc *service) {
		c := svc.client(svc.agent)
		upload := svc.scene().UploadID
		ask := func(name string, id any, frames string, most any) answer {
			return c.call("svc_quote", map[string]any{name: id, "frames": frames, "max_price_cents": most})
		}
		newest := func() any { return c.call("svc_inspect", map[string]any{"upload_id": upload}).at("quote.quote_id") }
		before := newest()
		refused := ask("upload_id", upload, "1-3,10-20x5", 5)
		refused.wantRefusal("price_above_max")
		refused.want("error.detail.price_cents", 6)
		refused.want("next_tool", "svc_quote")
		refused.want("next_arguments", map[string]any{"upload_id": upload, "max_price_cents": 5.0})
		ask("upload_id", upload, "1", 0).wantRefusal("price_above_max")
		ask("upload_id", upload, "1", -1).wantRefusal("invalid_request")
		if after := newest(); after != before {
			t.Errorf("a refused price left the quote %v", after)
		}
		ask("upload_id", upload, "1-3,10-20x5", 6).want("quote.frame_list", "1-3,10-20:5")
		job := c.tellAll(upload)[2].at("job_id")
		ask("job_id", job, "2,4", 1).wantRefusal("price_above_max")
		ask("job_id", job, "2,4", 2).want("quote.price_cents", 2)
	})
}
