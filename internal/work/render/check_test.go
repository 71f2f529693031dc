package render

import (
	"testing"
	"time"

	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/pixels"
	"svc.example/internal/work/quote"
)

// soundPicture is one with its scene.
func soundPicture() (Picture, quote.Scene) {
	return Picture{
		Lease: lease.Ref{Holder: "one"}, File: "frame_0001.png", PixelSHA256: "pixels", Width: 8, Height: 6, Device: "GPU", Registered: "GPU", Renderer: "blender",
		Seen: &pixels.Picture{Format: "png", Width: 8, Height: 6, SHA256: "pixels"},
	}, quote.Scene{OutputFormat: "PNG", FrameWidth: 8, FrameHeight: 6}
}

func TestWhatIsSurelyWrongWithAPictureFailsItsTry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(p *Picture, s *quote.Scene)
		code  fault.Code // "" for sound
	}{
		"sound":               {func(*Picture, *quote.Scene) {}, ""},
		"rendered on the CPU": {func(p *Picture, _ *quote.Scene) { p.Device = "CPU" }, fault.GPUUnavailable},
		"not its device":      {func(p *Picture, _ *quote.Scene) { p.Registered = "CPU" }, fault.FrameCheckFailed},
		"cannot be decoded":   {func(p *Picture, _ *quote.Scene) { p.Seen, p.Unreadable = nil, "unexpected EOF" }, fault.FrameCheckFailed},
		"of another format":   {func(p *Picture, _ *quote.Scene) { p.File = "frame_0001.tga" }, fault.FrameCheckFailed},
		"a film's frame":      {func(_ *Picture, s *quote.Scene) { s.OutputFormat, s.MovieOutput = "FFMPEG", true }, ""},
		"a rare format": {func(p *Picture, s *quote.Scene) {
			p.File, p.Seen, s.OutputFormat = "frame_0001.tga", nil, "TARGA"
		}, ""},
		"not the scene's size": {func(_ *Picture, s *quote.Scene) { s.FrameHeight = 12 }, fault.FrameCheckFailed},
		"size not known":       {func(_ *Picture, s *quote.Scene) { s.FrameWidth, s.FrameHeight = 0, 0 }, ""},
		"not as described":     {func(p *Picture, _ *quote.Scene) { p.Seen.Width = 4 }, fault.FrameCheckFailed},
		"other pixels":         {func(p *Picture, _ *quote.Scene) { p.Seen.SHA256 = "others" }, fault.FrameCheckFailed},
		"OpenEXR has two hashes": {func(p *Picture, s *quote.Scene) {
			p.File, p.Seen.Format, p.Seen.SHA256, s.OutputFormat = "frame_0001.exr", "exr", "others", "OPEN_EXR"
		}, ""},
		"no numbers": {func(p *Picture, _ *quote.Scene) { p.Seen.Look.NotFinite = true }, fault.FrameCheckFailed},
	} {
		p, s := soundPicture()
		c.spoil(&p, &s)
		got := unsound(p, s)
		if (got == nil) != (c.code == "") || (got != nil && (got.Code != c.code || got.Message == "")) {
			t.Errorf("%s: %+v, want %q", name, got, c.code)
		}
	}
}

func TestWhatMayBeTheScenesOwnDoingIsDoubtedAndConfirmed(t *testing.T) {
	t.Parallel()
	before := func(holder, pixels string) []query.FailedTry {
		return []query.FailedTry{{Holder: holder, PixelSha256: pixels, Code: string(fault.FrameCheckFailed)}}
	}
	for name, c := range map[string]struct {
		look    pixels.Look
		missing bool // inspect warned of missing files
		tries   []query.FailedTry
		finding string
		doubted bool
	}{
		"ordinary":                         {look: pixels.Look{Blank: 0.1, Pink: 0.01}},
		"pink":                             {look: pixels.Look{Pink: 0.2}, doubted: true},
		"pink, as inspect warned":          {look: pixels.Look{Pink: 0.2}, missing: true, finding: FindingPink},
		"pink, confirmed by another":       {look: pixels.Look{Pink: 0.2}, tries: before("two", "pixels"), finding: FindingPink},
		"pink, by the same worker":         {look: pixels.Look{Pink: 0.2}, tries: before("one", "pixels"), doubted: true},
		"pink, another otherwise":          {look: pixels.Look{Pink: 0.2}, tries: before("two", "others"), doubted: true},
		"blank, neighbours not known":      {look: pixels.Look{Blank: 1}},
		"blank, confirmed":                 {look: pixels.Look{Blank: 1}, tries: before("two", "pixels"), finding: FindingUniform},
		"blank, confirmed by the only one": {look: pixels.Look{Blank: 1}, tries: before("one", "pixels"), finding: FindingUniform},
		"blank in part, confirmed":         {look: pixels.Look{Blank: 0.5}, tries: before("two", "pixels"), finding: FindingBlank},
		"blank in part, not the same":      {look: pixels.Look{Blank: 0.5}, tries: before("two", "others")},
		"a crash confirms nothing":         {look: pixels.Look{Blank: 1}, tries: before("two", "")},
	} {
		p, s := soundPicture()
		p.Seen.Look = c.look
		if c.missing {
			s.MissingFiles = []quote.MissingFile{{Path: "//wood.png"}}
		}
		finding, doubt := weigh(p, s, c.tries)
		if finding != c.finding || (doubt != nil) != c.doubted || (doubt != nil && doubt.doubted != "pixels") {
			t.Errorf("%s: found %q, doubt %+v; want %q, %t", name, finding, doubt, c.finding, c.doubted)
		}
	}
}

