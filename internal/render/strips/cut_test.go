package strips_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"svc.example/internal/render/strips"
)

// Whatever is asked for, each row is in one strip, and no strip is empty.
func TestStripsCoverEachRowOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		height := rapid.IntRange(1, 5000).Draw(t, "height")
		k := rapid.IntRange(0, 40).Draw(t, "k")
		cost := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 1e9), rapid.Just(math.NaN()), rapid.Just(math.Inf(1)), rapid.Just(-1.0)), 0, 40).Draw(t, "cost")
		fixed := rapid.OneOf(rapid.Float64Range(-1, 1e6), rapid.Just(math.NaN())).Draw(t, "fixed")
		rows := strips.Cut(height, k, cost, fixed)
		if len(rows) != max(1, min(k, height)) {
			t.Fatalf("%d strips of %d rows, wanted %d", len(rows), height, k)
		}
		next := 0
		for _, r := range rows {
			if r.From != next || r.Height() < 1 {
				t.Fatalf("%v: a strip is empty, or does not follow the one above", rows)
			}
			next = r.To
		}
		if next != height {
			t.Fatalf("%v ends at row %d of %d", rows, next, height)
		}
	})
}

func TestStripsTakeEquallyLong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		height, k int
		cost      []float64
		fixed     float64
		want      []strips.Rows
	}{
		{"nothing is known", 100, 3, nil, 0, []strips.Rows{{From: 0, To: 33}, {From: 33, To: 67}, {From: 67, To: 100}}},
		{"all bands take no time", 100, 2, []float64{0, 0}, 0, []strips.Rows{{From: 0, To: 50}, {From: 50, To: 100}}},
		{"the lower half takes three times as long", 400, 2, []float64{1, 3}, 0, []strips.Rows{{From: 0, To: 267}, {From: 267, To: 400}}},
		{"what each band takes anyway evens it", 400, 2, []float64{1, 3}, 1e9, []strips.Rows{{From: 0, To: 200}, {From: 200, To: 400}}},
		{"a sky without cost ends in one strip", 400, 2, []float64{0, 0, 0, 8}, 0, []strips.Rows{{From: 0, To: 350}, {From: 350, To: 400}}},
		{"strips stay higher than their overlap", 400, 4, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 1000}, 0, []strips.Rows{{From: 0, To: 352}, {From: 352, To: 368}, {From: 368, To: 384}, {From: 384, To: 400}}},
		{"more strips than rows", 2, 8, nil, 0, []strips.Rows{{From: 0, To: 1}, {From: 1, To: 2}}},
	} {
		if got := strips.Cut(c.height, c.k, c.cost, c.fixed); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, wanted %v", c.name, got, c.want)
		}
	}
}

// The numbers are those that were measured of a light and of a heavy scene.
func TestOnlyLongPicturesAreCut(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for _, c := range []struct {
		name                   string
		whole, fixed, transfer time.Duration
		k                      int
		want                   bool
	}{
		{"a light scene at its break-even", 43 * second, 800 * time.Millisecond, 10 * second, 4, true},
		{"just below", 42 * second, 800 * time.Millisecond, 10 * second, 4, false},
		{"a heavy scene that two share", 52 * second, 3700 * time.Millisecond, 10 * second, 2, true},
		{"the same for eight: a tenth more work", 52 * second, 3700 * time.Millisecond, 10 * second, 8, false},
		{"ten minutes for eight", 600 * second, 4 * second, 15 * second, 8, true},
		{"one strip is no cut", 600 * second, 4 * second, 15 * second, 1, false},
	} {
		if got := strips.Worthwhile(c.whole, c.fixed, c.transfer, c.k); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestOverlapEndsAtThePicture(t *testing.T) {
	t.Parallel()
	if got := (strips.Rows{From: 10, To: 90}).Wider(16, 100); got != (strips.Rows{From: 0, To: 100}) {
		t.Error(got)
	}
	if got := (strips.Rows{From: 40, To: 60}).Wider(16, 100); got != (strips.Rows{From: 24, To: 76}) {
		t.Error(got)
	}
}
