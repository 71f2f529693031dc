package web

import (
	"testing"

	"svc.example/internal/work/benchmark/leaderboard"
)

func TestFiguresAreWrittenForPeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{scoreText(9.94), "9.9"}, {scoreText(99.96), "100.0"}, {scoreText(1234567.5), "1,234,568"}, {numberText(0), "0"}, {numberText(999), "999"},
		{countText(1), "1 result"}, {countText(1000), "1,000 results"}, {signedText(-0.01), "0"}, {signedText(-2.5), "−2.5"}, {signedText(3), "+3.0"},
		{maybe((*float64)(nil), scoreText), "–"}, {gbText(nil), "–"}, {bytesText(nil), "unknown"}, {labelText(leaderboard.NoLabel), ""},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