func TestABlankFrameStandsOutWhenItsNeighboursAreNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		blank, before, behind int64
		want                  bool
	}{
		"between pictures":      {1000, 0, 0, true},
		"half":                  {500, 0, 0, true},
		"first, fades in":       {1000, -1, 1000, false},
		"last of a fade":        {1000, 1000, 0, false},
		"first of all":          {1000, -1, 0, true},
		"the only frame":        {1000, -1, -1, false},
		"the sky of a camera":   {600, 450, 350, false},
		"much more than before": {600, 300, 350, true},
	} {
		if got := standsOut(c.blank, c.before, c.behind); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestWhenAFailedTryEndsTheJob(t *testing.T) {
	t.Parallel()
	crash, lost := Failure{Code: fault.BlenderCrashed}, Failure{Code: fault.WorkerLost}
	check, doubt := Failure{Code: fault.FrameCheckFailed}, Failure{Code: fault.FrameCheckFailed, doubted: "pixels"}
	lacking := Failure{Code: fault.DenoiserUnavailable, Final: true}
	for name, c := range map[string]struct {
		f    Failure
		h    history
		want bool
	}{
		"first":                          {crash, history{tries: 1, alike: 1, holders: 1, others: true}, false},
		"third":                          {crash, history{tries: 3, alike: 3, holders: 1, begun: true}, true},
		"final":                          {Failure{Code: fault.BlenderCrashed, Final: true}, history{tries: 1, others: true}, true},
		"failed the check once":          {check, history{tries: 1, checks: 1}, false},
		"failed the check twice":         {check, history{tries: 2, checks: 2, others: true}, true},
		"crash, then failed the check":   {check, history{tries: 2, checks: 1}, false},
		"doubted":                        {doubt, history{tries: 1, alike: 1, holders: 1}, false},
		"doubted again, others there":    {doubt, history{tries: 2, again: true, others: true, begun: true}, false},
		"doubted again by the only one":  {doubt, history{tries: 2, again: true}, true},
		"doubted three times":            {doubt, history{tries: 3, begun: true, others: true}, true},
		"first frames alike":             {crash, history{tries: 1, alike: 3, holders: 2, others: true}, true},
		"alike on one worker":            {crash, history{tries: 1, alike: 3, holders: 1, others: true}, false},
		"alike, but the job has begun":   {crash, history{tries: 1, alike: 9, holders: 3, begun: true, others: true}, false},
		"workers lost say nothing":       {lost, history{tries: 1, alike: 9, holders: 3, others: true}, false},
		"a lack, others there":           {lacking, history{others: true}, false},
		"a lack, nobody else":            {lacking, history{}, true},
		"a lack is no try, however many": {lacking, history{tries: 3, others: true}, false},
	} {
		if got := hopeless(c.f, c.h); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestAStandingFallsFastAndRisesSlowly(t *testing.T) {
	t.Parallel()
	now := int64(1)
	var s standing
	for range 2 {
		if s = s.struck(now); s.until != 0 {
			t.Fatalf("%+v after two faults", s)
		}
	}
	want := firstAside
	for range 10 {
		s = s.struck(now)
		if got := time.Duration(s.until-now) * time.Microsecond; got != want {
			t.Fatalf("set aside for %s, want %s", got, want)
		}
		if again := s.struck(now); again != s {
			t.Fatalf("a fault while it is set aside makes %+v of %+v", again, s)
		}
		now, want = s.until, min(2*want, lastAside)
	}
	for range strikesMost - strikeWorth {
		s = s.cleared()
	}
	if s.strikes != 0 || s.asides != 0 {
		t.Errorf("%+v after as many good frames as make up for it", s)
	}
}
