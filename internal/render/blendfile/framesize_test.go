package blendfile_test

import (
	"testing"

	"svc.example/internal/render/blendfile"
)

// TestFrameSizeIsBlenders holds sizes of pictures that Blender 3.4.1 has written
// for these borders.
func TestFrameSizeIsBlenders(t *testing.T) {
	t.Parallel()
	border := func(minX, maxX, minY, maxY float32, crop bool) *blendfile.Border {
		return &blendfile.Border{MinX: float64(minX), MaxX: float64(maxX), MinY: float64(minY), MaxY: float64(maxY), Crop: crop}
	}
	for _, c := range []struct {
		x, y, percent int
		border        *blendfile.Border
		width, height int
	}{
		{100, 60, 100, nil, 100, 60},
		{133, 77, 37, nil, 49, 28},
		{100, 60, 100, border(0.1, 0.7, 0.3, 0.9, false), 100, 60},
		{100, 60, 100, border(0.1, 0.7, 0.3, 0.9, true), 60, 36},
		{10, 10, 100, border(0.1, 0.7, 0.1, 0.7, true), 6, 6},
		{1000, 40, 50, border(0.3, 0.8, 0.55, 0.7, true), 250, 3},
	} {
		s := blendfile.Scene{ResolutionX: c.x, ResolutionY: c.y, ResolutionPercentage: c.percent, Border: c.border}
		if width, height := s.FrameSize(); width != c.width || height != c.height {
			t.Errorf("%dx%d at %d %%, border %+v: %dx%d, Blender has %dx%d", c.x, c.y, c.percent, c.border, width, height, c.width, c.height)
		}
	}
}
