package page

import (
	"strings"
	"testing"
)

func TestFiguresAreWrittenForPeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{ScoreText(9.94), "9.9"}, {ScoreText(99.96), "100.0"}, {ScoreText(1234567.5), "1,234,568"},
		{CountText(1), "1 result"}, {CountText(1000), "1,000 results"}, {signedText(-0.01), "0"}, {signedText(-2.5), "−2.5"}, {signedText(3), "+3.0"},
		{maybe((*float64)(nil), ScoreText), "–"}, {gbText(nil), "–"}, {bytesText(nil), "unknown"},
		{signedUSDText(5), "+$0.05"}, {signedUSDText(-5), "−$0.05"}, {SpanText(0.2), "1 s"}, {SpanText(59.4), "59 s"},
		{SpanText(150), "3 min"}, {SpanText(7800), "2 h 10 min"}, {SpanText(86399.9), "24 h"}, {FrameCount(1), "1 frame"}, {FrameCount(1000), "1,000 frames"}, {shortList("1-3,7"), "1-3,7"},
		{shortList(strings.Repeat("1,", 40) + "3"), strings.TrimSuffix(strings.Repeat("1,", 30), ",") + ", …"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
