package story_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/farmapi"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/measure"
	"svc.example/internal/work/receipt"
)

// benchmarkRow is what these stories read of a result.
type benchmarkRow struct {
	ResultID     string `json:"result_id"`
	RenderDevice string `json:"render_device"`
}

// A real Blender renders the benchmark's scenes on this machine's CPU.
func TestABenchmarkOfACPUIsShownAsCPUAndInNoTable(t *testing.T) {
	t.Parallel()
	path := realBlender(t)
	h := start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: logOf(t)})

	const timed = benchmark.LeastSeconds * time.Second
	var mu sync.Mutex
	finished := map[string]bool{}
	var info blender.Info
	measured, err := measure.Run(t.Context(), measure.Config{
		Blender: blender.Options{Path: path, Temp: t.TempDir(), Device: blender.CPU}, Timed: timed, Now: time.Now,
		Admit: func(found blender.Info) error { info = found; return nil },
		Progress: func(scene string, done, all time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			finished[scene] = finished[scene] || done == all && all == timed
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range measured.Scenes {
		t.Logf("%s: %d samples in %.1f s, %.5f from its reference", s.Scene, s.Samples, s.RenderSeconds, s.Difference)
		if !finished[s.Scene] {
			t.Errorf("nobody was told that scene %s was done", s.Scene)
		}
	}

	key, err := receipt.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := benchmark.Sign(measured, key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.Public().PEM()
	if err != nil {
		t.Fatal(err)
	}
	at := farmapi.NewClient(h.url, h.nodeKey().Secret)
	kind, name, _ := info.Choose(blender.CPU)
	self, err := at.Register(t.Context(), farmapi.RegisterRequest{
		Name: "story", Renderer: contract.RendererID, BlenderVersion: info.Version, BlenderBuildHash: info.BuildHash, Device: kind, DeviceName: name, Denoise: "keep",
	})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := at.Benchmark(t.Context(), farmapi.BenchmarkRequest{WorkerID: self.WorkerID, Envelope: envelope, PublicKeyPEM: string(public)})
	if err != nil {
		t.Fatal(err)
	}
	if reply.Status != farmapi.BenchmarkAccepted {
		t.Fatalf("the run does not count: %s: %s", *reply.Reason, *reply.Detail)
	}

	var latest, top struct{ Rows []benchmarkRow }
	h.leaderboard("latest", &latest)
	if len(latest.Rows) != 1 || latest.Rows[0] != (benchmarkRow{reply.ResultID, "CPU"}) {
		t.Errorf("the newest results are %+v, want %s on CPU", latest.Rows, reply.ResultID)
	}
	h.leaderboard("top", &top)
	if len(top.Rows) != 0 {
		t.Errorf("the table of GPUs holds %+v", top.Rows)
	}
}

// leaderboard reads one of the leaderboard's public routes.
func (h *house) leaderboard(route string, into any) {
	h.t.Helper()
	answer, err := http.Get(h.url + "/node/v1/leaderboard/" + route)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		h.t.Fatalf("%s answers %s", route, answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		h.t.Fatal(err)
	}
}
