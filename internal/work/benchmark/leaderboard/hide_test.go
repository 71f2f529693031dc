package leaderboard_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
)

func (h *testBoard) write(do func(ctx context.Context, tx *db.Tx) error) error {
	ctx := h.t.Context()
	return h.Board.DB.Write(ctx, func(tx *db.Tx) error { return do(ctx, tx) })
}

// TestAHiddenResultIsOnNoPageAndInNoCountAndInTheLog hides the best of three results, and
// shows it again.
func TestAHiddenResultIsOnNoPageAndInNoCountAndInTheLog(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newBoard(t, d)
		best := h.submit(leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9000, time.Now()))
		for i, r := range []benchmark.Receipt{
			leaderboardtest.Run("NVIDIA T4", 16, 500, time.Now()), leaderboardtest.Run("NVIDIA T4", 16, 600, time.Now()), leaderboardtest.CPURun("AMD Ryzen 9 7950X", 30, time.Now()),
		} {
			if done := h.submit(r); done.ReceiptID == "" {
				t.Fatalf("result %d is rejected: %s", i, done.Detail)
			}
		}
		before, err := h.Board.Top(t.Context(), 10)
		if err != nil || before.SampleCount != 3 {
			t.Fatalf("%+v, %v", before, err)
		}
		hide := func() (n int64, err error) {
			err = h.write(func(ctx context.Context, tx *db.Tx) (err error) {
				n, err = leaderboard.Hide(ctx, tx, []string{best.ResultID}, "it was made up")
				return err
			})
			return n, err
		}
		for _, want := range []int64{1, 0} { // twice changes nothing more
			if n, err := hide(); n != want || err != nil {
				t.Errorf("%d hidden, want %d: %v", n, want, err)
			}
		}
		top, err := h.Board.Top(t.Context(), 10)
		if err != nil || top.SampleCount != 2 || len(top.Rows) != 2 || top.Rows[0].ResultID == best.ResultID || top.Rows[0].Rank != 1 {
			t.Errorf("the top is %+v, %v", top, err)
		}
		_, err = h.Board.Result(t.Context(), best.ResultID)
		if !fault.Is(err, fault.ResultNotFound) || !strings.Contains(err.Error(), "hidden") || !strings.Contains(err.Error(), "it was made up") {
			t.Errorf("its page says %v", err)
		}
		h.clean(4)

		err = h.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := leaderboard.Show(ctx, tx, []string{best.ResultID})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		after, err := h.Board.Top(t.Context(), 10)
		if err != nil || after.SampleCount != 3 || !reflect.DeepEqual(after, before) {
			t.Errorf("shown again: %+v, want %+v; %v", after, before, err)
		}
		if h.submit(leaderboardtest.Run("NVIDIA T4", 16, 700, time.Now())).ReceiptID == "" {
			t.Error("a later result is rejected")
		}
		h.clean(5)
	})
}

func TestOnlyAnAcceptedResultIsHidden(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newBoard(t, d)
		err := h.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := leaderboard.Hide(ctx, tx, []string{"BMR-none"}, "why")
			return err
		})
		if !fault.Is(err, fault.ResultNotFound) {
			t.Errorf("an unknown result: %v", err)
		}
	})
}
