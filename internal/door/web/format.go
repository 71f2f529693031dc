package web

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/work/benchmark/leaderboard"
)

// templateFuncs returns the functions that templates write figures with. Every
// page uses these, so that a score or a price looks the same everywhere.
func templateFuncs() template.FuncMap {
	return template.FuncMap{
		"score": func(v any) string { return maybe(v, scoreText) }, "seconds": func(v any) string { return maybe(v, secondsText) },
		"results": countText, "number": numberText, "count": func(n int) string { return numberText(int64(n)) }, "day": dayText, "moment": momentText, "label": labelText, "gb": gbText, "bytes": bytesText,
		"percent": func(v *float64) string {
			return maybe(v, func(f float64) string { return signedText(f) + " %" })
		},
		"at":    func(v *float64) string { return strconv.FormatFloat(*v, 'f', 1, 64) },
		"share": func(v, of float64) float64 { return 100 * v / of },
		"place": func(v *float64) string {
			return maybe(v, func(f float64) string { return strconv.FormatFloat(math.Floor(f*10)/10, 'f', -1, 64) + " %" })
		},
		"money": moneyText, "size": fileSizeText, "usd": usdText, "usdp": func(cents *int64) string { return usdText(*cents) }, "signed": signedUSDText,
		"frames": frameCount, "when": whenText, "short": shortList,
		"first": func(list string) string { return list[:cmp.Or(max(0, strings.IndexAny(list, ",-:")), len(list))] },
		"exact": func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) + " s" },
		"last":  lastTry, "reason": reasonText,
		"versions": func(v leaderboard.Versions) string {
			return v.Benchmark + ", " + v.Scene + ", " + v.Scoring
		},
	}
}

// maybe writes a figure that can be unknown: a float64 or a *float64. Unknown
// is a dash, never 0, because the leaderboard invents no figure (spec 4.6).
func maybe(v any, write func(float64) string) string {
	switch v := v.(type) {
	case float64:
		return write(v)
	case *float64:
		if v != nil {
			return write(*v)
		}
	}
	return "–"
}

// scoreText writes a score: one decimal below 100, where it matters, and whole
// numbers above.
func scoreText(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return numberText(int64(math.Round(v)))
}

// numberText separates the thousands of a number that is not negative.
func numberText(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// countText writes a number of results with the right plural.
func countText(n int64) string {
	if n == 1 {
		return "1 result"
	}
	return numberText(n) + " results"
}

// secondsText writes a duration in seconds.
func secondsText(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) + " s" }

// signedText writes a difference with its sign. What rounds to zero has none.
func signedText(v float64) string {
	text := strconv.FormatFloat(math.Abs(v), 'f', 1, 64)
	switch {
	case text == "0.0":
		return "0"
	case v < 0:
		return "−" + text
	}
	return "+" + text
}

// dayText writes a date. Times of the service are UTC.
func dayText(t time.Time) string { return t.Format("2 Jan 2006") }

// momentText writes a date and time. The zone stands in the text, so t must be
// UTC.
func momentText(t time.Time) string { return t.Format("2 Jan 2006, 15:04 UTC") }

// labelText writes a percentile label; "" for an unknown one.
func labelText(l leaderboard.Label) string {
	return map[leaderboard.Label]string{
		leaderboard.Top1: "Top 1 %", leaderboard.Top5: "Top 5 %", leaderboard.Top10: "Top 10 %", leaderboard.Top25: "Top 25 %",
		leaderboard.Top50: "Top 50 %", leaderboard.Bottom50: "Lower 50 %",
	}[l]
}

// gbText writes the size of a GPU's memory, in the units of its maker.
func gbText(gb *int64) string {
	if gb == nil {
		return "–"
	}
	return strconv.FormatInt(*gb, 10) + " GB"
}

// bytesText writes a memory size in GiB.
func bytesText(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return strconv.FormatFloat(float64(*n)/(1<<30), 'f', 1, 64) + " GiB"
}

// usdText writes an amount in cents, such as "$1,200.50".
func usdText(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "−", -cents
	}
	return fmt.Sprintf("%s$%s.%02d", sign, numberText(cents/100), cents%100)
}

// signedUSDText is usdText with a sign in any case.
func signedUSDText(cents int64) string {
	if cents > 0 {
		return "+" + usdText(cents)
	}
	return usdText(cents)
}

// shortList cuts a list of frames that is too long for a line.
func shortList(list string) string {
	const longest = 60
	if len(list) <= longest {
		return list
	}
	return list[:strings.LastIndexByte(list[:longest], ',')] + ", …"
}
