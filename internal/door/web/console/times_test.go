package console

import (
	"testing"

	"svc.example/internal/work/watch"
)

// TestTheTimesOfFramesAreDrawn with a place for frames that are not there yet.
func TestTheTimesOfFramesAreDrawn(t *testing.T) {
	t.Parallel()
	cells := []cell{
		{Frame: 7, View: &watch.FrameView{Frame: 7, RenderSeconds: 2}},
		{Frame: 8},
		{Frame: 9, View: &watch.FrameView{Frame: 9, RenderSeconds: 4, Finding: "black"}},
		{Frame: 10, View: &watch.FrameView{Frame: 10}}, // taken over: nobody rendered it
	}
	if drawn := timesOf(cells[:2]); drawn != nil {
		t.Errorf("one frame is drawn as %+v", drawn)
	}
	drawn := timesOf(cells)
	if drawn == nil || len(drawn.Bars) != 2 || drawn.From != "frame 7" || drawn.To != "frame 10" || drawn.Words != "Render time of 2 frames, at most 4.0 s" {
		t.Fatalf("they are drawn as %+v", drawn)
	}
	first, last := drawn.Bars[0], drawn.Bars[1]
	if last.High != 2*first.High || first.Flag || !last.Flag || last.Words != "Frame 9: 4.0 s" || last.X < 2*250 || last.X > 3*250 {
		t.Errorf("the bars are %+v and %+v", first, last)
	}
}
