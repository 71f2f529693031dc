package blender_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/render/blender"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/long"
	"svc.example/internal/test/story"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/measure"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/worker"
)

// benchmarkRow is what these stories read of a result.
type benchmarkRow struct {
	ResultID     string `json:"result_id"`
	RenderDevice string `json:"render_device"`
	Verification string `json:"verification"`
}

// A real Blender renders the benchmark's scenes on this machine's CPU. In the short run
// the clock is stopped too early, which must be all that is wrong: the judge looks at
// the time last. What is shown then is the same run with a longer time on the clock, and the
// picture that the service drew. A worker of another key, a real one too, confirms that.
func TestABenchmarkOfACPUIsShownAsCPUAndInNoTable(t *testing.T) {
	t.Parallel()
	path := story.RealBlender(t)
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t), References: 100})
	at := farmapi.NewClient(svc.URL, svc.NodeKey().Secret)
	var self farmapi.RegisterReply

	timed := time.Duration(long.Scale(int(100*time.Millisecond), int(benchmark.LeastSeconds*time.Second)))
	var mu sync.Mutex
	finished := map[string]bool{}
	measured, picture, err := measure.Run(t.Context(), measure.Config{
		Blender: blender.Options{Path: path, Temp: t.TempDir(), Device: blender.CPU}, Timed: timed, Now: time.Now,
		Admit: func(info blender.Info) (err error) {
			if self.WorkerID == "" {
				kind, name, _ := info.Choose(blender.CPU)
				self, err = at.Register(t.Context(), farmapi.RegisterRequest{
					Name: "story", Renderer: contract.RendererID, BlenderVersion: info.Version, BlenderBuildHash: info.BuildHash, Device: kind, DeviceName: name, Denoise: "keep",
				})
			}
			return err
		},
		Draw: func(ctx context.Context) (benchmark.Challenge, error) {
			drawn, err := at.Challenge(ctx, farmapi.ChallengeRequest{WorkerID: self.WorkerID})
			return benchmark.Challenge(drawn.Challenge), err
		},
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
			t.Errorf("it was not reported that scene %s was done", s.Scene)
		}
	}

	key, err := signingkey.New(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.Public().PEM()
	if err != nil {
		t.Fatal(err)
	}
	send := func(measured benchmark.Receipt) farmapi.BenchmarkReply {
		t.Helper()
		envelope, err := benchmark.Sign(measured, key)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := at.Benchmark(t.Context(), farmapi.BenchmarkRequest{WorkerID: self.WorkerID, Envelope: envelope, PublicKeyPEM: string(public), Frame: picture})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if !long.Run() {
		short := clocked(measured, timed.Seconds()) // whatever this machine took for its one sample
		short.Challenge = nil                       // it is answered once
		if reply := send(short); reply.Reason == nil || *reply.Reason != string(benchmark.TooFast) {
			t.Fatalf("a run of %s counts as %+v, want %s", timed, reply, benchmark.TooFast)
		}
		measured = clocked(measured, benchmark.LeastSeconds)
	}
	reply := send(measured)
	if reply.Status != farmapi.BenchmarkAccepted {
		t.Fatalf("the run does not count: %s: %s", *reply.Reason, *reply.Detail)
	}

	var latest, top struct{ Rows []benchmarkRow }
	leaderboard(svc, "latest", &latest)
	if len(latest.Rows) != 1 || latest.Rows[0] != (benchmarkRow{reply.ResultID, "CPU", "waiting"}) {
		t.Errorf("the newest results are %+v, want %s on CPU", latest.Rows, reply.ResultID)
	}
	leaderboard(svc, "top", &top)
	if len(top.Rows) != 0 {
		t.Errorf("the table of GPUs holds %+v", top.Rows)
	}

	svc.Worker(worker.Blender{Path: path}, story.OnCPU)
	await.Until(t, "the reference render", func() bool {
		leaderboard(svc, "latest", &latest)
		return latest.Rows[0].Verification == "verified"
	})
	svc.Audit()
}

// clocked is a run that had each scene on the clock for so many seconds.
func clocked(r benchmark.Receipt, seconds float64) benchmark.Receipt {
	r.Scenes = slices.Clone(r.Scenes)
	for i := range r.Scenes {
		s := &r.Scenes[i]
		s.RenderSeconds, s.SamplesPerMinute = seconds, benchmark.Rate(s.Samples, seconds)
	}
	r.RenderSeconds = seconds * float64(len(r.Scenes))
	r.StartedAt = r.CompletedAt.Add(-time.Minute - time.Duration(r.RenderSeconds)*time.Second)
	return r
}

// leaderboard reads one of the leaderboard's public routes.
func leaderboard(svc *story.Service, route string, into any) {
	svc.T.Helper()
	answer, err := http.Get(svc.URL + "/node/v1/leaderboard/" + route)
	if err != nil {
		svc.T.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		svc.T.Fatalf("%s answers %s", route, answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		svc.T.Fatal(err)
	}
}
