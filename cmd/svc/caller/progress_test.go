package caller

import (
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
)

func TestFramesAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"7": "7", "1-20": "1-20", "10-100x5": "10-100:5", "5-9,1,3": "1,3,5-9", "1 – 5,": "1-5", "1-10000": "1-10000"} {
		var l FrameList
		if err := l.UnmarshalText([]byte(text)); err != nil || string(l) != want {
			t.Errorf("%q: %s, error %v", text, l, err)
		}
	}
	for _, bad := range []string{"", "0", "5-1", "a-b", "1-10001"} {
		var l FrameList
		if err := l.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as %s", bad, l)
		}
	}
}

func TestServiceEstimateReplacesThePace(t *testing.T) {
	t.Parallel()
	eta := 200.4
	job := &client.Job{FrameCount: 10, FramesCompleted: 3, ProgressPercent: 34.5, ETASeconds: &eta, ETARange: &client.ETARange{LowSeconds: 120, HighSeconds: 300}}
	if got := leftText(job); got != "3m20s left (2m0s to 5m0s)" {
		t.Error(got)
	}
	if got := leftText(&client.Job{}); got != "" {
		t.Errorf("nothing is known, but it says %q", got)
	}
	var out strings.Builder
	at := time.Unix(1000, 0)
	m := terminal.NewDisplay(&out, func() time.Time { return at }).Meter("frames", terminal.InFrames)
	m.Expect(leftText(job))
	at = at.Add(time.Hour) // a line is due
	m.Move(doneOf(job), 10*terminal.FrameParts)
	if got := out.String(); got != "frames: 3 of 10, 34 %, 3m20s left (2m0s to 5m0s)\n" {
		t.Error(got)
	}
}

func TestFramesUnderWayNeverCountAsDone(t *testing.T) {
	t.Parallel()
	for percent, want := range map[float64]int64{30: 3000, 34.5: 3450, 58: 3999, 0: 3000} {
		if got := doneOf(&client.Job{FrameCount: 10, FramesCompleted: 3, ProgressPercent: percent}); got != want {
			t.Errorf("at %v per cent: %d, want %d", percent, got, want)
		}
	}
	if got := doneOf(&client.Job{FrameCount: 10, FramesCompleted: 10, ProgressPercent: 100}); got != 10000 {
		t.Errorf("at the end: %d", got)
	}
}
