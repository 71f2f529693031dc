package blender

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// FrameLogBytes bounds Blender's log lines that are kept for one command; the
// oldest are dropped first, since an error's cause is at the end.
const FrameLogBytes = 16 << 10

// maxLine bounds one line, in bytes; the rest of a longer one counts as further
// lines.
const maxLine = 4 << 10

// output reads Blender's standard output and error. It keeps the last lines of the
// running command and reports progress. It is safe for concurrent use: one
// goroutine reads while another waits for a reply.
type output struct {
	mu       sync.Mutex
	lines    []string
	size     int
	onSample func(done float64) // may be nil
	changed  chan struct{}      // of capacity 1, filled by each new status
	status   string             // the newest status, without the parts that always change
	began    time.Time          // when the newest status began to count samples; zero while none does
	sampled  time.Duration      // for which earlier ones of the command did
	marked   time.Time          // when the line of the newest reply came; the frame then begins
	synced   time.Duration      // from there to the command's first sample; negative before
	saving   time.Duration      // what Blender says that it took to save the command's picture
	peak     int64              // bytes that Cycles says that it had on its device, at most, for the command
	circle   bool               // Blender has told of a dependency cycle since the process began
	replies  int                // replies whose lines have all come
	caughtUp chan struct{}      // closed when replies moves; made by the waiting calls
}

// replyMark begins the line that the driver prints before each reply. It orders the
// two pipes: every line before it belongs to that reply or an earlier one.
const replyMark = "svc: reply "

// await returns when the lines that belong to the driver's reply number n have
// come, or after patience: the lines may never come when Blender itself has gone.
func (o *output) await(n int, patience time.Duration) {
	over := time.NewTimer(patience)
	defer over.Stop()
	for {
		o.mu.Lock()
		if o.replies >= n {
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

// mark handles a line of the driver; the line is not part of Blender's log. The
// number never falls, even if a hostile file prints one.
func (o *output) mark(number string) {
	n, err := strconv.Atoi(number)
	if err != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.replies, o.marked = max(o.replies, n), time.Now()
	if o.caughtUp != nil {
		close(o.caughtUp)
		o.caughtUp = nil
	}
}

// begin drops the lines of the previous command and installs the new listener,
// which may be nil.
func (o *output) begin(onSample func(float64)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines, o.size, o.status = nil, 0, ""
	o.began, o.sampled = time.Time{}, 0
	o.synced, o.saving, o.peak = -1, 0, 0
	o.onSample = onSample
}

// sampling returns for how long the command has taken samples.
func (o *output) sampling() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.countSampling(false, time.Now())
	return o.sampled
}

// countSampling notes that a status begins which counts samples, or another one. The
// caller holds mu.
func (o *output) countSampling(samples bool, now time.Time) {
	switch {
	case samples && o.began.IsZero():
		o.began = now
	case !samples && !o.began.IsZero():
		o.sampled += now.Sub(o.began)
		o.began = time.Time{}
	}
}

// parts returns how long a frame, which took took, was before its first sample, and how
// long saving it took. Both are within the frame, whatever a file has printed.
func (o *output) parts(took time.Duration) (sync, saving time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	sync = min(max(0, o.synced), took)
	return sync, min(o.saving, took-sync)
}

// devicePeak returns what Cycles had on its device for the command, at most, in bytes; 0
// where it has not told.
func (o *output) devicePeak() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.peak
}

// text returns the kept lines, without a line feed at the end.
func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.lines, "\n")
}

// read reads lines until r ends. Invalid UTF-8 is replaced, because the log is sent
// as JSON.
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

// add keeps one line, tells call about a new status, and reports progress. It calls
// onSample under the lock, so no call of it runs after begin has replaced it.
func (o *output) add(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	line = withoutPaths(line)
	o.circle = o.circle || strings.HasPrefix(line, "Dependency cycle detected")
	// Blender prints a status line per sample; the newest includes the others.
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
	if !isStatus(line) {
		if took, ok := savingTime(line); ok {
			o.saving = took
		}
		return
	}
	o.peak = max(o.peak, devicePeak(line))
	if status := stableStatus(line); status != o.status {
		o.status = status
		select {
		case o.changed <- struct{}{}:
		default: // it is marked already
		}
	}
	done, ok := share(line)
	now := time.Now()
	o.countSampling(ok, now)
	if ok && o.synced < 0 {
		o.synced = now.Sub(o.marked)
	}
	if ok && o.onSample != nil {
		o.onSample(done)
	}
}

