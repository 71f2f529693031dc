package client_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/client"
)

// syncing serves a completed job of two frames, of which the events name the first alone:
// the second was accepted while no stream was open.
func syncing(t *testing.T, name, first, output string) *client.Client {
	t.Helper()
	sum := func(text string) string {
		all := sha256.Sum256([]byte(text))
		return hex.EncodeToString(all[:])
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /node/v1/jobs/JOB-1/events", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "id: 1\nevent: frame\ndata: {\"frame\":1,\"file\":%q,\"sha256\":%q,\"size_bytes\":3}\n\nid: 2\nevent: job\ndata: {\"job_id\":\"JOB-1\",\"status\":\"completed\"}\n\n", name, sum("one"))
	})
	mux.HandleFunc("GET /node/v1/jobs/JOB-1/frames", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"frames":[{"frame":1,"file":%q,"sha256":%q,"size_bytes":3},{"frame":2,"file":"f2.png","sha256":%q,"size_bytes":3,"outputs":[{"name":%q,"sha256":%q,"size_bytes":5}]}]}`, name, sum("one"), sum("two"), output, sum("three"))
	})
	mux.HandleFunc("GET /node/v1/jobs/JOB-1/frames/1/file", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, first) })
	mux.HandleFunc("GET /node/v1/jobs/JOB-1/frames/2/file", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("output") == output {
			io.WriteString(w, "three")
			return
		}
		io.WriteString(w, "two")
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	c, err := client.New(s.URL, "svc_agent_test", client.WithAttempts(1))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAFolderGetsEachFrameOnce(t *testing.T) {
	t.Parallel()
	c, folder := syncing(t, "f1.png", "one", "deep/a b.exr"), filepath.Join(t.TempDir(), "new")
	for round, was := range []bool{false, true} {
		var told []string
		job, err := c.Sync(t.Context(), "JOB-1", folder, func(f client.FrameSaved) {
			told = append(told, fmt.Sprint(f.Frame, filepath.Base(f.Path), f.Was))
		}, nil)
		want := fmt.Sprintf("[1 f1.png %[1]t 2 f2.png %[1]t]", was)
		if got := fmt.Sprint(told); err != nil || job.Status != client.StatusCompleted || strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("round %d: %v, want %v; job %+v, error %v", round, got, want, job, err)
		}
	}
	for name, want := range map[string]string{"f1.png": "one", "f2.png": "two", "outputs/deep/a b.exr": "three"} {
		if got, err := os.ReadFile(filepath.Join(folder, name)); string(got) != want || err != nil {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
}

// A frame that is not what the service promised, or that would land elsewhere, is not kept.
func TestAFolderGetsNothingElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*client.Client{"other bytes": syncing(t, "f1.png", "1ne", "x.png"), "longer": syncing(t, "f1.png", "one more", "x.png"), "elsewhere": syncing(t, "../f1.png", "one", "x.png")} {
		folder := t.TempDir()
		_, err := c.Sync(t.Context(), "JOB-1", folder, nil, nil)
		entries, _ := os.ReadDir(folder)
		if err == nil || len(entries) != 0 || name != "elsewhere" && !errors.Is(err, client.ErrDownloadChanged) {
			t.Errorf("%s: %v, error %v", name, entries, err)
		}
	}
}

// An output that would land elsewhere is not kept, and neither is its frame.
func TestAFolderGetsOutputsBelowItAlone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../x.png", "/x.png", `a\x.png`, "", "a/../../x.png"} {
		folder := filepath.Join(t.TempDir(), "frames")
		_, err := syncing(t, "f1.png", "one", name).Sync(t.Context(), "JOB-1", folder, nil, nil)
		entries, _ := os.ReadDir(folder)
		if err == nil || len(entries) != 1 || entries[0].Name() != "f1.png" {
			t.Errorf("%q: %v, error %v", name, entries, err)
		}
	}
}
