package blendfile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"svc.example/internal/render/blendfile"
)

// scenery is a .blend of about size bytes: a real scene's blocks, then objects
// of many small blocks and meshes of large ones, in equal parts. Two bytes of
// three are zero, as in real files, so that it packs to a third.
func scenery(size int) []byte {
	s := era279(form{version: 279, bits: 64})
	r := rand.New(rand.NewPCG(1, 2))
	fill := func(n int) []byte {
		b := make([]byte, n)
		for i := 0; i+24 <= n; i += 24 {
			binary.LittleEndian.PutUint64(b[i:], r.Uint64())
		}
		return b
	}
	s.body.Grow(size + size/8)
	for i := 0; s.body.Len() < size; i++ {
		s.block("OB", "Object", addr(0x1_0000_0000+i), values{"id.name": "OBthing"})
		before := s.body.Len()
		for s.body.Len() < before+256<<10 {
			s.raw("DATA", addr(0x2_0000_0000+s.body.Len()), fill(200))
		}
		s.block("ME", "Object", addr(0x3_0000_0000+i), values{"id.name": "MEthing"})
		s.raw("DATA", addr(0x4_0000_0000+i), fill(256<<10))
	}
	return s.bytes()
}

func BenchmarkInspectPlain100MiB(b *testing.B) { benchmark(b, scenery(100<<20)) }

// The packed file is about 100 MiB as well.
func BenchmarkInspectZstd300MiB(b *testing.B) {
	benchmark(b, framed(b, scenery(300<<20), 1<<20, true))
}

// BenchmarkSHA256Of100MiB is what any receiver of the file does in addition.
func BenchmarkSHA256Of100MiB(b *testing.B) {
	file := scenery(100 << 20)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		sha256.Sum256(file)
	}
}

func BenchmarkInspectSmall(b *testing.B) {
	file, err := os.ReadFile("testdata/files.blend")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, err := blendfile.Inspect(bytes.NewReader(file), blendfile.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBlenderOnSmall is the same question put to the Blender of SVC_BLENDER.
func BenchmarkBlenderOnSmall(b *testing.B) {
	blender := os.Getenv("SVC_BLENDER")
	if blender == "" {
		b.Fatal("SVC_BLENDER names no Blender: run this by scripts/with-blender")
	}
	const ask = "import bpy; s = bpy.context.scene; print(s.frame_start, s.frame_end)"
	for b.Loop() {
		cmd := exec.Command(blender, "-b", "--factory-startup", "testdata/files.blend", "--python-exit-code", "1", "--python-expr", ask)
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("1 250")) {
			b.Fatalf("%v: %s", err, out)
		}
	}
}

// benchmark also reports the most heap at once and the wait for the answer once
// the last byte has come.
func benchmark(b *testing.B, file []byte) {
	b.SetBytes(int64(len(file)))
	var peak uint64
	var wait time.Duration
	for b.Loop() {
		p, w := watch(b, file)
		peak, wait = max(peak, p), max(wait, w)
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
	b.ReportMetric(wait.Seconds()*1000, "ms-after-last-byte")
}

// watch inspects the file and returns the most heap that stood at once, above
// what stood before, and the time from the last byte to the answer.
func watch(t testing.TB, file []byte) (peak uint64, wait time.Duration) {
	t.Helper()
	runtime.GC()
	r := &watchedReader{Reader: bytes.NewReader(file)}
	base := heap()
	_, err := blendfile.Inspect(r, blendfile.Options{ReadAll: true})
	wait = time.Since(r.last)
	var large *blendfile.TooLargeError
	if err != nil && !errors.As(err, &large) {
		t.Fatal(err)
	}
	return max(r.peak, heap()) - base, wait
}

// watchedReader looks at the heap once a MiB.
type watchedReader struct {
	io.Reader
	read int
	peak uint64
	last time.Time // when the last bytes were handed out
}

func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.read/(1<<20) != (r.read+n)/(1<<20) || err != nil {
		r.peak = max(r.peak, heap())
	}
	r.read += n
	if n > 0 {
		r.last = time.Now()
	}
	return n, err
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}
