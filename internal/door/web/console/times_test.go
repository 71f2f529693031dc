package console

import (
	"testing"

	"svc.example/internal/door/web/page"
	"svc.example/internal/render/framelist"
	"svc.example/internal/work/watch"
)

// TestTheTimesOfFramesAreDrawn with a place for frames that are not there yet.
func TestTheTimesOfFramesAreDrawn(t *testing.T) {
	t.Parallel()
	all, accepted := framelist.List{7, 8, 9, 10}, map[int]*watch.FrameView{
		7: {Frame: 7, RenderSeconds: 2}, 9: {Frame: 9, RenderSeconds: 4, Finding: "black"},
		10: {Frame: 10}, // taken over: nobody rendered it
	}
	add := func(n int, seconds float64) {
		all, accepted[n] = append(all, n), &watch.FrameView{Frame: n, RenderSeconds: seconds}
	}
	for n := 11; n <= 15; n++ {
		add(n, 1)
	}
	if v := timelineOf(all, accepted); v != nil {
		t.Errorf("seven frames are drawn as %+v", v)
	}
	add(16, 1.23456)
	v := timelineOf(all, accepted)
	if v == nil || v.Frames != "7-16" || v.Times != "2,,4,,1,1,1,1,1,1.23" || v.Flags != "black 9" {
		t.Fatalf("the timeline is %+v", v)
	}
	drawn := v.Chart
	if len(drawn.Bars) != 8 || drawn.From != "frame 7" || drawn.To != "frame 16" || drawn.Words != "Render time of 8 frames, at most 4.0 s" {
		t.Fatalf("they are drawn as %+v", drawn)
	}
	first, flagged := drawn.Bars[0], drawn.Bars[1]
	if flagged.High != 2*first.High || first.Flag || !flagged.Flag || flagged.Words != "Frame 9: 4.0 s" || flagged.X < 200 || flagged.X > 300 {
		t.Errorf("the bars are %+v and %+v", first, flagged)
	}
}

// A long job has columns for several frames each, and none of its longest or flagged frames is
// lost in them.
func TestTheColumnsOfALongJobAreFew(t *testing.T) {
	t.Parallel()
	all, accepted := framelist.List{}, map[int]*watch.FrameView{}
	for n := 1; n <= 2000; n++ {
		all, accepted[n] = append(all, n), &watch.FrameView{Frame: n, RenderSeconds: 1}
	}
	accepted[1001].RenderSeconds, accepted[2000].Finding = 50, "repeated"
	v := timelineOf(all, accepted)
	bars := v.Chart.Bars
	if len(bars) > mostColumns || len(v.Times) > 2*2000 || !bars[len(bars)-1].Flag {
		t.Errorf("%d columns, %d bytes of times, the last is %+v", len(bars), len(v.Times), bars[len(bars)-1])
	}
	longest := 0
	for _, b := range bars {
		if b.High == page.ChartHigh {
			longest++
		}
	}
	if longest != 1 {
		t.Errorf("%d columns are as long as the longest frame", longest)
	}
}