// circular reports whether Blender has reported a dependency cycle. It does so whenever
// it computes the dependencies again.
func (o *output) circular() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.circle
}

// isStatus recognises the status lines of a render, which begin with the frame's
// number.
func isStatus(line string) bool { return strings.HasPrefix(line, "Fra:") }

// stableStatus returns a status line without time and memory, which change even when
// nothing happens: "Fra:5 Mem:9.42M (Peak 14M) | Time:00:00.02 | Remaining:00:06 |
// Mem:2.74M, Peak:2.74M | Scene, ViewLayer | Sample 1/4".
func stableStatus(line string) string {
	var kept []string
	for i, part := range strings.Split(line, " | ") {
		switch {
		case i == 0:
			part, _, _ = strings.Cut(part, " ")
		case strings.HasPrefix(part, "Time:"), strings.HasPrefix(part, "Remaining:"), strings.HasPrefix(part, "Mem:"):
			continue
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, " | ")
}

var (
	sampleCount = regexp.MustCompile(`\bSample (\d+)/(\d+)`)
	tileCount   = regexp.MustCompile(`\bRendered (\d+)/(\d+) Tiles`)
)

// saved matches what Blender prints once a picture is written: "Time: 00:00.62 (Saving:
// 00:00.22)", with hours before where there are some.
var saved = regexp.MustCompile(`^Time: [\d:.]+ \(Saving: (?:(\d{1,4}):)?(\d{1,2}):(\d{1,2}\.\d{1,3})\)$`)

// devicePeakOf matches what Cycles tells of its device's memory, in MiB; Blender's own is
// written otherwise.
var devicePeakOf = regexp.MustCompile(`\| Mem:[\d.]{1,15}M, Peak:([\d.]{1,15})M \|`)

// devicePeak parses the memory of the device, in bytes, from a status line; 0 where there is
// none.
func devicePeak(line string) int64 {
	m := devicePeakOf.FindStringSubmatch(line)
	if m == nil {
		return 0
	}
	mib, err := strconv.ParseFloat(m[1], 64)
	if err != nil || mib > 1<<30 {
		return 0
	}
	return int64(mib * (1 << 20))
}

// savingTime parses the time that Blender took to save a picture; to a hundredth of a
// second.
func savingTime(line string) (d time.Duration, ok bool) {
	m := saved.FindStringSubmatch(line)
	if m == nil {
		return 0, false
	}
	d, err := time.ParseDuration(cmp.Or(m[1], "0") + "h" + m[2] + "m" + m[3] + "s")
	return d, err == nil
}

// share parses the finished share of a frame, from 0 to 1, from "Sample 12/128", or
// for tiled pictures from "Rendered 1/4 Tiles, Sample 12/128". ok is false for a
// line without a count.
func share(line string) (float64, bool) {
	tiles, allTiles, tiled := count(tileCount, line)
	samples, allSamples, sampled := count(sampleCount, line)
	switch {
	case tiled && sampled && samples < allSamples:
		return min((tiles+samples/allSamples)/allTiles, 1), true
	case tiled: // a full count of samples may still be that of the tile before
		return min(tiles/allTiles, 1), true
	case sampled:
		return min(samples/allSamples, 1), true
	}
	return 0, false
}

// count reads "done/all" from a line. Numbers of any size are possible; float64
// holds them.
func count(of *regexp.Regexp, line string) (done, all float64, ok bool) {
	m := of.FindStringSubmatch(line)
	if m == nil {
		return 0, 0, false
	}
	done, err1 := strconv.ParseFloat(m[1], 64)
	all, err2 := strconv.ParseFloat(m[2], 64)
	return done, all, err1 == nil && err2 == nil && all >= 1
}

// absolutePath matches an absolute path with two parts or more, at a line's start or
// after a character that no relative path has there. The last part is kept.
var absolutePath = regexp.MustCompile(`(^|[\s'"(=:,\[<])/(?:[^/\s'"<>|:,)]+/)+`)

// withoutPaths removes the folders of every absolute path in a line and keeps the
// last name: folders describe the worker's machine, not the scene, and the log
// reaches the job's owner.
func withoutPaths(line string) string {
	return absolutePath.ReplaceAllString(line, "$1…/")
}
