package terminal

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"svc.example/internal/ground/numbers"
)

// Display shows a person what a command is doing. A Display has at most one open
// Meter at a time. It is used by one goroutine at a time.
type Display interface {
	// Meter shows the progress of one piece of work, counted in unit. The caller
	// ends it before it opens the next one.
	Meter(title string, unit Unit) Meter
	// Say prints one line, shown as by Printf. A bar that is being drawn is not torn
	// apart: the line appears above it.
	Say(format string, args ...any)
	// Width is how many columns there are for lines: 0 where it is no terminal.
	Width() int
}

// Meter is the progress of one piece of work. It is used by one goroutine at a time.
type Meter interface {
	// Move sets how much is done, in the meter's unit. It is the whole amount so
	// far, not what was added. A total below 1 means that it is not known yet.
	Move(done, total int64)
	// Expect sets the text about the time left, which replaces the meter's own
	// estimate from the next Move on. "" returns to the estimate.
	Expect(left string)
	// End closes the meter, whether or not the work is finished. Call it once.
	End()
}

// Unit is what a meter counts, and how the count is written.
type Unit int

// What a meter can count.
const (
	InBytes  Unit = iota // written as B, KiB, MiB…
	InFrames             // counted in FrameParts, written in whole frames
	InTime               // counted in milliseconds, written in whole seconds
	InLeaves             // leaves of the log of receipts
	InItems              // whatever the title names
)

// FrameParts is how much one frame counts, so that a meter also moves while a frame
// renders. A job of the most frames that the interface allows stays far from the
// limits of int64.
const FrameParts = 1000

// Text writes n, counted in u. Frames and seconds are rounded down: a person must
// not read that a frame is finished while it still renders.
func (u Unit) Text(n int64) string {
	switch u {
	case InBytes:
		if n < 1024 {
			return fmt.Sprintf("%d B", n) // the library writes "b", which means bits
		}
		return fmt.Sprintf("% .1f", decor.SizeB1024(n))
	case InTime:
		return fmt.Sprintf("%d s", n/1000)
	case InFrames:
		return numbers.Grouped(n / FrameParts)
	}
	return numbers.Grouped(n)
}

// NewDisplay draws bars when w is a terminal and writes plain lines otherwise. now
// is the clock by which time left and the distance of lines are computed.
func NewDisplay(w io.Writer, now func() time.Time) Display {
	if IsTerminal(w) {
		return &bars{w: w, now: now}
	}
	return &lines{w: w, now: now}
}

// IsTerminal reports whether stream is a file that is a terminal, or a console of
// Windows. The file's mode is not enough: /dev/null is a character device too.
func IsTerminal(stream any) bool {
	file := fileOf(stream)
	return file != nil && term.IsTerminal(int(file.Fd()))
}

// pace estimates the time left from the speed since the first Move. Counting from
// the first Move, and not from 0, keeps the estimate right for a job that is
// followed only after half of it was rendered.
type pace struct {
	began     time.Time     // of the first Move; zero before
	from      int64         // done, at the first Move
	remaining time.Duration // 0 while unknown, and at the end
	expected  string        // shown in place of the guess
}

// move takes one report and computes the time left again. At the end it also drops
// an expected text: what the service expects may cover packing, which is not part of
// this meter, and "1s left" next to 100 % reads like a mistake.
func (p *pace) move(now time.Time, done, total int64) {
	if p.began.IsZero() {
		p.began, p.from = now, done
	}
	p.remaining = 0
	if total > 0 && done >= total {
		p.expected = ""
		return
	}
	if done > p.from && total > 0 {
		each := float64(now.Sub(p.began)) / float64(done-p.from)
		p.remaining = time.Duration(each * float64(total-done))
	}
}

// Expect implements Meter for both kinds of meters.
func (p *pace) Expect(left string) { p.expected = left }

// text is what to show about the time left, "" while nothing is known.
func (p *pace) text() string {
	if p.expected != "" {
		return p.expected
	}
	if p.remaining <= 0 {
		return ""
	}
	return fmt.Sprintf("%s left", p.remaining.Round(time.Second))
}

// bars draws on a terminal, one bar at a time.
type bars struct {
	w       io.Writer
	now     func() time.Time
	running *mpb.Progress // nil between meters
}

// Say implements Display. While a bar runs, the line must go through the library:
// written to the terminal directly, it would be overwritten by the next refresh.
func (b *bars) Say(format string, args ...any) {
	w := b.w
	if b.running != nil {
		w = b.running
	}
	printWrapped(w, b.Width(), fmt.Sprintf(format, args...))
}

// Width implements Display.
func (b *bars) Width() int { return Width(b.w) }

