package leaderboard_test

import (
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/work/benchmark/leaderboard"
)

func TestOnlyRejectedReceiptsAreForgotten(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newBoard(t, d)
		h.submit(leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9000, time.Now()))
		wrong := leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9000, time.Now())
		wrong.SceneVersion = "scenes-v0"
		if done := h.submit(wrong); done.Reason == "" {
			t.Fatal("the receipt counts")
		}
		for _, keep := range []time.Duration{time.Hour, -time.Second} {
			want := int64(0)
			if keep < 0 {
				want = 1
			}
			if n, err := leaderboard.ForgetRejected(t.Context(), d, keep); n != want || err != nil {
				t.Errorf("%d are forgotten after %s, %v; want %d", n, keep, err, want)
			}
		}
		h.clean(1)
	})
}
