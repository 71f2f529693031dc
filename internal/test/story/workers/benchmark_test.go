package workers_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/farmapi"
)

// TestABenchmarkReceiptGoesFromTheWorkerToThePage submits over the workers' API
// what a worker without a GPU would measure, and reads it without a credential.
func TestABenchmarkReceiptGoesFromTheWorkerToThePage(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		door := farmapi.NewClient(svc.URL, svc.NodeKey().Secret)
		key, err := signingkey.New(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		public, err := key.Public().PEM()
		if err != nil {
			t.Fatal(err)
		}
		register := func(device, name string) string {
			reply, err := door.Register(t.Context(), farmapi.RegisterRequest{
				Name: "bench", Renderer: contract.SyntheticRenderer, BlenderVersion: contract.BlenderVersion, Device: device, DeviceName: name, Denoise: "keep",
			})
			if err != nil {
				t.Fatal(err)
			}
			return reply.WorkerID
		}
		send := func(workerID string, r benchmark.Receipt) (farmapi.BenchmarkReply, error) {
			envelope, err := benchmark.Sign(r, key)
			if err != nil {
				t.Fatal(err)
			}
			return door.Benchmark(t.Context(), farmapi.BenchmarkRequest{WorkerID: workerID, Envelope: envelope, PublicKeyPEM: string(public)})
		}
		cpu := register(benchmark.CPU, "AMD Ryzen 9 7950X")
		run := leaderboardtest.CPURun("AMD Ryzen 9 7950X", 212, time.Now())
		done, err := send(cpu, run)
		if err != nil || !done.OK || done.Status != farmapi.BenchmarkAccepted || done.ReceiptID == nil || done.Reason != nil ||
			done.PublicResultURL == nil || *done.PublicResultURL != svc.URL+"/leaderboard/result/"+done.ResultID {
			t.Fatalf("%+v, %v", done, err)
		}
		if again, err := send(cpu, run); err != nil || again.ResultID != done.ResultID {
			t.Errorf("sent again: %+v, %v", again, err)
		}
		page := story.Get(t, http.MethodGet, *done.PublicResultURL, http.Header{})
		if text := string(page.Body); page.Status != 200 || !strings.Contains(text, "AMD Ryzen 9 7950X") || !strings.Contains(text, "not ranked") || !strings.Contains(text, "synthetic") {
			t.Errorf("the page: %d %s", page.Status, text)
		}
		var shown struct {
			Envelope       json.RawMessage `json:"envelope"`
			WorkerEnvelope json.RawMessage `json:"worker_envelope"`
			RenderDevice   string          `json:"render_device"`
		}
		if err := json.Unmarshal(story.Get(t, http.MethodGet, svc.URL+"/node/v1/leaderboard/result/"+done.ResultID, nil).Body, &shown); err != nil || shown.RenderDevice != "CPU" {
			t.Errorf("%+v, %v", shown, err)
		}
		if measured, err := benchmark.Open(shown.WorkerEnvelope, key.Public()); err != nil || measured.Score() != 212_000 {
			t.Errorf("the worker's own document: %+v, %v", measured, err)
		}

		// A GPU of another name than the worker's is kept, and shown nowhere.
		gpu := register(benchmark.GPU, "NVIDIA GeForce RTX 3060")
		other, err := send(gpu, leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9000, time.Now()))
		if err != nil || other.Status != farmapi.BenchmarkRejected || *other.Reason != string(benchmark.DeviceMismatch) || other.ReceiptID != nil {
			t.Errorf("%+v, %v", other, err)
		}
		for _, path := range []string{"/leaderboard/result/" + other.ResultID, "/node/v1/leaderboard/result/" + other.ResultID, "/leaderboard/gpu/nvidia-geforce-rtx-4090"} {
			if res := story.Get(t, http.MethodGet, svc.URL+path, nil); res.Status != 404 {
				t.Errorf("%s: %d", path, res.Status)
			}
		}
		if top := string(story.Get(t, http.MethodGet, svc.URL+"/node/v1/leaderboard/top", nil).Body); !strings.Contains(top, `"rows":[],"sample_count":0`) {
			t.Errorf("top: %s", top)
		}
		if _, err := door.Benchmark(t.Context(), farmapi.BenchmarkRequest{WorkerID: gpu, Envelope: json.RawMessage(`{}`), PublicKeyPEM: string(public)}); !refusedWith(err, "benchmark_refused") {
			t.Errorf("no receipt at all: %v", err)
		}
		svc.Audit()
	})
}