// Meter implements Display. The library draws from a goroutine of its own, so the
// text about the time left reaches it through a channel of capacity 1 that only ever
// holds the newest text. The counts reach it through the library's own methods.
func (b *bars) Meter(title string, unit Unit) Meter {
	b.running = mpb.New(mpb.WithOutput(drawnOn(b.w)), mpb.WithWidth(64), mpb.WithAutoRefresh())
	m := &bar{owner: b, shown: hideControls(int(os.Stdin.Fd()))}
	left := make(chan string, 1)
	m.left = left
	// Only the drawing goroutine uses latest: it keeps the last text between updates.
	latest := ""
	m.bar = b.running.MustAdd(0, ofKnownLength(mpb.BarStyle().Build()),
		mpb.PrependDecorators(decor.Name(title, decor.WC{W: 10, C: decor.DindentRight | decor.DextraSpace}),
			decor.Any(func(s decor.Statistics) string {
				if s.Total <= 0 {
					return unit.Text(s.Current)
				}
				return fmt.Sprintf("%s / %s ", unit.Text(s.Current), unit.Text(s.Total))
			})),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string {
			select {
			case latest = <-left:
			default:
			}
			if s.Total <= 0 {
				return " " + latest
			}
			return fmt.Sprintf(" %3d %% %s", 100*s.Current/s.Total, latest)
		})))
	return m
}

// ofKnownLength draws nothing while the total is not known: an empty bar would look like
// stalled work.
func ofKnownLength(drawn mpb.BarFiller) mpb.BarFiller {
	return mpb.BarFillerFunc(func(w io.Writer, s decor.Statistics) error {
		if s.Total <= 0 {
			return nil
		}
		return drawn.Fill(w, s)
	})
}

// bar is a Meter on a terminal.
type bar struct {
	owner *bars
	bar   *mpb.Bar
	left  chan string // to the drawing goroutine; see bars.Meter
	shown func()      // has the terminal show Ctrl-C again
	pace
	done  int64
	total int64
}

// Move implements Meter.
func (m *bar) Move(done, total int64) {
	m.pace.move(m.owner.now(), done, total)
	m.done, m.total = done, max(total, 0)
	// Take an unread text out first: a send would block on a full channel until
	// the bar is drawn again.
	select {
	case <-m.left:
	default:
	}
	m.left <- m.pace.text()
	m.bar.SetTotal(m.total, false)
	m.bar.SetCurrent(done)
}

// End implements Meter. It waits until the bar is drawn for the last time. A bar
// short of its total must be aborted: the library would wait for the rest for ever.
func (m *bar) End() {
	if m.total > 0 && m.done == m.total {
		m.bar.SetTotal(m.total, true)
	} else {
		m.bar.Abort(false)
	}
	m.owner.running.Wait()
	m.owner.running = nil
	m.shown()
}

// A plain meter writes a line at each tenth of the work. Quick work does not fill a
// log with lines, and slow work still shows within half a minute that it continues.
const (
	minLineInterval = 2 * time.Second
	maxLineInterval = 30 * time.Second
)

// lines writes plain lines, for log files and pipes.
type lines struct {
	w   io.Writer
	now func() time.Time
}

// Say implements Display.
func (l *lines) Say(format string, args ...any) { Printf(l.w, format, args...) }

// Width implements Display.
func (l *lines) Width() int { return 0 }

// Meter implements Display.
func (l *lines) Meter(title string, unit Unit) Meter {
	return &line{owner: l, title: title, unit: unit, last: l.now()}
}

// line is a Meter that writes a line now and then.
type line struct {
	owner *lines
	title string
	unit  Unit
	pace
	tenth    int64     // tenths that were done at the last line, 0 to 10
	last     time.Time // of the last line, or of the beginning
	lastDone int64     // done, at the last line
}

// Move implements Meter. It writes a line when another tenth is done and
// minLineInterval has passed, when the work is complete, or when maxLineInterval has
// passed and anything has moved. A repeated report of the same state writes nothing.
func (m *line) Move(done, total int64) {
	now := m.owner.now()
	m.pace.move(now, done, total)
	tenth := int64(0)
	if total > 0 {
		tenth = 10 * done / total
	}
	sinceLine := now.Sub(m.last)
	due := tenth > m.tenth && (sinceLine >= minLineInterval || done == total)
	if !due && (done == m.lastDone || sinceLine < maxLineInterval) {
		return
	}
	m.tenth, m.last, m.lastDone = tenth, now, done
	text := fmt.Sprintf("%s: %s", m.title, m.unit.Text(done))
	if total > 0 {
		text += fmt.Sprintf(" of %s, %d %%", m.unit.Text(total), 100*done/total)
	}
	if left := m.pace.text(); left != "" {
		text += ", " + left
	}
	m.owner.Say("%s", text)
}

// End implements Meter. The last Move has written the last line.
func (m *line) End() {}
