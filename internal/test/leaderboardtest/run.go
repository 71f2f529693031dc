// Package leaderboardtest makes benchmark receipts for tests, and submits them as
// workers do. Nothing is rendered: every receipt is marked synthetic unless a test
// changes that. Start reading at Run, then Fleet.
package leaderboardtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/receipt"
)

// Run is a synthetic receipt of a GPU with a memory in GB (0 = unknown) and a
// score of at least 3, to the thousandth. Whole scores take a minute a scene.
func Run(gpu string, gb int64, score float64, ended time.Time) benchmark.Receipt {
	r := benchmark.Receipt{
		BenchmarkVersion: contract.BenchmarkVersion, SceneVersion: contract.SceneVersion, ScoringVersion: contract.ScoringVersion,
		RenderDevice: benchmark.GPU, GPUName: gpu, GPUVendor: benchmark.NameOf(gpu, nil).Vendor, GPUDriver: "550.54.14",
		CPUName: "AMD Ryzen 9 7950X", OS: "Debian 12, Linux 6.1", BlenderVersion: contract.BlenderVersion, BlenderBuildHash: "40a5e739e270",
		Synthetic: true, CompletedAt: ended,
	}
	if gb > 0 {
		bytes := gb << 30
		r.GPUMemoryBytes = &bytes
	}
	// So many samples in a thousand minutes are so many thousandths a minute.
	samples, seconds := int64(math.Round(score*1000)), 60000.0
	if samples%1000 == 0 {
		samples, seconds = samples/1000, 60
	}
	for i, name := range benchmark.SceneNames() {
		part := samples / 3
		if i == 0 {
			part = samples - 2*(samples/3)
		}
		r.Scenes = append(r.Scenes, benchmark.SceneRun{
			Scene: name, Samples: part, RenderSeconds: seconds, SamplesPerMinute: benchmark.Rate(part, seconds),
			PixelSHA256: hash(i), ReferenceSHA256: benchmark.Reference(name), Difference: 0.001, MatchesReference: true,
		})
		r.RenderSeconds += seconds
	}
	r.StartedAt = ended.Add(-time.Duration(r.RenderSeconds+30) * time.Second)
	return r
}

func hash(n int) string { return fmt.Sprintf("%064x", n) }

// CPURun is Run for a CPU.
func CPURun(cpu string, score float64, ended time.Time) benchmark.Receipt {
	r := Run(benchmark.Unknown, 0, score, ended)
	r.RenderDevice, r.CPUName, r.GPUVendor, r.GPUDriver = benchmark.CPU, cpu, benchmark.Unknown, benchmark.Unknown
	return r
}

// Fleet submits receipts, each as a worker that registered with the receipt's
// device. All of its workers share one node key and one signing key.
type Fleet struct {
	Board *leaderboard.Board
	node  string
	key   receipt.Key
}

// NewFleet makes the fleet's node key and signing key.
func NewFleet(ctx context.Context, board *leaderboard.Board) (*Fleet, error) {
	f := &Fleet{Board: board}
	var err error
	if f.key, err = receipt.NewKey(rand.Reader); err != nil {
		return nil, err
	}
	return f, board.DB.Write(ctx, func(tx *db.Tx) error {
		key, err := identity.CreateNodeKey(ctx, tx, "fleet")
		f.node = key.KeyID
		return err
	})
}

// Submit signs a receipt and submits it.
func (f *Fleet) Submit(ctx context.Context, r benchmark.Receipt) (leaderboard.Submitted, error) {
	s, err := f.Sign(ctx, r)
	if err != nil {
		return leaderboard.Submitted{}, err
	}
	return f.Board.Submit(ctx, s)
}

// Sign registers a worker and makes what Submit submits, for tests that change it
// first.
func (f *Fleet) Sign(ctx context.Context, r benchmark.Receipt) (s leaderboard.Submission, err error) {
	s = leaderboard.Submission{
		NodeKeyID: f.node, WorkerID: id.New(id.Node),
		Worker: benchmark.Worker{Device: r.RenderDevice, DeviceName: r.DeviceName(), BlenderVersion: r.BlenderVersion, Synthetic: r.Synthetic},
	}
	if s.Envelope, err = benchmark.Sign(r, f.key); err != nil {
		return s, err
	}
	if s.PublicKey, err = f.key.Public().PEM(); err != nil {
		return s, err
	}
	return s, f.Board.DB.Write(ctx, func(tx *db.Tx) error {
		return dispatch.AddWorker(ctx, tx, dispatch.Worker{
			WorkerID: s.WorkerID, KeyID: f.node, Name: "fleet", BlenderVersion: r.BlenderVersion, Device: r.RenderDevice, DeviceName: r.DeviceName(),
			Renderer: renderer(r),
		})
	})
}

func renderer(r benchmark.Receipt) string {
	if r.Synthetic {
		return contract.SyntheticRenderer
	}
	return contract.RendererID
}
