package agent_test

import (
	"bytes"
	"image/jpeg"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/test/apptest"
)

// look calls svc_preview and what its answers say to call next, far sooner than asked
// to, until the preview has ended.
func (c *client) look(with map[string]any) answer {
	c.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		a := c.call("svc_preview", with)
		if a.refused || a.at("next_tool") != "svc_preview" {
			return a
		}
		if with, _ = a.at("next_arguments").(map[string]any); with == nil || a.at("poll_after_seconds") == nil {
			c.t.Fatalf("a preview in progress does not say how to ask again: %v", a.object)
		}
		select {
		case <-tick.C:
		case <-c.t.Context().Done():
			c.t.Fatal("the preview never ended")
		}
	}
}

// TestAnAgentLooksBeforeAnythingIsSpent: the picture is in the answer, and the quote is
// what follows.
func TestAnAgentLooksBeforeAnythingIsSpent(t *testing.T) {
	eachRendering(t, func(t *testing.T, svc *service) {
		c := svc.client(svc.agent)
		i := svc.scene()
		seen := c.look(map[string]any{"upload_id": i.UploadID, "frame": 3})
		seen.want("status", "ready")
		seen.want("frame", 3)
		size, err := jpeg.DecodeConfig(bytes.NewReader(seen.picture))
		if err != nil || max(size.Width, size.Height) > contract.PreviewSide {
			t.Errorf("the picture has %+v, %v", size, err)
		}
		seen.want("width", size.Width)
		seen.want("next_tool", "svc_start")
		seen.want("next_arguments.quote_id", i.Quote.QuoteID)
		for _, said := range []string{"The preview of frame 3 of UPL-", "A frame of the render would take ", "Show the picture"} {
			if !strings.Contains(seen.text, said) {
				t.Errorf("%q is not in %s", said, seen.text)
			}
		}
		again := c.call("svc_preview", map[string]any{"preview_id": seen.at("preview_id")})
		if !bytes.Equal(again.picture, seen.picture) {
			t.Error("the same preview has another picture")
		}
		if b := svc.balance(); b.AvailableCents != credit || b.ReservedCents != 0 {
			t.Errorf("the wallet has %+v", b)
		}
	})
}

// TestAPreviewThatWaitsSaysSoInTime, and asking again orders no second one.
func TestAPreviewThatWaitsSaysSoInTime(t *testing.T) {
	each(t, func(t *testing.T, svc *service) {
		c := svc.client(svc.agent)
		upload := svc.scene().UploadID
		first := c.call("svc_preview", map[string]any{"upload_id": upload})
		first.want("status", "queued")
		first.want("waiting_reason", "no_worker_online")
		first.want("next_tool", "svc_preview")
		first.want("poll_after_seconds", 30)
		if first.picture != nil {
			t.Error("it has a picture")
		}
		for _, with := range []any{first.at("next_arguments"), map[string]any{"upload_id": upload}} {
			c.call("svc_preview", with).want("preview_id", first.at("preview_id"))
		}
		for frame := 1; frame < contract.PreviewsOfUpload; frame++ {
			c.call("svc_preview", map[string]any{"upload_id": upload, "frame": frame}).want("frame", frame)
		}
		refused := c.call("svc_preview", map[string]any{"upload_id": upload, "frame": 20})
		refused.wantRefusal("free_preview_limit_reached")
		refused.want("next_tool", "svc_inspect")
		refused.want("next_arguments.upload_id", upload)
		stranger := join(t, &apptest.World{App: svc.app, URL: svc.base})
		theirs := stranger.client(stranger.agent)
		theirs.call("svc_preview", map[string]any{"upload_id": upload}).wantRefusal("upload_not_found")
		theirs.call("svc_preview", map[string]any{"preview_id": first.at("preview_id")}).wantRefusal("preview_not_found")
		for _, mixed := range []map[string]any{
			{}, {"frame": 1}, {"upload_id": upload, "preview_id": first.at("preview_id")}, {"preview_id": first.at("preview_id"), "frame": 1},
		} {
			c.call("svc_preview", mixed).wantRefusal("invalid_request")
		}
	})
}
