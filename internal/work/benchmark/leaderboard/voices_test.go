package leaderboard_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/test/long"
	"svc.example/internal/work/benchmark/leaderboard"
)

func refs(all ...lease.Ref) []lease.Ref { return all }

// TestAKeySpeaksByItsNewestResult: earlier ones keep their pages and are in no count.
func TestAKeySpeaksByItsNewestResult(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newBoard(t, d)
		one := h.As(h.machine())
		h.submit(leaderboardtest.Run("NVIDIA T4", 16, 800, time.Now()))
		var last leaderboard.Submitted
		for _, r := range []struct {
			gpu   string
			score float64
		}{{"NVIDIA GeForce RTX 4090", 9000}, {"NVIDIA T4", 5000}, {"NVIDIA T4", 700}} {
			var err error
			if last, err = one.Submit(t.Context(), leaderboardtest.Run(r.gpu, 16, r.score, time.Now())); err != nil || last.Reason != "" {
				t.Fatalf("%+v, %v", last, err)
			}
		}
		top, err := h.Board.Top(t.Context(), 10)
		if err != nil || top.SampleCount != 2 || len(top.Rows) != 2 || top.Rows[1].ResultID != last.ResultID || top.Rows[0].Score != 800 {
			t.Errorf("%+v, %v", top, err)
		}
		gpus, err := h.Board.GPUs(t.Context())
		if err != nil || gpus.Total != 1 || gpus.GPUs[0].SampleCount != 2 || gpus.GPUs[0].MedianScore != 750 {
			t.Errorf("%+v, %v", gpus, err)
		}
		left, err := h.Board.GPU(t.Context(), "nvidia-geforce-rtx-4090")
		if err != nil || left.SampleCount != 0 || left.MedianScore != nil {
			t.Errorf("the GPU that the key speaks for no more: %+v, %v", left, err)
		}
		h.clean(4)
		if err := h.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := leaderboard.Hide(ctx, tx, []string{last.ResultID}, "why")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if top, err := h.Board.Top(t.Context(), 10); err != nil || top.Rows[0].Score != 5000 {
			t.Errorf("with its newest hidden it speaks by the one before: %+v, %v", top, err)
		}
		h.clean(4)
	})
}

// figures are what a board says in numbers.
type figures struct {
	stats leaderboard.Stats
	top   leaderboard.Top
	gpu   leaderboard.GPU
}

func (h *testBoard) figures(slug string) (f figures) {
	h.t.Helper()
	var err error
	if f.stats, err = h.Board.Stats(h.t.Context()); err == nil {
		if f.top, err = h.Board.Top(h.t.Context(), 100); err == nil {
			f.gpu, err = h.Board.GPU(h.t.Context(), slug)
		}
	}
	if err != nil {
		h.t.Fatal(err)
	}
	f.gpu.UnverifiedResults = nil // they are apart
	return f
}

// TestForgedResultsOfAFewKeysMoveNoFigureFar has 10 keys of liars, which send thousands of
// results, among 60 honest ones. Without challenges nothing moves. Then all gates are open,
// as for synthetic results: what moves stays within the bounds of docs/leaderboard.md.
func TestForgedResultsOfAFewKeysMoveNoFigureFar(t *testing.T) {
	t.Parallel()
	const honest, liars = 60, 10
	each := long.Scale(8, 300)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newBoard(t, d)
		var scores []float64
		var ids []string
		for i := range honest {
			score := float64(900 + 5*i)
			scores = append(scores, score)
			ids = append(ids, h.submit(leaderboardtest.Run("NVIDIA T4", 16, score, time.Now())).ResultID)
		}
		before := h.figures("nvidia-t4")
		machines := make([]leaderboardtest.Machine, liars)
		for i := range machines {
			machines[i] = h.machine()
		}
		forge := func(i, n int, gpu string, score float64, gated bool) {
			r := leaderboardtest.Run(gpu, 16, score, time.Now().Add(time.Duration(n)*time.Microsecond))
			fleet := h.As(machines[i])
			s, err := fleet.Sign(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if gated {
				r.Synthetic, s.Worker.Synthetic = false, false
				if err := fleet.Seal(&s, r, machines[i]); err != nil {
					t.Fatal(err)
				}
			}
			if done, err := h.Board.Submit(t.Context(), s); err != nil || done.Reason != "" {
				t.Fatalf("%+v, %v", done, err)
			}
		}
		for n := range each {
			for i := range liars {
				forge(i, n, "NVIDIA T4", 299_999, true)
			}
		}
		if after := h.figures("nvidia-t4"); !reflect.DeepEqual(after, before) {
			t.Errorf("results without challenges move figures:\n%+v\n%+v", after, before)
		}
		for n := range each {
			for i := range liars {
				gpu := "NVIDIA T4"
				if n%3 == 1 {
					gpu = []string{"NVIDIA RTX 9990", "NVIDIA RTX 9991", "NVIDIA RTX 9992"}[n%9/3]
				}
				forge(i, each+n, gpu, []float64{299_999, 3}[n%2*(n%5)/4], false)
			}
		}
		for i := range liars {
			forge(i, 3*each, "NVIDIA T4", 299_999, false)
		}
		after := h.figures("nvidia-t4")
		within := func(what string, got, low, high float64) {
			if got < low || got > high {
				t.Errorf("%s is %v, not %v to %v", what, got, low, high)
			}
		}
		at := func(place int) float64 { return scores[place-1] } // honest, from the lowest
		within("results", float64(after.stats.TotalSubmissions), honest, honest+liars)
		within("GPUs", float64(after.stats.GPUCount), 1, 1+liars)
		within("the GPU's samples", float64(after.gpu.SampleCount), honest, honest+liars)
		within("the median", *after.gpu.MedianScore, at(honest/2-liars/2), at(honest/2+1+liars/2))
		within("the median of all", *after.stats.MedianScore, at(honest/2-liars/2), at(honest/2+1+liars/2))
		within("the average", *after.gpu.AverageScore, *before.gpu.AverageScore-5*liars, *before.gpu.AverageScore+5*liars)
		forged := slices.DeleteFunc(slices.Clone(after.top.Rows), func(r leaderboard.TopRow) bool { return r.Score < 10_000 })
		within("forged rows in the table", float64(len(forged)), 0, liars)
		for i, id := range ids {
			r, err := h.Board.Result(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			within("a rank", float64(*r.Global.Rank), float64(honest-i), float64(honest-i+liars))
		}
		h.clean(honest + 2*liars*each + liars)
	})
}
