package leaderboard

import (
	"fmt"
	"strconv"

	"svc.example/internal/ground/contract"
	"svc.example/internal/work/benchmark"
)

// Summary repeats a result's other members in the flat form that public leaderboards
// use. Each value comes from the signed receipt or from the places.
type Summary struct {
	Rank               *int64  `json:"rank" doc:"The same as global_rank."`
	GlobalRank         *int64  `json:"global_rank" doc:"The rank in global; null of a CPU's result."`
	GlobalSampleCount  int64   `json:"global_sample_count" doc:"Results that global_rank is among; 0 of a CPU's result."`
	GPURank            *int64  `json:"gpu_rank" doc:"The rank in within_gpu; null of a CPU's result."`
	GPUSampleCount     int64   `json:"gpu_sample_count" doc:"Results that gpu_rank is among; 0 of a CPU's result."`
	GPUPercentileLabel Label   `json:"gpu_percentile_label" enum:"top_1,top_5,top_10,top_25,top_50,bottom_50,unknown" doc:"The label in within_gpu."`
	ScoreUnits         string  `json:"score_units" const:"samples per minute"`
	AppVersion         *string `json:"app_version" doc:"Of the program that measured; null, because receipts do not say it."`
	Renderer           string  `json:"renderer" enum:"blender,synthetic" doc:"synthetic: nothing was rendered."`
	DriverVersion      *string `json:"driver_version" doc:"The same as gpu_driver; null where that is unknown."`
	RAMGB              *int    `json:"ram_gb" doc:"ram_bytes in whole GB of 2^30 bytes."`
	HardwareProbeHash  string  `json:"hardware_probe_hash" doc:"SHA-256 of what the receipt says of the machine; docs/leaderboard-api.md says of which bytes. Equal machines have equal hashes."`
	BenchmarkSceneHash string  `json:"benchmark_scene_hash" doc:"SHA-256 of the scenes' names and the hashes of their references."`
	ShareText          string  `json:"share_text" doc:"The result in one sentence, with its address."`
}

// scoreUnits is what score-v1 counts.
const scoreUnits = "samples per minute"

// summaryOf derives the summary from the signed receipt and the places of its result.
func summaryOf(signed benchmark.Receipt, r Result) Summary {
	s := Summary{
		Rank: r.Global.Rank, GlobalRank: r.Global.Rank, GlobalSampleCount: r.Global.Among,
		GPURank: r.WithinGPU.Rank, GPUSampleCount: r.WithinGPU.Among, GPUPercentileLabel: r.WithinGPU.Label,
		ScoreUnits: scoreUnits, Renderer: contract.RendererID, RAMGB: benchmark.Gigabytes(signed.RAMBytes),
		HardwareProbeHash: signed.HardwareHash(), BenchmarkSceneHash: signed.SceneHash(), ShareText: shareText(r),
	}
	if r.Synthetic {
		s.Renderer = contract.SyntheticRenderer
	}
	if signed.GPUDriver != benchmark.Unknown {
		s.DriverVersion = &signed.GPUDriver
	}
	return s
}

// doubts explain in a sentence why a result is not verified.
var doubts = map[benchmark.Standing]string{
	benchmark.Waiting: "not verified yet", benchmark.Unverified: "not verified", benchmark.Outlier: "not verified", benchmark.Refuted: "refuted",
}

// shareText is one sentence for a message or a preview, and the result's address.
func shareText(r Result) string {
	what, place := " renders ", ""
	if r.Synthetic {
		what = ", of which nothing was rendered, states "
	}
	if r.Global.Rank != nil {
		place = fmt.Sprintf(", rank %d of %d", *r.Global.Rank, r.Global.Among)
	}
	if s := r.Verification; s != benchmark.Verified && s != benchmark.Synthetic {
		place += ", " + doubts[s]
	}
	return fmt.Sprintf("%s%s%s %s in Cycles%s: %s", r.DeviceName, what, strconv.FormatFloat(r.Score, 'f', -1, 64), scoreUnits, place, r.PublicResultURL)
}
