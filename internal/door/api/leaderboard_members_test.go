package api_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
)

// four hands in three results of one GPU and one of another.
func (m *measured) four() (best, other string) {
	best = m.gpu("NVIDIA GeForce RTX 4090", 24, 9000.5)
	m.gpu("NVIDIA GeForce RTX 4090", 24, 8000)
	m.gpu("NVIDIA GeForce RTX 4090", 24, 8500)
	return best, m.gpu("AMD Radeon RX 7900 XTX", 24, 4000)
}

// TestTheFlatMembersOfAResultSayWhatItsReceiptSays compares the flat members with the
// members that they come from.
func TestTheFlatMembersOfAResultSayWhatItsReceiptSays(t *testing.T) {
	t.Parallel()
	eachMeasured(t, func(t *testing.T, m *measured) {
		best, other := m.four()
		signed := leaderboardtest.CPURun("AMD Ryzen 9 7950X", 300, m.at.Add(time.Minute))
		memory := int64(68_719_476_736 - 300_000_000) // the system keeps some of 64 GB
		signed.RAMBytes = &memory
		cpu := m.run(signed)

		r := see[leaderboard.Result](m, "result/"+best)
		if *r.Rank != 1 || *r.GlobalRank != 1 || r.GlobalSampleCount != 4 || *r.GPURank != 1 || r.GPUSampleCount != 3 || r.GPUPercentileLabel != r.WithinGPU.Label ||
			r.GPUPercentileLabel != leaderboard.Top50 || *r.DriverVersion != "550.54.14" || r.RAMGB != nil || r.AppVersion != nil || r.Renderer != "synthetic" ||
			r.ScoreUnits != "samples per minute" || r.ReceiptSchemaVersion != benchmark.ReceiptType {
			t.Errorf("a GPU's result: %+v", r.Summary)
		}
		if *r.GPUPageURL != m.base+"/leaderboard/gpu/nvidia-geforce-rtx-4090" {
			t.Errorf("the GPU's page: %s", *r.GPUPageURL)
		}
		if want := "NVIDIA GeForce RTX 4090, of which nothing was rendered, states 9000.5 samples per minute in Cycles, rank 1 of 4: " + m.base + "/leaderboard/result/" + best; r.ShareText != want {
			t.Errorf("to share: %s", r.ShareText)
		}
		last := see[leaderboard.Result](m, "result/"+other)
		if *last.Rank != 4 || *last.GPURank != 1 || last.GPUSampleCount != 1 || last.GPUPercentileLabel != leaderboard.NoLabel {
			t.Errorf("the last: %+v", last.Summary)
		}
		if last.HardwareProbeHash == r.HardwareProbeHash || last.BenchmarkSceneHash != r.BenchmarkSceneHash {
			t.Error("two machines have one hash, or one set of scenes has two")
		}
		c := see[leaderboard.Result](m, "result/"+cpu)
		if c.Rank != nil || c.GlobalRank != nil || c.GPURank != nil || c.GlobalSampleCount != 0 || c.GPUSampleCount != 0 || c.GPUPercentileLabel != leaderboard.NoLabel ||
			c.GPUPageURL != nil || c.DriverVersion != nil || *c.RAMGB != 64 || strings.Contains(c.ShareText, "rank") || c.HardwareProbeHash != signed.HardwareHash() {
			t.Errorf("a CPU's result: %+v", c.Summary)
		}
	})
}

