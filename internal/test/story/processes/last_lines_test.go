package processes_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

// lastEvents is how many lines of its log a process is described by.
const lastEvents = 50

// lastLines keeps the last lines that are written to it, of a process and of those that
// follow it.
type lastLines struct {
	mu    sync.Mutex
	lines [][]byte // without their ends, the oldest first
	open  []byte   // a line that has not ended yet
}

func (l *lastLines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := bytes.Split(append(l.open, text...), []byte("\n"))
	l.open = bytes.Clone(all[len(all)-1])
	for _, line := range all[:len(all)-1] {
		l.lines = append(l.lines, bytes.Clone(line))
	}
	l.lines = l.lines[max(0, len(l.lines)-lastEvents):]
	return len(text), nil
}

// print writes the lines.
func (l *lastLines) print(w io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range append(l.lines[:len(l.lines):len(l.lines)], l.open) {
		_, _ = fmt.Fprintf(w, "%s\n", line)
	}
}

func TestOnlyTheLastEventsOfAProcessAreKept(t *testing.T) {
	t.Parallel()
	var l lastLines
	for n := range 3 * lastEvents {
		_, _ = fmt.Fprintf(&l, "event")
		_, _ = fmt.Fprintf(&l, " %d\n", n)
	}
	var got strings.Builder
	l.print(&got)
	want := fmt.Sprintf("event %d\n", 2*lastEvents)
	if n := strings.Count(got.String(), "event"); n != lastEvents || !strings.HasPrefix(got.String(), want) {
		t.Errorf("%d events are kept, from %.20q", n, got.String())
	}
}
