package blender

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// FrameLogBytes is the most that is kept of Blender's lines for one command; the
// oldest go first.
const FrameLogBytes = 16 << 10

// maxLine cuts a line that Blender never ends.
const maxLine = 4 << 10

// output reads Blender's standard output and error: it keeps the last lines of
// the running command and tells of progress. Safe for concurrent use.
type output struct {
	mu       sync.Mutex
	lines    []string
	size     int
	onSample func(done float64) // may be nil
	alive    chan struct{}      // of capacity 1, filled at each line
	said     int                // replies whose lines have all come
	caughtUp chan struct{}      // closed when said moves; made by those who wait
}

// replyMark begins the line that the driver prints before each reply.
const replyMark = "svc: reply "

// await returns when the lines that belong to the driver's reply number said have
// come, or after patience: lines may lack when Blender itself has gone.
func (o *output) await(said int, patience time.Duration) {
	over := time.NewTimer(patience)
	defer over.Stop()
	for {
		o.mu.Lock()
		if o.said >= said {
			o.mu.Unlock()
			return
		}
		if o.caughtUp == nil {
			o.caughtUp = make(chan struct{})
		}
		moved := o.caughtUp
		o.mu.Unlock()
		select {
		case <-moved:
		case <-over.C:
			return
		}
	}
}

// mark takes in a line of the driver's own; it is none of Blender's.
func (o *output) mark(number string) {
	n, err := strconv.Atoi(number)
	if err != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said = max(o.said, n)
	if o.caughtUp != nil {
		close(o.caughtUp)
		o.caughtUp = nil
	}
}

// begin forgets the lines of the command before and takes the new listener.
func (o *output) begin(onSample func(float64)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines, o.size = nil, 0
	o.onSample = onSample
}

// text returns the kept lines.
func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.lines, "\n")
}

// read takes lines until r ends.
func (o *output) read(r io.Reader) {
	lines := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := lines.ReadSlice('\n')
		if number, ours := bytes.CutPrefix(bytes.TrimSpace(line), []byte(replyMark)); ours {
			o.mark(string(number))
		} else if len(bytes.TrimSpace(line)) > 0 {
			o.add(strings.ToValidUTF8(strings.TrimSpace(string(line)), "�"))
		}
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}

func (o *output) add(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	line = withoutPaths(line)
	// Blender prints a status line at each sample; the newest says it all.
	if n := len(o.lines); n > 0 && isStatus(line) && isStatus(o.lines[n-1]) {
		o.size -= len(o.lines[n-1]) + 1
		o.lines = o.lines[:n-1]
	}
	o.lines = append(o.lines, line)
	o.size += len(line) + 1
	for o.size > FrameLogBytes {
		o.size -= len(o.lines[0]) + 1
		o.lines = o.lines[1:]
	}
	select {
	case o.alive <- struct{}{}:
	default: // it is marked already
	}
	if done, ok := samples(line); ok && o.onSample != nil {
		o.onSample(done)
	}
}

func isStatus(line string) bool { return strings.HasPrefix(line, "Fra:") }

var sampleCount = regexp.MustCompile(`\bSample (\d+)/(\d+)`)

// samples reads "Sample 12/128" of a status line as a share from 0 to 1.
func samples(line string) (float64, bool) {
	m := sampleCount.FindStringSubmatch(line)
	if m == nil {
		return 0, false
	}
	done, err1 := strconv.ParseFloat(m[1], 64)
	all, err2 := strconv.ParseFloat(m[2], 64)
	if err1 != nil || err2 != nil || all < 1 {
		return 0, false
	}
	return min(done/all, 1), true
}

// An absolute path of two parts or more, at a line's start or behind a character
// that no relative path would have there; the last part is kept.
var absolutePath = regexp.MustCompile(`(^|[\s'"(=:,\[<])/(?:[^/\s'"<>|:,)]+/)+`)

// withoutPaths takes the folders out of every absolute path of a line: they tell
// of the worker's machine and nothing of the scene.
func withoutPaths(line string) string {
	return absolutePath.ReplaceAllString(line, "$1…/")
}
