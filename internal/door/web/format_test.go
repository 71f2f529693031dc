package web

import (
	"strings"
	"testing"

	"svc.example/internal/work/benchmark/leaderboard"
)

func TestFiguresAreWrittenForPeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{scoreText(9.94), "9.9"}, {scoreText(99.96), "100.0"}, {scoreText(1234567.5), "1,234,568"}, {numberText(0), "0"}, {numberText(999), "999"},
		{countText(1), "1 result"}, {countText(1000), "1,000 results"}, {signedText(-0.01), "0"}, {signedText(-2.5), "−2.5"}, {signedText(3), "+3.0"},
		{maybe((*float64)(nil), scoreText), "–"}, {gbText(nil), "–"}, {bytesText(nil), "unknown"}, {labelText(leaderboard.NoLabel), ""},
		{usdText(123456), "$1,234.56"}, {usdText(-5), "−$0.05"}, {signedUSDText(5), "+$0.05"}, {signedUSDText(-5), "−$0.05"}, {spanText(0.2), "1 s"}, {spanText(59.4), "59 s"},
		{spanText(150), "3 min"}, {spanText(7800), "2 h 10 min"}, {frameCount(1), "1 frame"}, {frameCount(1000), "1,000 frames"}, {shortList("1-3,7"), "1-3,7"},
		{shortList(strings.Repeat("1,", 40) + "3"), strings.TrimSuffix(strings.Repeat("1,", 30), ",") + ", …"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
