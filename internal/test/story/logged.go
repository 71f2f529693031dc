package story

import (
	"bytes"
	"strings"
	"sync"
)

// Logged keeps what a service logs, for Has.
type Logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// Has reports whether one line has all of the words.
func (l *Logged) Has(words ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		found := 0
		for _, word := range words {
			if strings.Contains(line, word) {
				found++
			}
		}
		if found == len(words) {
			return true
		}
	}
	return false
}
