package worker

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
)

func TestWorkerPrefetchesSecondsOfWorkAndHalfOfTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := frameQueue{
			tasks:   make([]*task, rapid.IntRange(0, 20).Draw(t, "queued")),
			waiting: rapid.IntRange(0, 10000).Draw(t, "waiting"),
			pace:    time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "pace")),
		}
		n := q.prefetchCount()
		if n < 0 || n > 0 && (n > (q.waiting+1)/2 || len(q.tasks)+n > prefetchMax) {
			t.Fatalf("asks for %d with %d queued and %d waiting", n, len(q.tasks), q.waiting)
		}
		if n > 0 && q.pace*time.Duration(len(q.tasks)+n) > prefetchTime {
			t.Fatalf("%d frames of %s each are more than %s of work", len(q.tasks)+n, q.pace, prefetchTime)
		}
	})
}

func TestPausesGrowToALimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1<<30).Draw(t, "try")
		jitter := rapid.Float64Range(0, 0.999).Draw(t, "jitter")
		d := pause(n, jitter)
		if d < firstPause/2 || d > lastPause {
			t.Fatalf("pause %s", d)
		}
		if d > pause(n+1, jitter) {
			t.Fatalf("try %d waits %s, the next %s", n, d, pause(n+1, jitter))
		}
	})
}

func putFailure(t interface{ Fatal(...any) }, dir, lease string) *outbox {
	o, err := openOutbox(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.put(report{Fail: &farmapi.FailRequest{LeaseID: lease, Attempt: 2}}); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOutboxNamesFilesSafely(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putFailure(t, dir, "../../etc/passwd")
	again, err := openOutbox(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := again.read(again.next())
	if err != nil || r.Fail.LeaseID != "../../etc/passwd" {
		t.Errorf("%+v, %v", r, err)
	}
	if err := again.remove(again.next()); err != nil || again.next() != "" {
		t.Errorf("%v, next is %q", err, again.next())
	}
}

func TestOutboxDropsWhatWasNotWrittenWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putFailure(t, dir, "L1")
	for _, name := range []string{"L2-1.image", "L3-1.part"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again, err := openOutbox(dir)
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || again.next() != "L1-2" {
		t.Errorf("%v, %v left, next %q", err, left, again.next())
	}
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"fail":{"lease_id":"L1","attempt":1}}`))
	f.Add([]byte(`{"frame":{"lease_id":"L1","frame":7}}`))
	f.Add([]byte(`{"frame":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "k.json"), body, 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := openOutbox(dir)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := o.read(o.next()); err == nil {
			r.lease() // must have someone to speak of
		}
	})
}

// A frame's outputs stay with its report over a restart, and go with it.
func TestOutboxKeepsOutputsWithTheirFrame(t *testing.T) {
	t.Parallel()
	dir, from := t.TempDir(), t.TempDir()
	o, err := openOutbox(dir)
	if err != nil {
		t.Fatal(err)
	}
	lease := farmapi.Lease{LeaseID: "L1", Attempt: 1}
	moveIn := func(lease farmapi.Lease, content string) {
		t.Helper()
		f := blender.Frame{Path: filepath.Join(from, "picture"), OutputDir: filepath.Join(from, "outputs")}
		for _, err := range []error{
			os.WriteFile(f.Path, []byte("picture"), 0o600), os.Mkdir(f.OutputDir, 0o700), os.WriteFile(filepath.Join(f.OutputDir, "0"), []byte(content), 0o600),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := o.moveIn(lease, f); err != nil {
			t.Fatal(err)
		}
	}
	moveIn(lease, "spoiled")
	moveIn(lease, "depth") // it is rendered again
	moveIn(farmapi.Lease{LeaseID: "L2", Attempt: 1}, "no report")
	outputs := []farmapi.Output{{Name: "z.exr", SizeBytes: 5}}
	if err := o.put(report{Frame: &farmapi.FrameResult{LeaseID: "L1", Attempt: 1, Outputs: outputs}}); err != nil {
		t.Fatal(err)
	}
	if o, err = openOutbox(dir); err != nil {
		t.Fatal(err)
	}
	files, err := openOutputs(filepath.Join(dir, o.next()+imageEnd), outputs)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d outputs, %v", len(files), err)
	}
	content, err := io.ReadAll(files[0])
	if err = errors.Join(err, files[0].(*os.File).Close()); err != nil || string(content) != "depth" {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := openOutputs(filepath.Join(dir, o.next()+imageEnd), []farmapi.Output{{SizeBytes: 6}}); !errors.Is(err, errUnsendable) {
		t.Errorf("an output that is cut: %v", err)
	}
	if err := o.remove(o.next()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}
