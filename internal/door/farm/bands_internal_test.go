package farm

import (
	"testing"
	"time"

	"svc.example/internal/work/preview"
	"svc.example/internal/work/split"
)

// TestBandsAreAskedForOnlyWhereFramesAreCut: by this service, and of this scene.
func TestBandsAreAskedForOnlyWhereFramesAreCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cuts      *split.Cuts
		divisible bool
		want      float64
	}{
		{&split.Cuts{Above: 2 * time.Minute}, true, 120},
		{&split.Cuts{Above: 2 * time.Minute}, false, 0},
		{&split.Cuts{}, true, 0},
		{nil, true, 0},
	} {
		s := &Server{Cuts: c.cuts}
		if got := s.previewReply(preview.Work{Divisible: c.divisible}).Job.Preview.BandsAbove; got != c.want {
			t.Errorf("%+v: bands are asked for above %g s, want %g", c, got, c.want)
		}
	}
}
