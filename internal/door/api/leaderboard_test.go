package api_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
)

// measured is a service with a leaderboard, and the workers that submit to it.
type measured struct {
	*service
	fleet *leaderboardtest.Fleet
	at    time.Time
}

func eachMeasured(t *testing.T, test func(t *testing.T, m *measured)) {
	dbtest.EachURL(t, func(t *testing.T, url string) {
		m := &measured{service: start(t, url, func(c *app.Config) { c.AllowSynthetic = true }), at: time.Now().Add(-time.Hour)}
		var err error
		if m.fleet, err = leaderboardtest.NewFleet(t.Context(), m.app.Board(m.app.Links(m.base))); err != nil {
			t.Fatal(err)
		}
		test(t, m)
	})
}

// run hands in a run that counts and gives its result's id.
func (m *measured) run(r benchmark.Receipt) string {
	m.t.Helper()
	done, err := m.fleet.Submit(m.t.Context(), r)
	if err != nil || done.Reason != "" {
		m.t.Fatalf("%+v, %v", done, err)
	}
	return done.ResultID
}

func (m *measured) gpu(name string, gb int64, score float64) string {
	m.t.Helper()
	m.at = m.at.Add(time.Second)
	return m.run(leaderboardtest.Run(name, gb, score, m.at))
}

// see reads a route of the leaderboard into T; every answer is compared with
// the document.
func see[T any](m *measured, path string) (out T) {
	m.t.Helper()
	res, text := m.send("GET", "/node/v1/leaderboard/"+path, "", nil, nil, "")
	if res.StatusCode != 200 || !strings.HasPrefix(string(text), `{"ok":true`) {
		m.t.Fatalf("%s: %d %s", path, res.StatusCode, text)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		m.t.Fatalf("%s: %v", path, err)
	}
	return out
}

func TestAnEmptyLeaderboardSaysSo(t *testing.T) {
	t.Parallel()
	eachMeasured(t, func(_ *testing.T, m *measured) {
		for path, want := range map[string]string{
			"top": `"rows":[],"sample_count":0`, "gpus": `"gpus":[]`, "latest": `"rows":[]`,
			"stats":      `"total_submissions":0,"synthetic_submissions":0,"gpu_count":0,"top_score":null,"median_score":null,"average_score":null,"common_gpus":[]`,
			"search?q=a": `"query":"a","result_count":0,"results":[]`, "search?q=": `"results":[]`, "search": `"query":"","result_count":0,"results":[]`,
			"search?q=+": `"results":[]`,
		} {
			if res, text := m.send("GET", "/node/v1/leaderboard/"+path, "", nil, nil, ""); res.StatusCode != 200 || !strings.Contains(string(text), want) {
				m.t.Errorf("%s: %d %s", path, res.StatusCode, text)
			}
		}
		for path, code := range map[string]fault.Code{
			"gpu/nvidia-t4": fault.GPUNotFound, "compare/nvidia-t4/nvidia-l4": fault.GPUNotFound, "result/BMR-0": fault.ResultNotFound,
			"latest?limit=0": fault.InvalidRequest, "latest?limit=101": fault.InvalidRequest, "latest?limit=x": fault.InvalidRequest,
			"search?q=" + strings.Repeat("a", 201): fault.InvalidRequest, "gpu/%20": fault.GPUNotFound,
		} {
			if a := m.call("GET", "/node/v1/leaderboard/"+path, "", body{}); a.code() != code {
				m.t.Errorf("%s: %d %s, want %s", path, a.status, a.code(), code)
			}
		}
	})
}

