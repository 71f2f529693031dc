package benchmark_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/receipt"
)

// entropy makes the same key each time.
type entropy struct{}

func (entropy) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 7
	}
	return len(p), nil
}

func key(t testing.TB) signingkey.Key {
	t.Helper()
	k, err := signingkey.New(entropy{})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// run is a receipt in good order.
func run() benchmark.Receipt {
	memory := int64(24 << 30)
	r := benchmark.Receipt{
		BenchmarkVersion: "bench-v1", SceneVersion: "scenes-v1", ScoringVersion: "score-v1", RenderDevice: benchmark.GPU,
		GPUName: "NVIDIA GeForce RTX 4090", GPUVendor: "NVIDIA", GPUMemoryBytes: &memory, GPUDriver: "550.54.14", CPUName: "unknown", OS: "unknown",
		BlenderVersion: "4.1.1", BlenderBuildHash: "unknown",
		StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 6789, time.FixedZone("x", 3600)), CompletedAt: time.Date(2026, 1, 2, 3, 9, 5, 0, time.FixedZone("x", 3600)),
	}
	for _, name := range benchmark.SceneNames() {
		r.Scenes = append(r.Scenes, benchmark.SceneRun{
			Scene: name, Samples: 1234, RenderSeconds: 30.25, SamplesPerMinute: benchmark.Rate(1234, 30.25),
			PixelSHA256: strings.Repeat("a", 64), ReferenceSHA256: strings.Repeat("b", 64), Difference: 0.004, MatchesReference: true,
		})
	}
	r.RenderSeconds = 3 * 30.25
	return r
}

func TestWhatIsSignedIsWhatIsReadAndAlwaysTheSameBytes(t *testing.T) {
	t.Parallel()
	one, err := benchmark.Sign(run(), key(t))
	if err != nil {
		t.Fatal(err)
	}
	two, err := benchmark.Sign(run(), key(t))
	if err != nil || !bytes.Equal(one, two) {
		t.Fatalf("%s\n%s\n%v", one, two, err)
	}
	got, err := benchmark.Open(one, key(t).Public())
	if err != nil {
		t.Fatal(err)
	}
	if got.Score() != 3*2447603 || got.GPUName != run().GPUName || !got.StartedAt.Equal(run().StartedAt.Truncate(time.Microsecond)) {
		t.Errorf("%+v, score %d", got, got.Score())
	}
}

func TestReceiptThatContradictsItselfIsNeitherSignedNorRead(t *testing.T) {
	t.Parallel()
	zero := int64(0)
	for name, spoil := range map[string]func(*benchmark.Receipt){
		"a rate that is not its samples over its time": func(r *benchmark.Receipt) { r.Scenes[0].SamplesPerMinute++ },
		"a rate that is no number":                     func(r *benchmark.Receipt) { r.Scenes[0].SamplesPerMinute = math.NaN() },
		"no time on the clock":                         func(r *benchmark.Receipt) { r.Scenes[0].RenderSeconds = 0 },
		"a sum that is not the scenes'":                func(r *benchmark.Receipt) { r.RenderSeconds++ },
		"more time on the clock than it took":          func(r *benchmark.Receipt) { r.CompletedAt = r.StartedAt.Add(time.Minute) },
		"a scene twice":                                func(r *benchmark.Receipt) { r.Scenes[1].Scene = r.Scenes[0].Scene },
		"no scene":                                     func(r *benchmark.Receipt) { r.Scenes, r.RenderSeconds = nil, 0 },
		"no hash":                                      func(r *benchmark.Receipt) { r.Scenes[0].PixelSHA256 = "" },
		"a difference below nothing":                   func(r *benchmark.Receipt) { r.Scenes[0].Difference = -1 },
		"a device of another kind":                     func(r *benchmark.Receipt) { r.RenderDevice = "TPU" },
		"an empty text":                                func(r *benchmark.Receipt) { r.OS = "" },
		"a text with a line break":                     func(r *benchmark.Receipt) { r.OS = "a\nb" },
		"a text too long":                              func(r *benchmark.Receipt) { r.CPUName = strings.Repeat("x", 201) },
		"no memory at all":                             func(r *benchmark.Receipt) { r.GPUMemoryBytes = &zero },
	} {
		r := run()
		spoil(&r)
		if _, err := benchmark.Sign(r, key(t)); !errors.Is(err, benchmark.ErrMalformed) {
			t.Errorf("%s: signed, %v", name, err)
		}
		payload, err := json.Marshal(map[string]any{"_type": receipt.StatementType, "predicateType": benchmark.ReceiptType, "predicate": r})
		if err != nil {
			continue // no JSON says so
		}
		sealed, err := receipt.Seal(payload, key(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := benchmark.Open(sealed, key(t).Public()); !errors.Is(err, benchmark.ErrMalformed) {
			t.Errorf("%s: read, %v", name, err)
		}
	}
}

// FuzzOpen holds that what is read is what Sign writes: an envelope of any
// statement that opens can be signed again to the same bytes.
func FuzzOpen(f *testing.F) {
	good, err := benchmark.Sign(run(), key(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(good))
	f.Fuzz(func(t *testing.T, statement []byte) {
		sealed, err := receipt.Seal(statement, key(t))
		if err != nil {
			return
		}
		for _, envelope := range [][]byte{sealed, statement} {
			r, err := benchmark.Open(envelope, key(t).Public())
			if err != nil {
				continue
			}
			again, err := benchmark.Sign(r, key(t))
			if err != nil {
				t.Fatalf("what was read cannot be signed: %v", err)
			}
			if a, _ := benchmark.PayloadSHA256(again); a != mustHash(t, envelope) {
				t.Fatal("what was read is not what is written")
			}
		}
	})
}

func mustHash(t *testing.T, envelope []byte) string {
	t.Helper()
	sum, err := benchmark.PayloadSHA256(envelope)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
