package terminal

import (
	"strings"
	"testing"
	"time"
)

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// logged returns the lines that a log gets for so many moves, this far apart.
func logged(moves int64, apart time.Duration) []string {
	var out strings.Builder
	c := &clock{}
	m := NewDisplay(&out, c.now).Meter("frames", InFrames)
	for i := range moves + 1 {
		m.Move(i*FrameParts, moves*FrameParts)
		m.Move(i*FrameParts, moves*FrameParts) // nothing new: no line
		c.at = c.at.Add(apart)
	}
	m.End()
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

func TestLogGetsALineForEachTenth(t *testing.T) {
	t.Parallel()
	got := logged(1000, 100*time.Millisecond)
	if len(got) != 10 || got[4] != "frames: 500 of 1,000, 50 %, 50s left" || got[9] != "frames: 1,000 of 1,000, 100 %" {
		t.Errorf("%d lines:\n%s", len(got), strings.Join(got, "\n"))
	}
}

func TestLeavesAreCountedOneByOne(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	m := NewDisplay(&out, time.Now).Meter("leaves", InLeaves)
	m.Move(700, 700)
	m.End()
	if got := out.String(); got != "leaves: 700 of 700, 100 %\n" {
		t.Errorf("got %q", got)
	}
}

func TestQuickWorkIsOneLine(t *testing.T) {
	t.Parallel()
	if got := logged(1000, time.Millisecond); len(got) != 1 || got[0] != "frames: 1,000 of 1,000, 100 %" {
		t.Errorf("%q", got)
	}
}

func TestLogIsNeverSilentForLongWhileWorkGoesOn(t *testing.T) {
	t.Parallel()
	if got := logged(100, maxLineInterval); len(got) != 100 {
		t.Errorf("100 frames of half a minute each are 100 lines, got %d", len(got))
	}
}

func TestTimeLeftFollowsThePaceSinceTheFirstMove(t *testing.T) {
	t.Parallel()
	begin := time.Unix(1000, 0)
	var p pace
	p.move(begin, 10, 40) // a job that is joined late
	if got := p.text(); got != "" {
		t.Errorf("one move gives no pace, got %q", got)
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
	m := NewDisplay(&out, time.now).Meter("upload", InBytes)
	m.Move(0, -1)
	time.at = time.at.Add(maxLineInterval)
	m.Move(131, -1)
	time.at = time.at.Add(maxLineInterval)
	m.Move(3<<20, -1)
	if got := out.String(); got != "upload: 131 B\nupload: 3.0 MiB\n" {
		t.Error(got)
	}
}

func TestBarReachesItsEndAndLinesStayWhole(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	time := &clock{}
	b := &bars{w: &out, now: time.now}
	m := b.Meter("frames", InFrames)
	m.Move(0, 3*FrameParts)
	b.Say("waiting: %s", "no worker is online")
	for i := range int64(4) {
		m.Move(i*FrameParts, 3*FrameParts)
	}
	m.End()
	b.Say("done")
	for _, want := range []string{"waiting: no worker is online\n", "frames", "3 / 3", "100 %", "done\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
	// A meter that is given up must not hold the program.
	m = b.Meter("download", InBytes)
	m.Move(FrameParts, 3*FrameParts)
	m.End()
}

func TestNothingIsLeftAtTheEnd(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &clock{at: time.Unix(1000, 0)}
	m := NewDisplay(&out, c.now).Meter("frames", InFrames)
	m.Expect("1s left") // of packing, which is no part of this meter
	c.at = c.at.Add(maxLineInterval)
	m.Move(3*FrameParts, 3*FrameParts)
	if got := out.String(); got != "frames: 3 of 3, 100 %\n" {
		t.Error(got)
	}
}
