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
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/identity"
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

// Fleet submits receipts, each as a worker that registered with the receipt's device. Each
// comes from a machine of its own, with its own node key and signing key, so each has a voice;
// As is a machine that sends more than one.
type Fleet struct {
	Board *leaderboard.Board
	one   *Machine
}

// Machine is a node key and the signing key that it is bound to.
type Machine struct {
	Node string
	Key  signingkey.Key
}

// NewFleet makes a fleet.
func NewFleet(_ context.Context, board *leaderboard.Board) (*Fleet, error) {
	return &Fleet{Board: board}, nil
}

// NewMachine makes a node key and a signing key.
func (f *Fleet) NewMachine(ctx context.Context) (m Machine, err error) {
	if m.Key, err = signingkey.New(rand.Reader); err != nil {
		return m, err
	}
	return m, f.Board.DB.Write(ctx, func(tx *db.Tx) error {
		key, err := identity.CreateNodeKey(ctx, tx, "fleet")
		m.Node = key.KeyID
		return err
	})
}

// As is the fleet of one machine.
func (f *Fleet) As(m Machine) *Fleet { return &Fleet{f.Board, &m} }

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
	var m Machine
	if f.one != nil {
		m = *f.one
	} else if m, err = f.NewMachine(ctx); err != nil {
		return s, err
	}
	s = leaderboard.Submission{
		NodeKeyID: m.Node, WorkerID: id.New(id.Node),
		Worker: benchmark.Worker{Device: r.RenderDevice, DeviceName: r.DeviceName(), BlenderVersion: r.BlenderVersion, Synthetic: r.Synthetic},
	}
	if err := f.Seal(&s, r, m); err != nil {
		return s, err
	}
	return s, f.Board.DB.Write(ctx, func(tx *db.Tx) error {
		return dispatch.AddWorker(ctx, tx, dispatch.Worker{
			WorkerID: s.WorkerID, KeyID: m.Node, Name: "fleet", BlenderVersion: r.BlenderVersion, Device: r.RenderDevice, DeviceName: r.DeviceName(),
			Renderer: renderer(r),
		})
	})
}

// Seal signs a receipt with a machine's key.
func (f *Fleet) Seal(s *leaderboard.Submission, r benchmark.Receipt, m Machine) (err error) {
	if s.Envelope, err = benchmark.Sign(r, m.Key); err != nil {
		return err
	}
	s.PublicKey, err = m.Key.Public().PEM()
	return err
}

func renderer(r benchmark.Receipt) string {
	if r.Synthetic {
		return contract.SyntheticRenderer
	}
	return contract.RendererID
}
