package page

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// templateFuncs returns the functions that templates write figures with. Every
// page uses these, so that a score or a price looks the same everywhere.
func templateFuncs() template.FuncMap {
	return template.FuncMap{
		"score": func(v any) string { return maybe(v, ScoreText) }, "seconds": func(v any) string { return maybe(v, SecondsText) },
		"results": CountText, "number": numbers.Grouped[int64], "count": numbers.Grouped[int], "day": DayText, "moment": timeElement("moment", MomentText), "gb": gbText, "bytes": bytesText,
		"percent": func(v *float64) string {
			return maybe(v, func(f float64) string { return signedText(f) + " %" })
		},
		"at":    func(v *float64) string { return strconv.FormatFloat(*v, 'f', 1, 64) },
		"share": func(v, of float64) float64 { return 100 * v / of },
		"place": func(v *float64) string {
			return maybe(v, func(f float64) string { return strconv.FormatFloat(math.Floor(f*10)/10, 'f', -1, 64) + " %" })
		},
		"size": fileSizeText, "usd": numbers.Dollars, "usdp": func(cents *int64) string { return numbers.Dollars(*cents) }, "signed": signedUSDText,
		"frames": FrameCount, "when": timeElement("when", whenText), "short": shortList,
		"first": func(list string) string { return list[:cmp.Or(max(0, strings.IndexAny(list, ",-:")), len(list))] },
		"exact": func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) + " s" },
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

// ScoreText writes a score: one decimal below 100, where it matters, and whole
// numbers above.
func ScoreText(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return numbers.Grouped(int64(math.Round(v)))
}

// CountText writes a number of results with the right plural.
func CountText(n int64) string {
	if n == 1 {
		return "1 result"
	}
	return numbers.Grouped(n) + " results"
}

// SecondsText writes a duration in seconds.
func SecondsText(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) + " s" }

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

// DayText writes a date. Times of the service are UTC.
func DayText(t time.Time) string { return t.Format("2 Jan 2006") }

// MomentText writes a date and time. The text names the zone, so t must be UTC.
func MomentText(t time.Time) string { return t.Format("2 Jan 2006, 15:04 UTC") }

// timeElement writes a time as an element that a script of the page rewrites for the
// reader's own zone. as names the form. In a narrow column, it wraps only between the
// date and the time of day.
func timeElement(as string, write func(time.Time) string) func(time.Time) template.HTML {
	return func(t time.Time) template.HTML {
		date, clock, _ := strings.Cut(write(t), ", ")
		whole := strings.NewReplacer(" ", "\u00a0")
		return template.HTML(fmt.Sprintf(`<time datetime=%q data-as=%q>%s, %s</time>`, t.UTC().Format(time.RFC3339), as, whole.Replace(date), whole.Replace(clock)))
	}
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

// signedUSDText is numbers.Dollars with a sign in any case.
func signedUSDText(cents int64) string {
	if cents > 0 {
		return "+" + numbers.Dollars(cents)
	}
	return numbers.Dollars(cents)
}

// shortList cuts a list of frames that is too long for a line.
func shortList(list string) string {
	const longest = 60
	if len(list) <= longest {
		return list
	}
	return list[:strings.LastIndexByte(list[:longest], ',')] + ", …"
}

// StateText is a state in words.
func StateText(s job.Status) string { return strings.ReplaceAll(string(s), "_", " ") }

// WaitText says why a job waits.
func WaitText(o job.Object) string {
	place := ""
	if o.QueuePosition != nil && *o.QueuePosition > 1 {
		place = fmt.Sprintf("; number %d in the queue", *o.QueuePosition)
	}
	switch *o.WaitingReason {
	case job.NoWorkerOnline:
		return "waiting: no machine is online" + place
	case job.WorkersUnable:
		return "waiting: the machines have a problem, and their operator sees it" + place
	case job.NoMatchingBlender:
		return "waiting for a machine with the same Blender as the frames so far" + place
	case job.NoCapableWorker:
		return "waiting: no machine that is online can take this job" + place
	case job.NoTaggedWorker:
		return "waiting: no machine that is set aside for your workspace is online" + place
	case job.WorkspaceLimit:
		return "waiting: your workspace renders as many frames at once as it may" + place
	case job.Paused:
		return PausedText(o)
	}
	return "waiting for a free machine" + place
}

// PausedText says whether a workspace or an operator paused a job; "" if it is not paused.
func PausedText(o job.Object) string {
	switch {
	case o.PausedBy == nil:
		return ""
	case *o.PausedBy == dispatch.ByOperator:
		return "paused by the operator of this service"
	}
	return "paused"
}

// FrameCount writes a number of frames.
func FrameCount(n int) string {
	if n == 1 {
		return "1 frame"
	}
	return numbers.Grouped(n) + " frames"
}

// SpanText writes a duration in seconds for people: "40 s", "3 min", "2 h 10 min", "24 h".
func SpanText(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(1, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	d = d.Round(time.Minute)
	if d%time.Hour == 0 {
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// whenText writes a moment for a list: the time if the day is near, otherwise the
// date.
func whenText(t time.Time) string { return t.Format("2 Jan, 15:04 UTC") }

// fileSizeText writes a size in bytes in the largest binary unit that it fills.
func fileSizeText(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// amount is an amount of dollars, with cents or without.
var amount = regexp.MustCompile(`^\$?([0-9]{1,9})(?:\.([0-9]{2}))?$`)

// Priority reads the priority of a job from a form. Error: invalid_request.
func Priority(text string) (int, error) {
	priority, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return 0, fault.Field("priority", "must be a number, %d to %d", dispatch.LowestPriority, dispatch.HighestPriority)
	}
	return priority, nil
}

// Dollars reads the amount of money in a field, such as "10" or "2.50", into cents from least
// to most; nil for "". Error: invalid_request.
func Dollars(field, text string, least, most int64) (*int64, error) {
	if text == "" {
		return nil, nil
	}
	m := amount.FindStringSubmatch(text)
	if m == nil {
		return nil, fault.Field(field, "must be an amount in US dollars, such as 10 or 2.50")
	}
	cents, err := strconv.ParseInt(m[1]+cmp.Or(m[2], "00"), 10, 64)
	if err == nil && (cents < least || cents > most) {
		err = fault.Field(field, "must be %s to %s", numbers.Dollars(least), numbers.Dollars(most))
	}
	return &cents, err
}
