package client

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"time"
)

const (
	// maxEventLine bounds one line of an event stream, bytes.
	maxEventLine = 4 << 20
	// streamIdle is how long a connection may say nothing, not even a keep-alive,
	// before it counts as lost.
	streamIdle = time.Minute
)

// message is one entry of an event stream. id may be that of an earlier entry. An entry
// without data only says where to resume.
type message struct {
	id   string
	kind string
	data string
}

// readMessages calls on with each complete message of a stream of server-sent
// events (WHATWG HTML 9.2), and with each new id that comes alone. It returns nil at the end of the stream, or on's error.
// A message that the end cuts off is dropped: it comes again after the last id. An
// id holds for later messages too, as the format requires. Lines end with LF or CR LF.
func readMessages(from io.Reader, on func(message) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 4096), maxEventLine)
	lines.Split(wholeLines)
	var now message
	var data []string
	place := "" // the last id that on has seen
	for lines.Scan() {
		line := lines.Text()
		if line == "" {
			now.data = strings.Join(data, "\n")
			if len(data) == 0 {
				now.kind = "" // an entry without data is no event (9.2.6)
			}
			if len(data) > 0 || now.id != place {
				place = now.id
				if err := on(now); err != nil {
					return err
				}
			}
			now, data = message{id: now.id}, nil
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field { // a line that starts with a colon is a comment: no field
		case "event":
			now.kind = value
		case "data":
			data = append(data, value)
		case "id":
			now.id = value
		}
	}
	return lines.Err()
}

// wholeLines is bufio.ScanLines without the line that the end of the stream cuts off. Half
// a line end, a CR, would otherwise count as the empty line that ends a message.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if atEOF && bytes.IndexByte(data, '\n') < 0 {
		return len(data), nil, nil
	}
	return bufio.ScanLines(data, atEOF)
}

// watched cancels the connection when a read waits too long. A deadline for the
// whole answer would cut streams and downloads that are merely long.
type watched struct {
	io.ReadCloser
	timer *time.Timer
}

// watch calls cancel, which must end the connection, when from stays silent for
// streamIdle. The timer runs only during a read, so a slow consumer is not taken
// for a silent server.
func watch(from io.ReadCloser, cancel context.CancelFunc) *watched {
	w := &watched{from, time.AfterFunc(streamIdle, cancel)}
	w.timer.Stop()
	return w
}

func (w *watched) Read(p []byte) (int, error) {
	w.timer.Reset(streamIdle)
	defer w.timer.Stop()
	return w.ReadCloser.Read(p)
}
