package worker_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/work/farmapi"
)

// slow is a server on a slow network.
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
		project.Aliases = []farmapi.Alias{{Path: "tex/ü.png", At: "/c/ü.png"}, {Path: "tex/none.png", At: "/c/none.png"}}
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
		if want := "scene.blend: a scene\ntex/ü.png: one and two\n/c/ü.png: one and two\n"; len(p.opens) != 1 || p.opens[0] != want {
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

// textures is a server whose jobs have textures of four bytes, each over a slow network.
// One name in two has bytes that another has too.
type textures struct {
	*server
	count   int
	delay   time.Duration
	mu      *sync.Mutex
	now     *int // calls under way
	most    *int // of now
	fetched map[string]int
}

func newTextures(s *server, count int) textures {
	return textures{s, count, time.Second, &sync.Mutex{}, new(int), new(int), map[string]int{}}
}

func (p textures) text(i int) string { return fmt.Sprintf("t%03d", i/2) }

func (p textures) Project(ctx context.Context, workerID, jobID string) (farmapi.Project, error) {
	project, err := p.server.Project(ctx, workerID, jobID)
	for i := range p.count {
		sum := sumOf(p.text(i))
		project.Files = append(project.Files, farmapi.File{Path: fmt.Sprintf("tex/%d.png", i), SHA256: sum, SizeBytes: 4, Parts: []string{sum}})
	}
	return project, err
}

func (p textures) Part(ctx context.Context, workerID, jobID, sum string, size int64) (io.ReadCloser, error) {
	p.mu.Lock()
	p.fetched[sum]++
	*p.now++
	*p.most = max(*p.most, *p.now)
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		*p.now--
	}()
	if err := rest(ctx, p.delay); err != nil {
		return nil, err
	}
	for i := range p.count {
		if sumOf(p.text(i)) == sum {
			return io.NopCloser(strings.NewReader(p.text(i))), nil
		}
	}
	return p.server.Part(ctx, workerID, jobID, sum, size)
}

func TestFourFilesOfAProjectAreFetchedAtOnceAndEachOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(1), newPainter()
		b := newBench(t, s, p)
		farm := newTextures(s, 46)
		b.config.Farm = farm
		begun := time.Now()
		stop := b.run()
		b.untilDelivered(1)
		// 23 textures and the scene, four in a second; and a start and a frame.
		if took := time.Since(begun); took > 10*time.Second || *farm.most != 4 {
			t.Errorf("it took %s, with %d calls at once", took, *farm.most)
		}
		if n := strings.Count(p.opens[0], "\n"); n != 47 || !strings.Contains(p.opens[0], "tex/45.png: t022\n") {
			t.Errorf("Blender was given %d files: %s", n, p.opens[0])
		}

		// Another job of the same files and two more.
		farm.count += 2
		b.config.Farm = farm
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		s.add("JOB-2", 1)
		stop = b.run()
		defer stop()
		b.untilDelivered(2)
		if len(farm.fetched) != 25 {
			t.Errorf("%d contents were fetched, want 25", len(farm.fetched))
		}
		for sum, n := range farm.fetched {
			if n != 1 {
				t.Errorf("%s was fetched %d times", sum, n)
			}
		}
	})
}
