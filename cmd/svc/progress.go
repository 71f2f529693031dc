package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/sys/unix"
)

// display shows people what a command is doing.
type display interface {
	// meter shows how far one stretch of work has come, counted in unit.
	meter(title string, unit unit) meter
	// say prints a line; a running meter stays whole.
	say(format string, args ...any)
}

// meter is one stretch of work. It is used by one goroutine at a time.
type meter interface {
	// move tells how far the work is. A total below 1 is not known yet.
	move(done, total int64)
	// expect tells what is said of the time left, in place of the meter's own
	// guess; "" leaves that to the meter.
	expect(left string)
	// end closes the meter, whether the work was finished or not.
	end()
}

// unit is what a meter counts.
type unit int

const (
	inBytes  unit = iota
	inFrames      // counted in frameParts
	inTime        // counted in milliseconds
	inLeaves
)

// frameParts is what one frame counts, so that a meter moves inside it.
const frameParts = 1000

func (u unit) text(n int64) string {
	switch u {
	case inBytes:
		if n < 1024 {
			return fmt.Sprintf("%d B", n) // the library writes b, which are bits
		}
		return fmt.Sprintf("% .1f", decor.SizeB1024(n))
	case inTime:
		return fmt.Sprintf("%d s", n/1000)
	case inFrames:
		return fmt.Sprint(n / frameParts)
	}
	return fmt.Sprint(n)
}

// newDisplay draws bars on a terminal and writes plain lines elsewhere.
func newDisplay(w io.Writer, now func() time.Time) display {
	if isTerminal(w) {
		return &bars{w: w, now: now}
	}
	return &lines{w: w, now: now}
}

// isTerminal reports whether stream is a terminal. The mode of the file does
// not say it: /dev/null is a character device too.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	return err == nil
}

// pace tells how long a stretch of work still takes, by how fast it went since
// its first move.
type pace struct {
	began     time.Time
	from      int64
	remaining time.Duration // 0 while unknown, and at the end
	told      string        // by who knows better
}

func (p *pace) move(now time.Time, done, total int64) {
	if p.began.IsZero() {
		p.began, p.from = now, done
	}
	p.remaining = 0
	if total > 0 && done >= total {
		p.told = ""
		return
	}
	if done > p.from && total > 0 {
		each := float64(now.Sub(p.began)) / float64(done-p.from)
		p.remaining = time.Duration(each * float64(total-done))
	}
}

func (p *pace) expect(left string) { p.told = left }

func (p *pace) text() string {
	if p.told != "" {
		return p.told
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

func (b *bars) say(format string, args ...any) {
	w := b.w
	if b.running != nil {
		w = b.running // prints above the bar
	}
	fmt.Fprintf(w, format+"\n", args...)
}

func (b *bars) meter(title string, unit unit) meter {
	b.running = mpb.New(mpb.WithOutput(b.w), mpb.WithWidth(64), mpb.WithAutoRefresh())
	m := &bar{owner: b}
	left := make(chan string, 1) // the newest text wins: the bar is drawn elsewhere
	m.left = left
	latest := ""
	m.bar = b.running.AddBar(0,
		mpb.PrependDecorators(decor.Name(title, decor.WC{W: 10, C: decor.DindentRight}),
			decor.Any(func(s decor.Statistics) string {
				return fmt.Sprintf("%s / %s ", unit.text(s.Current), unit.text(s.Total))
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

func (m *bar) move(done, total int64) {
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

func (m *bar) end() {
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

func (l *lines) say(format string, args ...any) { fmt.Fprintf(l.w, format+"\n", args...) }

func (l *lines) meter(title string, unit unit) meter {
	return &line{owner: l, title: title, unit: unit, last: l.now()}
}

type line struct {
	owner *lines
	title string
	unit  unit
	pace
	tenth int64     // of the last line
	last  time.Time // of the last line, or of the beginning
	said  int64     // done, as the last line told it
}

func (m *line) move(done, total int64) {
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
	text := fmt.Sprintf("%s: %s", m.title, m.unit.text(done))
	if total > 0 {
		text += fmt.Sprintf(" of %s, %d %%", m.unit.text(total), 100*done/total)
	}
	if left := m.pace.text(); left != "" {
		text += ", " + left
	}
	m.owner.say("%s", text)
}

func (m *line) end() {}
