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
	for n := 11; n <= 15; n++ {
		cells = append(cells, cell{Frame: n, View: &watch.FrameView{Frame: n, RenderSeconds: 1}})
	}
	if drawn := timesOf(cells); drawn != nil {
		t.Errorf("seven frames are drawn as %+v", drawn)
	}
	cells = append(cells, cell{Frame: 16, View: &watch.FrameView{Frame: 16, RenderSeconds: 1}})
	drawn := timesOf(cells)
	if drawn == nil || len(drawn.Bars) != 8 || drawn.From != "frame 7" || drawn.To != "frame 16" || drawn.Words != "Render time of 8 frames, at most 4.0 s" {
		t.Fatalf("they are drawn as %+v", drawn)
	}
	first, flagged := drawn.Bars[0], drawn.Bars[1]
	if flagged.High != 2*first.High || first.Flag || !flagged.Flag || flagged.Words != "Frame 9: 4.0 s" || flagged.X < 200 || flagged.X > 300 {
		t.Errorf("the bars are %+v and %+v", first, flagged)
	}
}
