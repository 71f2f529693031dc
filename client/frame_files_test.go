package client_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

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
	for name, c := range map[string]*client.Client{"other bytes": syncing(t, "f1.png", "1ne", "x.png"), "elsewhere": syncing(t, "../f1.png", "one", "x.png")} {
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

// TestAFrameResumesWhereItBroke serves one frame, as the service does, over connections that break.
func TestAFrameResumesWhereItBroke(t *testing.T) {
	t.Parallel()
	content := picture(90_000)
	sum := func(bytes []byte) string { return fmt.Sprintf("%x", sha256.Sum256(bytes)) }
	type answer func(w http.ResponseWriter, r *http.Request)
	sends := func(bytes []byte) answer {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", strconv.Quote(sum(bytes)))
			http.ServeContent(w, r, "f1.png", time.Time{}, strings.NewReader(string(bytes)))
		}
	}
	cut := func(after int) answer {
		return func(w http.ResponseWriter, r *http.Request) { cutAfter(after)(w, r, http.HandlerFunc(sends(content))) }
	}
	away := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	whole := func(w http.ResponseWriter, _ *http.Request) { w.Write(content) }
	elsewhere := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-9/%d", len(content)))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(content[:10])
	}
	noRange := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestedRangeNotSatisfiable) }
	for name, c := range map[string]struct {
		answers []answer // the last for ever
		asked   string   // the ranges
		err     error
	}{
		"two breaks":                   {[]answer{cut(30_000), cut(20_000), sends(content)}, "|30000-|50000-", nil},
		"a break and a server away":    {[]answer{cut(30_000), away, away, sends(content)}, "|30000-|30000-|30000-", nil},
		"a server without ranges":      {[]answer{cut(30_000), whole}, "|30000-", nil},
		"no such range":                {[]answer{cut(30_000), noRange, sends(content)}, "|30000-|", nil},
		"another frame meanwhile":      {[]answer{cut(30_000), sends(picture(80_000)[1:])}, "|30000-", client.ErrDownloadChanged},
		"another range than asked for": {[]answer{cut(30_000), elsewhere, sends(content)}, "|30000-|30000-", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			mux := http.NewServeMux()
			mux.HandleFunc("GET /node/v1/jobs/JOB-1/frames", func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, `{"frames":[{"frame":1,"file":"f1.png","sha256":%q,"size_bytes":%d}]}`, sum(content), len(content))
			})
			mux.HandleFunc("GET /node/v1/jobs/JOB-1/events", func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, "id: 1\nevent: job\ndata: {\"job_id\":\"JOB-1\",\"status\":\"completed\"}\n\n")
			})
			mux.HandleFunc("GET /node/v1/jobs/JOB-1/frames/1/file", func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, strings.TrimPrefix(r.Header.Get("Range"), "bytes="))
				if r.Header.Get("Range") != "" && r.Header.Get("If-Range") != strconv.Quote(sum(content)) {
					t.Errorf("If-Range is %q", r.Header.Get("If-Range"))
				}
				c.answers[min(len(asked), len(c.answers))-1](w, r)
			})
			s := httptest.NewServer(mux)
			t.Cleanup(s.Close)
			api, err := client.New(s.URL, "svc_agent_test", client.WithWait((&waits{}).wait))
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			_, err = api.Sync(t.Context(), "JOB-1", folder, nil, nil)
			if !errors.Is(err, c.err) || strings.Join(asked, "|") != c.asked {
				t.Errorf("it asked for %q, want %q; error %v, want %v", strings.Join(asked, "|"), c.asked, err, c.err)
			}
			names := strings.Join(listed(t, folder), " ")
			if got, _ := os.ReadFile(filepath.Join(folder, "f1.png")); c.err == nil && (names != "f1.png" || !bytes.Equal(got, content)) || c.err != nil && names != "" {
				t.Errorf("the folder has %q", names)
			}
		})
	}
}
