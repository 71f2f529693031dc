package testmode

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/numbers"
)

// Trick is what the name of a file brings about in a test world: test-NAME.blend for every
// frame, test-NAME@7.blend for frame 7 only. docs/test-mode.md lists the names; a test holds
// the two together.
type Trick struct {
	Name  string // the part between "test-" and "@" or the extension; "" for none
	Frame int    // 0 is every frame
}

// Tricks that are no code of a failure.
const (
	Slow           = "slow"             // each frame takes SlowFrame
	Black          = "black"            // each picture is black, which is a finding
	WorkerLostOnce = "worker_lost_once" // the first worker of a frame vanishes, the next renders it
)

// SlowFrame is how long a slow frame takes.
const SlowFrame = 5 * time.Second

// trickPrefix begins names that bring something.
const trickPrefix = "test-"

// TrickOf reads the name of a file, whose folders and extension do not matter. Any name that
// is none of the list brings nothing.
func TrickOf(filename string) Trick {
	base := path.Base(filename)
	name, found := strings.CutPrefix(strings.TrimSuffix(base, path.Ext(base)), trickPrefix)
	if !found {
		return Trick{}
	}
	name, at, limited := strings.Cut(name, "@")
	t := Trick{Name: name}
	if limited {
		n, err := strconv.Atoi(at)
		if err != nil || n < 1 {
			return Trick{}
		}
		t.Frame = n
	}
	if !slices.Contains(Tricks(), name) {
		return Trick{}
	}
	return t
}

// On reports whether a trick is for a frame.
func (t Trick) On(frame int) bool { return t.Name != "" && (t.Frame == 0 || t.Frame == frame) }

// Is reports whether it brings a code.
func (t Trick) Is(code fault.Code) bool { return t.Name == string(code) }

// OfFrames are the failures that a worker reports of a frame.
func OfFrames() []fault.Code {
	return []fault.Code{
		fault.BlenderCrashed, fault.OutOfMemory, fault.NoProgress, fault.FrameCheckFailed, fault.DenoiserUnavailable,
		fault.MissingExternalFiles, fault.FrameTimeExceeded, fault.TooManyOutputs, fault.OCIOUnusable,
	}
}

// OfJobs are the failures that end a job whatever its workers report.
func OfJobs() []fault.Code {
	return []fault.Code{fault.GPUUnavailable, fault.InputDamaged, fault.EndedByOperator}
}

// ofStarts are the errors of a start.
func ofStarts() []fault.Code {
	return []fault.Code{
		fault.InsufficientFunds, fault.WorkspaceFrozen, fault.SpendLimitReached, fault.NotAcceptingJobs, fault.QuoteExpired, fault.QuoteNotQualified,
		fault.RateLimited, fault.Unavailable, fault.Internal,
	}
}

// Tricks lists every name, in the order of the documentation.
func Tricks() []string {
	var all []string
	for _, code := range slices.Concat(OfFrames(), OfJobs(), []fault.Code{fault.WorkerLost, fault.PackagingFailed}) {
		all = append(all, string(code))
	}
	all = append(all, WorkerLostOnce, Slow, Black)
	for _, code := range ofStarts() {
		all = append(all, string(code))
	}
	return all
}

// Refusal is the error that starting a file of a name gets; nil for one that starts.
func Refusal(filename string, priceCents int64) error {
	t := TrickOf(filename)
	code := fault.Code(t.Name)
	if !slices.Contains(ofStarts(), code) {
		return nil
	}
	e := fault.New(code, "Test mode returns this error because the file's name asks for it.")
	switch code {
	case fault.InsufficientFunds:
		e = fault.New(code, "This job costs %s; the wallet has %s available.", numbers.Dollars(priceCents), numbers.Dollars(0)).
			With(map[string]int64{"required_cents": priceCents, "available_cents": 0})
	case fault.SpendLimitReached:
		e = e.With(map[string]int64{"required_cents": priceCents, "spent_cents": 0, "spend_limit_cents": 0})
	case fault.RateLimited, fault.Unavailable, fault.NotAcceptingJobs:
		e = e.After(time.Second)
	}
	return e
}
