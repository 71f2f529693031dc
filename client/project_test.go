package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"golang.org/x/text/unicode/norm"

	"svc.example/client"
)

// parts speaks the wire protocol of projects: it keeps what it gets, and asks for what
// is missing.
type parts struct {
	*httptest.Server
	lock  sync.Mutex
	has   map[string][]byte
	sent  []string // of each part that arrived whole, in order
	lists []string // each listing as it stood on the wire
	cut   int      // how many parts are still to be cut off
}

func newParts(t *testing.T) (*parts, *client.Client) {
	t.Helper()
	s := &parts{has: map[string][]byte{}}
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /node/v1/parts/{sha256}", s.part)
	mux.HandleFunc("POST /node/v1/projects", s.project)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	c, err := client.New(s.URL, "svc_agent_test", client.WithWait((&waits{}).wait))
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func (s *parts) part(w http.ResponseWriter, r *http.Request) {
	s.lock.Lock()
	cut := s.cut > 0
	s.cut--
	s.lock.Unlock()
	if cut {
		_, _ = io.CopyN(io.Discard, r.Body, 1000)
		panic(http.ErrAbortHandler)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return // the connection is gone
	}
	sum := sha256.Sum256(text)
	if hex.EncodeToString(sum[:]) != r.PathValue("sha256") {
		refuse(w, 400, "content_hash_mismatch", nil)
		return
	}
	s.lock.Lock()
	s.has[r.PathValue("sha256")] = text
	s.sent = append(s.sent, r.PathValue("sha256"))
	s.lock.Unlock()
	answer(w, map[string]any{"ok": true})
}

func (s *parts) project(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	var listing struct {
		Files []struct{ Parts []string }
	}
	if json.Unmarshal(text, &listing) != nil {
		refuse(w, 400, "invalid_request", nil)
		return
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.lists = append(s.lists, string(text))
	missing := []string{}
	for _, f := range listing.Files {
		for _, sum := range f.Parts {
			if s.has[sum] == nil {
				missing = append(missing, sum)
			}
		}
	}
	if len(missing) > 0 {
		w.WriteHeader(409)
		answer(w, map[string]any{"error": map[string]any{"code": "parts_missing", "detail": map[string]any{"missing": missing}}})
		return
	}
	answer(w, map[string]any{"ok": true, "upload_id": "UPL-1", "quote": map[string]any{"quote_id": "QTE-1", "price_cents": 3}})
}

func tree() fstest.MapFS {
	return fstest.MapFS{
		"shots/a.blend":    {Data: []byte("BLENDER")},
		"tex/large.exr":    {Data: bytes.Repeat([]byte("0123456789abcdef"), 5<<20/2)}, // 40 MiB
		"tex/twin.exr":     {Data: []byte("BLENDER")},
		"tex/e\u0301.png":  {Data: []byte("composed on the wire")},
		"tex/empty.png":    {},
		"tex/not sent.png": {Data: []byte("of another scene")},
	}
}

var paths = []string{"tex/large.exr", "tex/e\u0301.png", "tex/empty.png", "tex/twin.exr", "shots/a.blend"}

func list(t *testing.T, files fstest.MapFS) *client.Project {
	t.Helper()
	p, err := client.ListProject(context.Background(), files, "shots/a.blend", paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAProjectIsSentOnce(t *testing.T) {
	t.Parallel()
	s, c := newParts(t)
	files := tree()
	p := list(t, files)
	lines := ""
	for _, f := range p.Files {
		sum := sha256.Sum256(files[norm.NFD.String(f.Path)].Data)
		if f.SHA256 != hex.EncodeToString(sum[:]) || f.SizeBytes != int64(len(files[norm.NFD.String(f.Path)].Data)) {
			t.Errorf("%s has %d bytes and the hash %s", f.Path, f.SizeBytes, f.SHA256)
		}
		lines += f.SHA256 + "  " + f.Path + "\n"
	}
	sum := sha256.Sum256([]byte(lines))
	if p.SHA256() != hex.EncodeToString(sum[:]) || p.Main != "shots/a.blend" || p.MainFile().SizeBytes != 7 || !strings.Contains(lines, "tex/\u00e9.png") || strings.Contains(lines, "not sent") {
		t.Errorf("the project is %q:\n%s", p.Main, lines)
	}
	var told [][2]int64
	request := client.ProjectRequest{Project: p, Progress: func(sent, total int64) { told = append(told, [2]int64{sent, total}) }}
	quote, err := c.InspectProject(context.Background(), request)
	if err != nil || quote.QuoteID != "QTE-1" || quote.UploadID != "UPL-1" {
		t.Fatal(quote, err)
	}
	const total = 40<<20 + 7 + 20 // equal files are sent once, empty ones never
	if len(s.sent) != 4 || told[0] != [2]int64{0, total} || told[len(told)-1] != [2]int64{total, total} {
		t.Errorf("%d parts were sent, the progress begins with %v and ends with %v", len(s.sent), told[0], told[len(told)-1])
	}

	// What the service has is not sent again.
	files["tex/twin.exr"] = &fstest.MapFile{Data: []byte("changed")}
	if _, err := c.InspectProject(context.Background(), client.ProjectRequest{Project: list(t, files)}); err != nil {
		t.Fatal(err)
	}
	if len(s.sent) != 5 || string(s.has[s.sent[4]]) != "changed" {
		t.Errorf("after one change %d parts were sent in all", len(s.sent))
	}
}

func TestACutPartIsSentAgain(t *testing.T) {
	t.Parallel()
	s, _ := newParts(t)
	s.cut = 3
	last, retries := int64(0), 0
	c, err := client.New(s.URL, "svc_agent_test", client.WithWait((&waits{}).wait), client.WithOnRetry(func(client.Retry) { retries++ }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.InspectProject(context.Background(), client.ProjectRequest{Project: list(t, tree()), Progress: func(sent, _ int64) { last = sent }}); err != nil {
		t.Fatal(err)
	}
	if len(s.sent) != 4 || last != 40<<20+27 || retries != 3 {
		t.Errorf("%d parts arrived, %d bytes are reported, and %d retries", len(s.sent), last, retries)
	}
}

func TestAFileThatChangesWhileItIsSentIsNoticed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(fstest.MapFS, string){
		"other bytes": func(f fstest.MapFS, path string) { f[path] = &fstest.MapFile{Data: []byte("CHANGED")} },
		"shorter":     func(f fstest.MapFS, path string) { f[path] = &fstest.MapFile{Data: []byte("B")} },
		"gone":        func(f fstest.MapFS, path string) { delete(f, path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := newParts(t)
			files := tree()
			p := list(t, files)
			change(files, "shots/a.blend")
			_, err := c.InspectProject(context.Background(), client.ProjectRequest{Project: p})
			changed, ok := errors.AsType[*client.ChangedError](err)
			if !ok || changed.Path != "shots/a.blend" || len(s.lists) != 1 {
				t.Errorf("%v after %d listings", err, len(s.lists))
			}
		})
	}
}

func TestAServiceCannotAskForOtherParts(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(409)
		answer(w, map[string]any{"error": map[string]any{"code": "parts_missing", "detail": map[string]any{"missing": []string{strings.Repeat("0", 64)}}}})
	}))
	t.Cleanup(s.Close)
	c, err := client.New(s.URL, "svc_agent_test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.InspectProject(context.Background(), client.ProjectRequest{Project: list(t, tree())}); err == nil || !strings.Contains(err.Error(), "does not have") {
		t.Error(err)
	}
}
