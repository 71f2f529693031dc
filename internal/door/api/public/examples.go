package public

import (
	"time"

	"svc.example/internal/door/api/sample"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/job"
)

// Examples returns the bodies of the public routes, by schema name, with URLs
// built by at.
func Examples(at links.Links) map[string]any {
	s := &Server{Links: at, Jobs: &job.Jobs{}}
	var keys signingKeysOutput
	keys.Body.OK = true
	keys.Body.Keys = []signingKey{{
		KeyID: sample.FrameSHA256, Algorithm: "ed25519", ValidFrom: sample.Time(0), Current: true,
		PublicKeyPEM: "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n",
	}}
	bodies := map[string]any{
		"Health":       healthBody{true, contract.Service, sample.Time(0)},
		"Capabilities": s.capabilitiesOf(job.Discovered{Queue: job.QueueIdle, Blenders: []string{contract.BlenderVersion}}),
		"Limits":       s.limits([]string{contract.BlenderVersion}),
		"Pricing":      pricing(),
		"SigningKeys":  keys.Body,
	}
	addLeaderboard(at, bodies)
	return bodies
}

// addLeaderboard adds the examples of the leaderboard.
func addLeaderboard(at links.Links, all map[string]any) {
	const result, slug = "BMR-0198c0de000070008000000000000008", "nvidia-geforce-rtx-4090"
	row := leaderboard.Row{
		ResultID: result, ReceiptID: sample.ReceiptID, GPUName: sample.Device, GPUSlug: slug, DeviceName: sample.Device, VRAMGB: new(int64(24)), Score: 5120.4,
		RenderSeconds: 92.3, RenderDevice: contract.RenderDevice, Verification: benchmark.Verified, CreatedAt: sample.Time(0), BenchmarkVersion: "1", SceneVersion: "1", ScoringVersion: "1",
		GlobalPercentileLabel: "unknown", ReceiptSchemaVersion: benchmark.ReceiptType, PublicResultURL: at.Result(result),
		GPUPageURL: new(at.GPU(slug)),
	}
	short := leaderboard.GPUShort{GPUName: sample.Device, GPUSlug: slug, GPUVendor: "NVIDIA", VRAMGB: new(int64(24)), SampleCount: 1, AverageScore: 5120.4, TopScore: 5120.4, Submissions: 1, AvgScore: 5120.4}
	figures := leaderboard.Figures{
		GPUName: sample.Device, GPUSlug: slug, GPUVendor: "NVIDIA", VRAMGB: new(int64(24)), SampleCount: 1, TopScore: &row.Score, MedianScore: &row.Score,
		AverageScore: &row.Score, AverageRenderSeconds: &row.RenderSeconds, MedianRenderSeconds: &row.RenderSeconds, BestRenderSeconds: &row.RenderSeconds,
		LastUpdated: &row.CreatedAt,
	}
	versions := leaderboard.Versions{Benchmark: "1", Scene: "1", Scoring: "1"}
	all["LeaderboardTop"] = topBody{true, leaderboard.Top{Rows: []leaderboard.TopRow{{Rank: 1, Row: row}}, SampleCount: 1}}
	all["LeaderboardLatest"] = latestBody{OK: true, Limit: contract.LatestDefault, ResultCount: 1, Rows: []leaderboard.Row{row}, Results: []leaderboard.Row{row}}
	all["LeaderboardRank"] = rankBody{true, leaderboard.Ranked{Rank: new(int64(2)), SampleCount: 1, Label: leaderboard.NoLabel}}
	all["LeaderboardGPUs"] = gpusBody{true, leaderboard.GPUs{GPUs: []leaderboard.GPUShort{short}, Total: 1}}
	all["LeaderboardStats"] = statsBody{true, leaderboard.Stats{
		TotalSubmissions: 1, GPUCount: 1, TopScore: &row.Score, MedianScore: &row.Score, AverageScore: &row.Score, CommonGPUs: []leaderboard.GPUShort{short},
		ScoreFormula: "the sum of samples per minute over the scenes", LastUpdated: &row.CreatedAt, Versions: versions,
	}}
	all["LeaderboardGPU"] = gpuBody{true, leaderboard.GPU{Figures: figures, LatestResults: []leaderboard.Row{row}, UnverifiedResults: []leaderboard.Row{}, BenchmarkVersions: []leaderboard.CountedVersions{{Versions: versions, SampleCount: 1}}}}
	side := leaderboard.Compared{Figures: figures, LatestResults: []leaderboard.Row{row}}
	compared := leaderboard.Comparison{A: side, B: side, AverageDeltas: leaderboard.AverageDeltas{SampleCountA: 1, SampleCountB: 1}}
	compared.Deltas.AverageDeltas, compared.Data.Deltas = compared.AverageDeltas, compared.AverageDeltas
	all["LeaderboardComparison"] = comparisonBody{true, compared}
	all["LeaderboardSearch"] = foundBody{true, leaderboard.Found{Query: "rtx 4090", ResultCount: 1, Results: []leaderboard.Hit{{
		Type: leaderboard.HitGPU, Title: sample.Device, GPUSlug: slug, URL: at.GPU(slug), SampleCount: new(int64(1)), Subtitle: "NVIDIA, 24 GB, 1 result", Score: row.Score, RenderSeconds: row.RenderSeconds,
	}}}}
	all["LeaderboardResult"] = resultBody{true, leaderboard.Result{
		Row: row, GPUVendor: "NVIDIA", GPUMemoryBytes: new(int64(25_757_220_864)), GPUDriver: "550.54.14", CPUName: "AMD Ryzen 9 7950X", OS: "linux",
		BlenderVersion: contract.BlenderVersion, BlenderBuildHash: "e1743a0317bc",
		Scenes: []benchmark.SceneRun{{
			Scene: benchmark.SceneNames()[0], Samples: 4096, RenderSeconds: 48, SamplesPerMinute: 5120, PixelSHA256: sample.FrameSHA256, ReferenceSHA256: benchmark.Reference(benchmark.SceneNames()[0]), MatchesReference: true,
		}},
		StartedAt: sample.Time(-5 * time.Minute), CompletedAt: sample.Time(-time.Minute),
		Global: leaderboard.Place{Rank: new(int64(1)), Among: 1, Label: "unknown"}, WithinGPU: leaderboard.Place{Rank: new(int64(1)), Among: 1, Label: "unknown"},
		WorkerKeyID: sample.FrameSHA256, LogIndex: 42,
		Summary: leaderboard.Summary{
			Rank: new(int64(1)), GlobalRank: new(int64(1)), GlobalSampleCount: 1, GPURank: new(int64(1)), GPUSampleCount: 1, GPUPercentileLabel: "unknown",
			ScoreUnits: "samples per minute", Renderer: contract.RendererID, DriverVersion: new("550.54.14"), RAMGB: new(64),
			HardwareProbeHash: sample.FrameSHA256, BenchmarkSceneHash: sample.FrameSHA256,
			ShareText: sample.Device + " renders 5120.4 samples per minute in Cycles, rank 1 of 1: " + at.Result(result),
		},
	}}
}