// TestTheFlatMembersOfListsAreCounted reads comparison, search, newest and GPUs.
func TestTheFlatMembersOfListsAreCounted(t *testing.T) {
	t.Parallel()
	eachMeasured(t, func(t *testing.T, m *measured) {
		m.four()
		c := see[leaderboard.Comparison](m, "compare/nvidia-geforce-rtx-4090/amd-radeon-rx-7900-xtx")
		// The average of 8500.167 is above that of the GPU's two lower results and of the other GPU's.
		if *c.ScoreDelta != *c.A.AverageScore-4000 || *c.ScoreDeltaPercent != *c.Deltas.AverageScore.Percent || *c.RenderSecondsDelta != *c.A.AverageRenderSeconds-180 ||
			*c.AveragePercentileA != 75 || *c.AveragePercentileB != 0 || *c.PercentileDelta != 75 || c.SampleCountA != 3 || c.SampleCountB != 1 {
			t.Errorf("comparison: %+v", c)
		}
		if !reflect.DeepEqual(c.Deltas.AverageDeltas, c.AverageDeltas) || !reflect.DeepEqual(c.Data.Deltas, c.AverageDeltas) || len(c.A.LatestResults) != 3 || len(c.B.LatestResults) != 1 || c.A.LatestResults[0].ReceiptSchemaVersion != benchmark.ReceiptType {
			t.Errorf("comparison, as other pages read it: %+v", c)
		}
		for _, gpu := range see[leaderboard.GPUs](m, "gpus").GPUs {
			if gpu.Submissions != gpu.SampleCount || gpu.AvgScore != gpu.AverageScore || gpu.AvgRenderSeconds == 0 {
				t.Errorf("a GPU of the list: %+v", gpu)
			}
		}
		if v := see[leaderboard.GPU](m, "gpu/nvidia-geforce-rtx-4090").BenchmarkVersions; len(v) != 1 || v[0].SampleCount != 3 || v[0].Versions != leaderboard.Current() {
			t.Errorf("the versions of a GPU: %+v", v)
		}
		found := see[leaderboard.Found](m, "search?q=rtx")
		if gpu := found.Results[0]; gpu.Subtitle != "NVIDIA, 24 GB, 3 results, synthetic" || gpu.Score != 8500.167 || gpu.RenderSeconds != *c.A.AverageRenderSeconds {
			t.Errorf("a GPU: %+v", gpu)
		}
		if hit := found.Results[1]; hit.Score != 8500 || hit.RenderSeconds != 180 || !strings.HasPrefix(hit.Subtitle, "GPU, 20") || !strings.HasSuffix(hit.Subtitle, ", synthetic") {
			t.Errorf("a result: %+v", hit)
		}
		latest := see[struct {
			Limit         int
			ResultCount   int `json:"result_count"`
			Rows, Results []leaderboard.Row
		}](m, "latest?limit=3")
		if latest.Limit != 3 || latest.ResultCount != 3 || len(latest.Results) != 3 || latest.Results[2].ResultID != latest.Rows[2].ResultID || latest.Rows[0].GPUPageURL == nil {
			t.Errorf("the newest: %+v", latest)
		}
		if all := see[leaderboard.GPUs](m, "gpus"); all.Total != 2 || len(all.GPUs) != 2 {
			t.Errorf("GPUs: %+v", all)
		}
	})
}

// TestAScoreIsPlacedAmongResults asks for places above, among, equal to and below results.
func TestAScoreIsPlacedAmongResults(t *testing.T) {
	t.Parallel()
	eachMeasured(t, func(t *testing.T, m *measured) {
		if r := see[leaderboard.Ranked](m, "rank?score=5"); r.Rank != nil || r.SampleCount != 0 || r.Label != leaderboard.NoLabel {
			t.Errorf("among none: %+v", r)
		}
		m.four()
		for score, want := range map[string]int64{"1000000": 1, "9000.501": 1, "9000.5": 1, "9000.4999": 1, "9000.499": 2, "8500": 2, "8499.999": 3, "4000": 4, "0": 5} {
			if r := see[leaderboard.Ranked](m, "rank?score="+score); *r.Rank != want || r.SampleCount != 4 {
				t.Errorf("%s: rank %d of %d, want %d", score, *r.Rank, r.SampleCount, want)
			}
		}
		if r := see[leaderboard.Ranked](m, "rank?score=8500"); r.Label != leaderboard.Top50 {
			t.Errorf("the second of four is %s", r.Label)
		}
		for _, bad := range []string{"rank", "rank?score=", "rank?score=fast", "rank?score=-1", "rank?score=1000000.1", "rank?score=NaN", "rank?score=Inf", "rank?score=-Inf"} {
			if a := m.call("GET", "/node/v1/leaderboard/"+bad, "", body{}); a.status != 400 || a.code() != fault.InvalidRequest {
				t.Errorf("%s: %d %s", bad, a.status, a.code())
			}
		}
	})
}
