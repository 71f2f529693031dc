package worker_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/farmapi"
)

// slow is a server behind a slow network.
type slow struct {
	*server
	delay time.Duration
}

func (s slow) Lease(ctx context.Context, req farmapi.LeaseRequest) (farmapi.LeaseReply, error) {
	if err := rest(ctx, s.delay); err != nil {
		return farmapi.LeaseReply{}, err
	}
	return s.server.Lease(ctx, req)
}

// damaging is a server whose files differ from their description.
type damaging struct{ *server }

func (damaging) Part(context.Context, string, string, string, int64) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("a scenE")), nil
}

// keyless is a server that does not know the worker's key.
type keyless struct{ *server }

func (keyless) Register(context.Context, farmapi.RegisterRequest) (farmapi.RegisterReply, error) {
	return farmapi.RegisterReply{}, refusal(401, "unauthenticated")
}

// refusing is a server that refuses every lease call, and counts them.
type refusing struct {
	*server
	calls *atomic.Int64
}

func (r refusing) Lease(context.Context, farmapi.LeaseRequest) (farmapi.LeaseReply, error) {
	r.calls.Add(1)
	return farmapi.LeaseReply{}, refusal(400, "invalid_request")
}

// outbox lists what the worker has kept.
func (b *bench) outbox() []string {
	b.t.Helper()
	entries, err := os.ReadDir(filepath.Join(b.config.WorkDir, "outbox"))
	if err != nil {
		b.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// projects is a server whose jobs have several files, one of two parts.
type projects struct {
	*server
	parts map[string]string // by SHA-256
	main  string            // other than the job's file when not ""
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (p projects) Project(ctx context.Context, workerID, jobID string) (farmapi.Project, error) {
	project, err := p.server.Project(ctx, workerID, jobID)
	if err == nil {
		project.Main = cmp.Or(p.main, project.Main)
		project.Files = append(project.Files, farmapi.File{
			Path: "tex/ü.png", SHA256: sumOf("one and two"), SizeBytes: 11, Parts: []string{sumOf("one "), sumOf("and two")},
		})
	}
	return project, err
}

func (p projects) Part(ctx context.Context, workerID, jobID, sum string, size int64) (io.ReadCloser, error) {
	if text, ok := p.parts[sum]; ok {
		return io.NopCloser(strings.NewReader(text)), nil
	}
	return p.server.Part(ctx, workerID, jobID, sum, size)
}

func TestBlenderGetsAllFilesOfAProject(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(1), newPainter()
		b := newBench(t, s, p)
		b.config.CacheBytes = 1 // keeps the newest file only, while the job has both
		b.config.Farm = projects{server: s, parts: map[string]string{sumOf("one "): "one ", sumOf("and two"): "and two"}}
		stop := b.run()
		defer stop()
		b.untilDelivered(1)
		if want := "scene.blend: a scene\ntex/ü.png: one and two\n"; len(p.opens) != 1 || p.opens[0] != want {
			t.Errorf("Blender was given %q, want %q", p.opens, want)
		}
	})
}

func TestProjectThatIsNotTheJobsIsDamaged(t *testing.T) {
	for name, farm := range map[string]projects{
		"a part is another":          {parts: map[string]string{sumOf("one "): "One ", sumOf("and two"): "and two"}},
		"a part is longer":           {parts: map[string]string{sumOf("one "): "one ", sumOf("and two"): "and two, and more"}},
		"another main file":          {main: "tex/ü.png"},
		"a main file that is absent": {main: "other.blend"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s, p := newServer(1), newPainter()
				b := newBench(t, s, p)
				farm.server = s
				b.config.Farm = farm
				stop := b.run()
				defer stop()
				b.until(func() bool { return len(s.fails) == 1 })
				if len(p.opens) != 0 || !strings.Contains(s.fails[0].Message, "damaged") {
					t.Errorf("opened %v, failure %+v", p.opens, s.fails[0])
				}
			})
		})
	}
}