func TestTheLeaderboardTellsWhatReceiptsSay(t *testing.T) {
	t.Parallel()
	eachMeasured(t, func(_ *testing.T, m *measured) {
		best := m.gpu("NVIDIA GeForce RTX 4090", 24, 9000.5)
		m.gpu("GeForce RTX 4090", 24, 8000)
		m.gpu("NVIDIA GeForce RTX 4090 (Display)", 0, 8500)
		other := m.gpu("AMD Radeon RX 7900 XTX", 24, 4000)
		cpu := m.run(leaderboardtest.CPURun("AMD Ryzen 9 7950X", 300, m.at.Add(time.Minute)))

		top := see[leaderboard.Top](m, "top")
		if len(top.Rows) != 4 || top.SampleCount != 4 || top.Rows[0].ResultID != best || top.Rows[0].Score != 9000.5 || *top.Rows[0].VRAMGB != 24 ||
			top.Rows[0].GPUSlug != "nvidia-geforce-rtx-4090" || !top.Rows[0].Synthetic || top.Rows[3].Rank != 4 || top.Rows[1].VRAMGB != nil {
			m.t.Errorf("top: %+v", top)
		}
		stats := see[leaderboard.Stats](m, "stats")
		if stats.TotalSubmissions != 4 || stats.GPUCount != 2 || *stats.MedianScore != 8250 || *stats.TopScore != 9000.5 || *stats.AverageScore != 8250 ||
			stats.CommonGPUs[0].SampleCount != 3 || stats.SyntheticSubmissions != 4 || stats.ScoreFormula == "" || stats.Versions != leaderboard.Current() {
			m.t.Errorf("stats: %+v", stats)
		}
		gpu := see[leaderboard.GPU](m, "gpu/nvidia-geforce-rtx-4090")
		if gpu.SampleCount != 3 || *gpu.MedianScore != 8500 || gpu.Percentiles == nil || gpu.Percentiles.Top50 != 1 || gpu.Percentiles.Top25 != 1 ||
			gpu.Percentiles.Bottom50 != 1 || len(gpu.LatestResults) != 3 || len(gpu.BenchmarkVersions) != 1 || *gpu.BestRenderSeconds != 180 {
			m.t.Errorf("GPU: %+v, %+v", gpu, gpu.Percentiles)
		}
		if few := see[leaderboard.GPU](m, "gpu/amd-radeon-rx-7900-xtx"); few.Percentiles != nil || few.SampleCount != 1 {
			m.t.Errorf("GPU with one result: %+v", few)
		}
		if all := see[struct{ GPUs []leaderboard.GPUShort }](m, "gpus"); len(all.GPUs) != 2 || all.GPUs[0].AverageScore != 8500.167 || all.GPUs[0].MedianScore != 8500 {
			m.t.Errorf("GPUs: %+v", all)
		}
		c := see[leaderboard.Comparison](m, "compare/nvidia-geforce-rtx-4090/amd-radeon-rx-7900-xtx")
		if *c.Deltas.MedianScore.Absolute != 4500 || *c.Deltas.MedianScore.Percent != 112.5 || *c.Deltas.BestRenderSeconds.Absolute != 0 {
			m.t.Errorf("comparison: %+v", c.Deltas)
		}
		if same := see[leaderboard.Comparison](m, "compare/amd-radeon-rx-7900-xtx/amd-radeon-rx-7900-xtx"); *same.Deltas.TopScore.Percent != 0 {
			m.t.Errorf("a GPU with itself: %+v", same)
		}
		latest := see[struct{ Rows []leaderboard.Row }](m, "latest?limit=2")
		if len(latest.Rows) != 2 || latest.Rows[0].ResultID != cpu || latest.Rows[0].RenderDevice != "CPU" || latest.Rows[0].GPUSlug != "unknown" ||
			latest.Rows[0].GlobalPercentileLabel != "unknown" || latest.Rows[1].ResultID != other || latest.Rows[1].GlobalPercentileLabel != "bottom_50" {
			m.t.Errorf("latest: %+v", latest)
		}
		one := see[leaderboard.Result](m, "result/"+best)
		if one.GPUDriver != "550.54.14" || len(one.Scenes) != 3 || *one.Global.Rank != 1 || one.Global.Label != "top_25" || *one.WithinGPU.Percentile < 66 ||
			one.PublicResultURL != m.base+"/leaderboard/result/"+best || one.RAMBytes != nil {
			m.t.Errorf("result: %+v", one)
		}
		if slow := see[leaderboard.Result](m, "result/"+cpu); slow.Global.Rank != nil || slow.Global.Among != 0 || slow.DeviceName != "AMD Ryzen 9 7950X" {
			m.t.Errorf("a CPU's result: %+v", slow)
		}
	})
}

func TestTheNewestAre25UnlessAskedOtherwise(t *testing.T) {
	t.Parallel()
	eachMeasured(t, func(_ *testing.T, m *measured) {
		var last string
		for i := range 27 {
			last = m.gpu("AMD Radeon RX 7900 XTX", 24, float64(4000+i))
		}
		for query, want := range map[string]int{"": 25, "?limit=1": 1, "?limit=26": 26, "?limit=100": 27} {
			rows := see[struct{ Rows []leaderboard.Row }](m, "latest"+query).Rows
			if len(rows) != want || rows[0].ResultID != last {
				m.t.Errorf("latest%s gives %d, want %d, the newest %s first", query, len(rows), want, last)
			}
		}
	})
}

