package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"svc.example/client"
)

// clock is a time that tests move.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// logged gives the lines that a log gets of so many moves, this far apart.
func logged(moves int64, apart time.Duration) []string {
	var out strings.Builder
	c := &clock{}
	m := newDisplay(&out, c.now).meter("frames", inFrames)
	for i := range moves + 1 {
		m.move(i*frameParts, moves*frameParts)
		m.move(i*frameParts, moves*frameParts) // nothing new: no line
		c.at = c.at.Add(apart)
	}
	m.end()
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

func TestLogGetsALineForEachTenth(t *testing.T) {
	t.Parallel()
	got := logged(1000, 100*time.Millisecond)
	if len(got) != 10 || got[4] != "frames: 500 of 1000, 50 %, 50s left" || got[9] != "frames: 1000 of 1000, 100 %" {
		t.Errorf("%d lines:\n%s", len(got), strings.Join(got, "\n"))
	}
}

func TestLeavesAreCountedOneByOne(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	m := newDisplay(&out, time.Now).meter("leaves", inLeaves)
	m.move(700, 700)
	m.end()
	if got := out.String(); got != "leaves: 700 of 700, 100 %\n" {
		t.Errorf("got %q", got)
	}
}

func TestQuickWorkIsOneLine(t *testing.T) {
	t.Parallel()
	if got := logged(1000, time.Millisecond); len(got) != 1 || got[0] != "frames: 1000 of 1000, 100 %" {
		t.Errorf("%q", got)
	}
}

func TestLogIsNeverSilentForLongWhileWorkGoesOn(t *testing.T) {
	t.Parallel()
	if got := logged(100, quietAtMost); len(got) != 100 {
		t.Errorf("100 frames of half a minute each are 100 lines, got %d", len(got))
	}
}

func TestTimeLeftFollowsThePaceSinceTheFirstMove(t *testing.T) {
	t.Parallel()
	begin := time.Unix(1000, 0)
	var p pace
	p.move(begin, 10, 40) // a job that is joined late
	if got := p.text(); got != "" {
		t.Errorf("one move tells no pace, got %q", got)
	}
	p.move(begin.Add(20*time.Second), 20, 40)
	if got := p.text(); got != "40s left" {
		t.Errorf("10 frames in 20 s leave 40 s for 20 frames, got %q", got)
	}
}

func TestMeterOfUnknownLengthCountsOnly(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	time := &clock{}
	m := newDisplay(&out, time.now).meter("upload", inBytes)
	m.move(0, -1)
	time.at = time.at.Add(quietAtMost)
	m.move(131, -1)
	time.at = time.at.Add(quietAtMost)
	m.move(3<<20, -1)
	if got := out.String(); got != "upload: 131 B\nupload: 3.0 MiB\n" {
		t.Error(got)
	}
}

func TestBarReachesItsEndAndLinesStayWhole(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	time := &clock{}
	b := &bars{w: &out, now: time.now}
	m := b.meter("frames", inFrames)
	m.move(0, 3*frameParts)
	b.say("waiting: %s", "no worker is online")
	for i := range int64(4) {
		m.move(i*frameParts, 3*frameParts)
	}
	m.end()
	b.say("done")
	for _, want := range []string{"waiting: no worker is online\n", "frames", "3 / 3", "100 %", "done\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
	// A meter that is given up must not hold the program.
	m = b.meter("download", inBytes)
	m.move(frameParts, 3*frameParts)
	m.end()
}

func TestFramesAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"7": "7 7 1", "1-20": "1 20 1", "10-100:5": "10 100 5", "3-3": "3 3 1",
	} {
		var r frameRange
		if err := r.UnmarshalText([]byte(text)); err != nil || !r.set || fmt.Sprint(r.Start, r.End, r.Step) != want {
			t.Errorf("%q: %+v, error %v", text, r, err)
		}
	}
	for _, bad := range []string{"", "-", "0", "0-5", "5-1", "-5", "1-", "1-5:", "1-5:0", "5:2", "a-b", "1-2-3", "+1", "1 - 5", "1:2:3", "99999999999999999999"} {
		var r frameRange
		if err := r.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as %+v", bad, r)
		}
	}
}

func TestNothingIsLeftAtTheEnd(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &clock{at: time.Unix(1000, 0)}
	m := newDisplay(&out, c.now).meter("frames", inFrames)
	m.expect("1s left") // of packing, which is no part of this meter
	c.at = c.at.Add(quietAtMost)
	m.move(3*frameParts, 3*frameParts)
	if got := out.String(); got != "frames: 3 of 3, 100 %\n" {
		t.Error(got)
	}
}

func TestWhatTheServiceSaysOfTheTimeLeftCountsMoreThanThePace(t *testing.T) {
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
	c := &clock{at: time.Unix(1000, 0)}
	m := newDisplay(&out, c.now).meter("frames", inFrames)
	m.expect(leftText(job))
	c.at = c.at.Add(quietAtMost)
	m.move(doneOf(job), 10*frameParts)
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
