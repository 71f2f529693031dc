package caller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
)

func TestFramesAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"7": "7", "1-20": "1-20", "10-100:5": "10-100:5", "3-3": "3",
		"1,3,5-9": "1-5:2,6-9", "5-9,1,3": "1-5:2,6-9", "1,2,3": "1-3", "1,1-3,2": "1-3", "4,9": "4-9:5", "1,2,10": "1-2,10",
		"1-25000:1": "1-10000,10001-20000,20001-25000", "2-30000:2": "2-20000:2,20002-30000:2", "1-10:3,2": "1-2,4-10:3", "1 - 5": "1-5", "1, 2,": "1-2", "1–9x2": "1-9:2",
	} {
		var l FrameList
		if err := l.UnmarshalText([]byte(text)); err != nil || l.String() != want {
			t.Errorf("%q: %s, error %v", text, l, err)
		}
	}
	for _, bad := range []string{"", "-", "0", "0-5", "5-1", "-5", "1-", "1-5:", "1-5:0", "5:2", "a-b", "1-2-3", "+1", "1 2", "1:2:3", "99999999999999999999", "1,,", ",1", "1-1000001", "1-9000000000000000000,1-9000000000000000000", everyThird(101)} {
		var l FrameList
		if err := l.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as %s", bad, l)
		}
	}
}

// everyThird names n pairs of frames with gaps that grow, so that each is a job.
func everyThird(n int) string {
	var words []string
	at := 1
	for i := range n {
		words = append(words, fmt.Sprintf("%d-%d", at, at+1))
		at += 3 + i
	}
	return strings.Join(words, ",")
}

func TestAListOfFramesIsRenderedOnceEach(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		frames := rapid.SliceOfN(rapid.IntRange(1, 60), 1, 30).Draw(rt, "frames")
		words := make([]string, len(frames))
		for i, f := range frames {
			words[i] = fmt.Sprint(f)
		}
		var l FrameList
		if err := l.UnmarshalText([]byte(strings.Join(words, ","))); err != nil {
			rt.Fatal(err)
		}
		var got []int
		for _, r := range l.Ranges {
			for f := r.Start; f <= r.End; f += r.Step {
				got = append(got, f)
			}
		}
		slices.Sort(frames)
		slices.Sort(got)
		if want := slices.Compact(frames); !slices.Equal(got, want) {
			rt.Errorf("%v became %v", want, l)
		}
	})
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