func TestSearchFindsByPublicMembersAndNothingElse(t *testing.T) {
	t.Parallel()
	eachMeasured(t, func(_ *testing.T, m *measured) {
		r := leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9000, m.at)
		r.GPUDriver, r.OS = "545.23.08", `50%_off \ OS`
		odd := m.run(r)
		for i := range 60 {
			m.gpu("AMD Radeon RX 7900 XTX", 24, float64(4000+i))
		}
		cpu := m.run(leaderboardtest.CPURun("Intel Xeon 8480", 300, m.at.Add(time.Hour)))
		for query, want := range map[string]string{
			"rtx 4090":   "gpu:nvidia-geforce-rtx-4090 result:" + odd,
			"4090 RTX":   "gpu:nvidia-geforce-rtx-4090 result:" + odd,
			"545.23":     "result:" + odd,
			"50%_off \\": "result:" + odd,
			"%":          "result:" + odd,
			"xeon":       "result:" + cpu,
			"rtx 545":    "", // no one value holds both
			"nothing":    "",
			odd:          "result:" + odd,
			"'; DROP":    "",
		} {
			found := see[leaderboard.Found](m, "search?q="+url.QueryEscape(query))
			var got []string
			for _, hit := range found.Results {
				name := hit.GPUSlug
				if hit.ResultID != nil {
					name = *hit.ResultID
				}
				got = append(got, fmt.Sprintf("%s:%s", hit.Type, name))
			}
			if strings.Join(got, " ") != want || found.ResultCount != len(got) || found.Query != query {
				m.t.Errorf("%q finds %v, want %s", query, got, want)
			}
		}
		receiptID := see[leaderboard.Result](m, "result/"+odd).ReceiptID
		if found := see[leaderboard.Found](m, "search?q="+receiptID); found.ResultCount != 1 || *found.Results[0].ResultID != odd {
			m.t.Errorf("by its receipt: %+v", found)
		}
		many := see[leaderboard.Found](m, "search?q=radeon")
		if many.ResultCount != 50 || many.Results[0].Type != "gpu" || *many.Results[0].SampleCount != 60 || many.Results[1].Title != "AMD Radeon RX 7900 XTX, 4059.0" {
			m.t.Errorf("%d found: %+v", many.ResultCount, many.Results[:2])
		}
	})
}

// TestAnUnchangedAnswerIsNotSentAgain asks with the tag that came before.
func TestAnUnchangedAnswerIsNotSentAgain(t *testing.T) {
	t.Parallel()
	eachMeasured(t, func(_ *testing.T, m *measured) {
		id := m.gpu("NVIDIA GeForce RTX 4090", 24, 9000)
		paths := []string{"top", "stats", "gpus", "latest", "rank?score=5", "search?q=rtx", "result/" + id, "gpu/nvidia-geforce-rtx-4090", "compare/nvidia-geforce-rtx-4090/nvidia-geforce-rtx-4090"}
		tags := map[string]string{}
		for _, path := range paths {
			first, _ := m.send("GET", "/node/v1/leaderboard/"+path, "", nil, nil, "")
			tags[path] = first.Header.Get("ETag")
			if first.StatusCode != 200 || tags[path] == "" || !strings.HasPrefix(first.Header.Get("Cache-Control"), "public, max-age=") {
				m.t.Errorf("%s: %d %v", path, first.StatusCode, first.Header)
			}
			again, text := m.send("GET", "/node/v1/leaderboard/"+path, "", map[string]string{"If-None-Match": `"x", W/` + tags[path]}, nil, "")
			if again.StatusCode != 304 || len(text) > 0 || again.Header.Get("ETag") != tags[path] {
				m.t.Errorf("%s again: %d %s", path, again.StatusCode, text)
			}
		}
		m.gpu("NVIDIA GeForce RTX 4090", 24, 9500)
		for _, path := range paths {
			if changed, _ := m.send("GET", "/node/v1/leaderboard/"+path, "", map[string]string{"If-None-Match": tags[path]}, nil, ""); changed.StatusCode != 200 {
				m.t.Errorf("%s after a change: %d", path, changed.StatusCode)
			}
		}
	})
}
