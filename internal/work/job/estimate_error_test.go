package job_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/test/long"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// scenes are kinds of animation, by how the time of a frame follows from its place in the
// job, 0 to 1, around a mean of 1.
var scenes = map[string]func(r *rand.Rand, place float64) float64{
	"steady, within 5 %":                 func(r *rand.Rand, _ float64) float64 { return 0.95 + 0.1*r.Float64() },
	"noisy, a third more or less":        func(r *rand.Rand, _ float64) float64 { return math.Exp(0.3 * r.NormFloat64()) },
	"changes: twice as heavy at the end": func(r *rand.Rand, place float64) float64 { return (1 + place) * math.Exp(0.1*r.NormFloat64()) },
	"changes: a cut to half the time": func(r *rand.Rand, place float64) float64 {
		return (2 - math.Round(place)) * math.Exp(0.1*r.NormFloat64())
	},
	"a slow first frame": func(r *rand.Rand, place float64) float64 {
		return (1 + 2*float64(btoi(place == 0))) * math.Exp(0.1*r.NormFloat64())
	},
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// rendered is a job that workers have rendered in simulated time, each frame alone and as
// soon as a worker is free.
type rendered struct{ began, ended []time.Duration }

func render(r *rand.Rand, workers, frames int, kind func(*rand.Rand, float64) float64) (j rendered) {
	free := make([]time.Duration, workers)
	mean := 1 + 30*r.Float64() // seconds
	for i := range frames {
		w := slices.Index(free, slices.Min(free))
		j.began = append(j.began, free[w])
		free[w] += time.Duration(mean * kind(r, float64(i)/float64(frames)) * float64(time.Second))
		j.ended = append(j.ended, free[w])
	}
	return j
}

// estimateAfter is the estimate when so many frames are in, and the time that was left.
func (j rendered) estimateAfter(t *testing.T, done int) (estimate, left float64) {
	order := make([]int, len(j.ended))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(j.ended[a], j.ended[b]) })
	start, now := time.Unix(1000, 0), j.ended[order[done-1]]
	var at []time.Time
	var took []time.Duration
	for i := done - 1; i >= max(0, done-dispatch.ETAFrames); i-- {
		at, took = append(at, start.Add(j.ended[order[i]])), append(took, j.ended[order[i]]-j.began[order[i]])
	}
	held, begun := int64(0), 0.0
	for i := range j.began {
		if j.began[i] <= now && j.ended[i] > now {
			held, begun = held+1, begun+float64(now-j.began[i])/float64(j.ended[i]-j.began[i])
		}
	}
	record := job.Record{JobID: "JOB-1", Status: string(job.Rendering), FrameCount: int64(len(j.ended)), FramesCompleted: int64(done), ClaimedAt: start.UnixMicro()}
	o := job.EstimateOf(record, held, begun, at, took, start.Add(now))
	if o.ETASeconds == nil || *o.ETASeconds <= 0 || *o.ETABasis != job.JobFrames {
		t.Fatalf("after %d of %d frames the estimate is %v by %v", done, len(j.ended), o.ETASeconds, o.ETABasis)
	}
	return *o.ETASeconds, (slices.Max(j.ended) - now).Seconds()
}

// TestAnEstimateIsAQuarterWrongAtMost measures how far estimates are from what then
// happened. Once three frames are in, the median error is a quarter at most over all
// scenes, and over those of each kind that does not change for good later.
// docs/internal/queue-measured.md shows the figures.
func TestAnEstimateIsAQuarterWrongAtMost(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(18, 3))
	var all []float64
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range scenes {
			if !yield(name) {
				return
			}
		}
	}) {
		for _, workers := range []int{1, 4, 16} {
			var early, half []float64
			for range long.Scale(200, 1000) {
				frames := 12 + r.IntN(240)
				j := render(r, workers, frames, scenes[name])
				for done, wrong := range map[int]*[]float64{3: &early, frames / 2: &half} {
					if done < 3 {
						continue
					}
					estimate, left := j.estimateAfter(t, done)
					*wrong = append(*wrong, math.Abs(estimate-left)/left)
				}
			}
			all = append(all, early...)
			t.Logf("| %s | %d | %.0f %% | %.0f %% |", name, workers, 100*median(early), 100*median(half))
			if m := median(early); m > 0.25 && !strings.HasPrefix(name, "changes: ") {
				t.Errorf("%s, %d workers: after three frames the median error is %.2f, want a quarter at most", name, workers, m)
			}
		}
	}
	t.Logf("all, after three frames: %.0f %%", 100*median(all))
	if m := median(all); m > 0.25 {
		t.Errorf("after three frames the median error is %.2f, want a quarter at most", m)
	}
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}
