package terminal

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/sys/unix"
)

// Display shows people what a command is doing.
type Display interface {
	// Meter shows how far one stretch of work has come, counted in unit.
	Meter(title string, unit Unit) Meter
	// Say prints a line; a running meter stays whole.
	Say(format string, args ...any)
}

// Meter is one stretch of work. It is used by one goroutine at a time.
type Meter interface {
	// Move says how far the work is. A total below 1 is not known yet.
	Move(done, total int64)
	// Expect sets what is shown of the time left, in place of the meter's own
	// guess; "" leaves that to the meter.
	Expect(left string)
	// End closes the meter, whether the work was finished or not.
	End()
}

// Unit is what a meter counts.
type Unit int

// What a meter can count.
const (
	InBytes  Unit = iota
	InFrames      // counted in FrameParts
	InTime        // counted in milliseconds
	InLeaves
)

// FrameParts is what one frame counts, so that a meter moves inside it.
const FrameParts = 1000

// Text writes n in the unit.
func (u Unit) Text(n int64) string {
	switch u {
	case InBytes:
		if n < 1024 {
			return fmt.Sprintf("%d B", n) // the library writes b, which are bits
		}
		return fmt.Sprintf("% .1f", decor.SizeB1024(n))
	case InTime:
		return fmt.Sprintf("%d s", n/1000)
	case InFrames:
		return fmt.Sprint(n / FrameParts)
	}
	return fmt.Sprint(n)
}

// NewDisplay draws bars on a terminal and writes plain lines elsewhere.
func NewDisplay(w io.Writer, now func() time.Time) Display {
	if IsTerminal(w) {
		return &bars{w: w, now: now}
	}
	return &lines{w: w, now: now}
}

// IsTerminal reports whether stream is a terminal. The mode of the file does
// not say it: /dev/null is a character device too.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	return err == nil
}

// pace guesses how long a stretch of work still takes, by how fast it went since
// its first move.
type pace struct {
	began     time.Time
	from      int64
	remaining time.Duration // 0 while unknown, and at the end
	expected  string        // shown in place of the guess
}

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

func (p *pace) Expect(left string) { p.expected = left }

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

func (b *bars) Say(format string, args ...any) {
	w := b.w
	if b.running != nil {
		w = b.running // prints above the bar
	}
	fmt.Fprintf(w, format+"\n", args...)
}

func (b *bars) Meter(title string, unit Unit) Meter {
	b.running = mpb.New(mpb.WithOutput(b.w), mpb.WithWidth(64), mpb.WithAutoRefresh())
	m := &bar{owner: b}
	left := make(chan string, 1) // the newest text wins: the bar is drawn elsewhere
	m.left = left
	latest := ""
	m.bar = b.running.AddBar(0,
		mpb.PrependDecorators(decor.Name(title, decor.WC{W: 10, C: decor.DindentRight}),
			decor.Any(func(s decor.Statistics) string {
				return fmt.Sprintf("%s / %s ", unit.Text(s.Current), unit.Text(s.Total))
			})),
		mpb.AppendDecorators(decor.Percentage(decor.WC{W: 5}), decor.Any(func(decor.Statistics) string {
			select {
			case latest = <-left:
			default:
			}
			return " " + latest
		})))
	return m
}

type bar struct {
	owner *bars
	bar   *mpb.Bar
	left  chan string
	pace
	done  int64
	total int64
}

func (m *bar) Move(done, total int64) {
	m.pace.move(m.owner.now(), done, total)
	m.done, m.total = done, max(total, 0)
	select {
	case <-m.left:
	default:
	}
	m.left <- m.pace.text()
	m.bar.SetTotal(m.total, false)
	m.bar.SetCurrent(done)
}

func (m *bar) End() {
	if m.total > 0 && m.done == m.total {
		m.bar.SetTotal(m.total, true)
	} else {
		m.bar.Abort(false)
	}
	m.owner.running.Wait()
	m.owner.running = nil
}

// A plain meter writes a line at each tenth of the work: not more often than the
// first of these, and after the second where a tenth takes longer.
const (
	quietAtLeast = 2 * time.Second
	quietAtMost  = 30 * time.Second
)

// lines writes a log.
type lines struct {
	w   io.Writer
	now func() time.Time
}

func (l *lines) Say(format string, args ...any) { fmt.Fprintf(l.w, format+"\n", args...) }

func (l *lines) Meter(title string, unit Unit) Meter {
	return &line{owner: l, title: title, unit: unit, last: l.now()}
}

type line struct {
	owner *lines
	title string
	unit  Unit
	pace
	tenth int64     // of the last line
	last  time.Time // of the last line, or of the beginning
	said  int64     // done, as the last line had it
}

func (m *line) Move(done, total int64) {
	now := m.owner.now()
	m.pace.move(now, done, total)
	tenth := int64(0)
	if total > 0 {
		tenth = 10 * done / total
	}
	quiet := now.Sub(m.last)
	due := tenth > m.tenth && (quiet >= quietAtLeast || done == total)
	if !due && (done == m.said || quiet < quietAtMost) {
		return
	}
	m.tenth, m.last, m.said = tenth, now, done
	text := fmt.Sprintf("%s: %s", m.title, m.unit.Text(done))
	if total > 0 {
		text += fmt.Sprintf(" of %s, %d %%", m.unit.Text(total), 100*done/total)
	}
	if left := m.pace.text(); left != "" {
		text += ", " + left
	}
	m.owner.Say("%s", text)
}

func (m *line) End() {}
