package agent

import (
	"testing"

	"svc.example/internal/work/intake"
	"svc.example/internal/work/quote"
)

func TestTheSizeThatAnAgentSeesIsThatOfTheFrame(t *testing.T) {
	t.Parallel()
	cropped := quote.Scene{ResolutionX: 1920, ResolutionY: 1080, ResolutionPercentage: 100, FrameWidth: 481, FrameHeight: 270}
	if s := new(server).inspectedOf(intake.Inspection{Scene: cropped}).Scene; s.Width != 481 || s.Height != 270 {
		t.Errorf("a frame cropped to 481 x 270 is %d x %d for an agent", s.Width, s.Height)
	}
}
