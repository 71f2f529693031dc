package client

import (
	"io"
	"strings"
	"sync/atomic"
	"testing"
)

// slow is a file whose reads take until they are let go.
type slow struct {
	io.Reader
	begun, letGo chan struct{}
	ended        atomic.Bool
}

func (s *slow) Read(p []byte) (int, error) {
	close(s.begun)
	<-s.letGo
	defer s.ended.Store(true)
	return s.Reader.Read(p)
}

func TestNextTryNeverSharesTheFileWithTheLast(t *testing.T) {
	t.Parallel()
	file := strings.NewReader("0123456789")
	source := &slow{Reader: file, begun: make(chan struct{}), letGo: make(chan struct{})}
	body := &closableBody{from: source}
	go body.Read(make([]byte, 4))
	<-source.begun
	go close(source.letGo)
	body.Close()
	if !source.ended.Load() {
		t.Error("closed while a read was under way")
	}
	if _, err := body.Read(make([]byte, 4)); err == nil || file.Len() != 6 {
		t.Errorf("a closed body continued to read: error %v, %d bytes left of 6", err, file.Len())
	}
}
