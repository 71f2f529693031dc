package front

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"svc.example/internal/test/await"
)

// connection replaces net/http's response, and notes what reaches it.
type connection struct {
	http.ResponseWriter
	steps []string
	files int
	most  int64 // bytes of the largest piece
	last  time.Time
}

func (c *connection) SetWriteDeadline(t time.Time) error {
	if !t.After(c.last) {
		c.steps = append(c.steps, "deadline that does not move")
	}
	c.last = t
	c.steps = append(c.steps, "deadline")
	return nil
}

func (c *connection) Write(p []byte) (int, error) {
	c.steps, c.most = append(c.steps, "write"), max(c.most, int64(len(p)))
	return c.ResponseWriter.Write(p)
}

func (c *connection) ReadFrom(src io.Reader) (int64, error) {
	if piece, ok := src.(*io.LimitedReader); ok {
		if _, ok := piece.R.(*os.File); ok {
			c.files++
		}
		c.most = max(c.most, piece.N)
	}
	c.steps = append(c.steps, "write")
	return io.Copy(writerOnly{c.ResponseWriter}, src)
}

// file is a file of that many bytes.
func file(t *testing.T, size int) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestAFileReachesTheConnectionAsAFile: only then the system sends it without
// copying it through the process.
func TestAFileReachesTheConnectionAsAFile(t *testing.T) {
	t.Parallel()
	const size = 3*writeChunk + 5
	f := file(t, size)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /whole", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, f, size) })
	mux.HandleFunc("GET /content", func(w http.ResponseWriter, r *http.Request) { http.ServeContent(w, r, "", time.Time{}, f) })
	for _, path := range []string{"/whole", "/content"} {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		c := &connection{ResponseWriter: w}
		newFront(mux, slog.DiscardHandler).ServeHTTP(c, httptest.NewRequest("GET", path, nil))
		if c.files != 4 || w.Body.Len() != size {
			t.Errorf("%s: %d pieces of a file reached the connection, and %d bytes of %d", path, c.files, w.Body.Len(), size)
		}
	}
}

// TestTheDeadlineMovesWithEachPieceOfAnAnswer: a caller may be slow, but must
// not stall.
func TestTheDeadlineMovesWithEachPieceOfAnAnswer(t *testing.T) {
	t.Parallel()
	f := file(t, 5*writeChunk)
	for what, write := range map[string]func(w http.ResponseWriter){
		"a large write": func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, 5*writeChunk)) },
		"small writes": func(w http.ResponseWriter) {
			for range 5 {
				_, _ = io.WriteString(w, "x")
			}
		},
		"a file": func(w http.ResponseWriter) { _, _ = io.CopyN(w, f, 5*writeChunk) },
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /thing", func(w http.ResponseWriter, _ *http.Request) { write(w) })
		c := &connection{ResponseWriter: httptest.NewRecorder()}
		newFront(mux, slog.DiscardHandler).ServeHTTP(c, httptest.NewRequest("GET", "/thing", nil))
		if len(c.steps) != 11 || c.most > writeChunk { // five pieces, and what net/http still has
			t.Fatalf("%s: %d bytes at once in %v", what, c.most, c.steps)
		}
		for i, step := range c.steps {
			if want := []string{"deadline", "write"}[i%2]; step != want {
				t.Errorf("%s: step %d is a %s", what, i, step)
			}
		}
	}
}

// TestACallerWhoTakesNothingIsCutOff sends an endless answer to a caller that never reads.
func TestACallerWhoTakesNothingIsCutOff(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /endless", func(w http.ResponseWriter, _ *http.Request) {
		piece := make([]byte, writeChunk)
		for {
			if _, err := w.Write(piece); err != nil {
				ended <- err
				return
			}
		}
	})
	f := newFront(mux, slog.DiscardHandler)
	f.WriteStall = 50 * time.Millisecond
	s := httptest.NewServer(f)
	defer s.Close()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, "GET /endless HTTP/1.1\r\nHost: svc\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	await.Next(t, ended, "the end of an answer that is never read")
}
