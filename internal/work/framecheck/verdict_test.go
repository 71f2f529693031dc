package framecheck_test

import (
	"testing"

	"svc.example/internal/ground/fault"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/framecheck"
)

// soundPicture is one with its scene.
func soundPicture() (framecheck.Picture, framecheck.Scene) {
	return framecheck.Picture{
		Holder: "one", File: "frame_0001.png", PixelSHA256: "pixels", Width: 8, Height: 6, Device: "GPU", Registered: "GPU", Renderer: "blender",
		Seen: &pixels.Picture{Format: "png", Width: 8, Height: 6, SHA256: "pixels", Decoded: true, Comparable: true},
	}, framecheck.Scene{OutputFormat: "PNG", Width: 8, Height: 6}
}

func TestACertainlyWrongPictureFailsItsAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(p *framecheck.Picture, s *framecheck.Scene)
		code  fault.Code // "" for sound
	}{
		"sound":               {func(*framecheck.Picture, *framecheck.Scene) {}, ""},
		"rendered on the CPU": {func(p *framecheck.Picture, _ *framecheck.Scene) { p.Device = "CPU" }, fault.GPUUnavailable},
		"not its device":      {func(p *framecheck.Picture, _ *framecheck.Scene) { p.Registered = "CPU" }, fault.FrameCheckFailed},
		"cannot be decoded":   {func(p *framecheck.Picture, _ *framecheck.Scene) { p.Seen, p.Unreadable = nil, "unexpected EOF" }, fault.FrameCheckFailed},
		"of another format":   {func(p *framecheck.Picture, _ *framecheck.Scene) { p.File = "frame_0001.tga" }, fault.FrameCheckFailed},
		"a film's frame":      {func(_ *framecheck.Picture, s *framecheck.Scene) { s.OutputFormat, s.MovieOutput = "FFMPEG", true }, ""},
		"a format of which only the structure is read": {func(p *framecheck.Picture, s *framecheck.Scene) {
			p.File, p.Seen, s.OutputFormat = "frame_0001.tga", &pixels.Picture{Format: "targa", Width: 8, Height: 6}, "TARGA"
		}, ""},
		"not looked at":        {func(p *framecheck.Picture, _ *framecheck.Scene) { p.Seen = nil }, fault.FrameCheckFailed},
		"an unknown format":    {func(_ *framecheck.Picture, s *framecheck.Scene) { s.OutputFormat = "DDS" }, fault.FrameCheckFailed},
		"an OpenEXR named PNG": {func(p *framecheck.Picture, _ *framecheck.Scene) { p.Seen.Format = "exr" }, fault.FrameCheckFailed},
		"a PNG named as the scene's OpenEXR": {func(p *framecheck.Picture, s *framecheck.Scene) {
			p.File, s.OutputFormat = "frame_0001.exr", "OPEN_EXR"
		}, fault.FrameCheckFailed},
		"random bytes named as a program": {func(p *framecheck.Picture, s *framecheck.Scene) {
			p.File, p.Seen, s.OutputFormat = "frame_0001.exe", nil, "TIFF"
		}, fault.FrameCheckFailed},
		"not the scene's size": {func(_ *framecheck.Picture, s *framecheck.Scene) { s.Height = 12 }, fault.FrameCheckFailed},
		"size not known":       {func(_ *framecheck.Picture, s *framecheck.Scene) { s.Width, s.Height = 0, 0 }, ""},
		"not as described":     {func(p *framecheck.Picture, _ *framecheck.Scene) { p.Seen.Width = 4 }, fault.FrameCheckFailed},
		"other pixels":         {func(p *framecheck.Picture, _ *framecheck.Scene) { p.Seen.SHA256 = "others" }, fault.FrameCheckFailed},
		"OpenEXR has two hashes": {func(p *framecheck.Picture, s *framecheck.Scene) {
			p.File, p.Seen.Format, p.Seen.SHA256, p.Seen.FloatSHA256, s.OutputFormat = "frame_0001.exr", "exr", "others", "pixels", "OPEN_EXR"
		}, ""},
		"other pixels in OpenEXR": {func(p *framecheck.Picture, s *framecheck.Scene) {
			p.File, p.Seen.Format, p.Seen.SHA256, p.Seen.FloatSHA256, s.OutputFormat = "frame_0001.exr", "exr", "others", "too", "OPEN_EXR"
		}, fault.FrameCheckFailed},
		"no numbers, which may be meant": {func(p *framecheck.Picture, _ *framecheck.Scene) { p.Seen.Defects.NotFinite = true }, ""},
	} {
		p, s := soundPicture()
		c.spoil(&p, &s)
		got := framecheck.Reject(p, s)
		if (got == nil) != (c.code == "") || (got != nil && (got.Code != c.code || got.Message == "")) {
			t.Errorf("%s: %+v, want %q", name, got, c.code)
		}
	}
}

func TestAPictureThatMayBeIntendedIsSuspectUntilConfirmed(t *testing.T) {
	t.Parallel()
	before := func(holder, pixels string) []framecheck.Attempt {
		return []framecheck.Attempt{{Holder: holder, PixelSHA256: pixels, Code: fault.FrameCheckFailed}}
	}
	for name, c := range map[string]struct {
		defects pixels.Defects
		missing bool // inspect warned of missing files
		earlier []framecheck.Attempt
		gpu     bool
		finding string
		suspect bool
	}{
		"ordinary":                         {defects: pixels.Defects{Blank: 0.1, Pink: 0.01}},
		"pink":                             {defects: pixels.Defects{Pink: 0.2}, suspect: true},
		"pink, as inspect warned":          {defects: pixels.Defects{Pink: 0.2}, missing: true, finding: framecheck.FindingPink},
		"pink, confirmed by another":       {defects: pixels.Defects{Pink: 0.2}, earlier: before("two", "pixels"), finding: framecheck.FindingPink},
		"pink, by the same worker":         {defects: pixels.Defects{Pink: 0.2}, earlier: before("one", "pixels"), finding: framecheck.FindingPink},
		"pink, another otherwise":          {defects: pixels.Defects{Pink: 0.2}, earlier: before("two", "others"), suspect: true},
		"blank, neighbours not known":      {defects: pixels.Defects{Blank: 1}},
		"blank, confirmed":                 {defects: pixels.Defects{Blank: 1}, earlier: before("two", "pixels"), finding: framecheck.FindingUniform},
		"blank, confirmed by the only one": {defects: pixels.Defects{Blank: 1}, earlier: before("one", "pixels"), finding: framecheck.FindingUniform},
		"blank in part, confirmed":         {defects: pixels.Defects{Blank: 0.5}, earlier: before("two", "pixels"), finding: framecheck.FindingBlank},
		"blank in part, not the same":      {defects: pixels.Defects{Blank: 0.5}, earlier: before("two", "others")},
		"pink, another otherwise, GPU":     {defects: pixels.Defects{Pink: 0.2}, earlier: before("two", "others"), gpu: true, finding: framecheck.FindingPink},
		"pink, by the same worker, GPU":    {defects: pixels.Defects{Pink: 0.2}, earlier: before("one", "others"), gpu: true, finding: framecheck.FindingPink},
		"no numbers":                       {defects: pixels.Defects{NotFinite: true}, suspect: true},
		"no numbers again":                 {defects: pixels.Defects{NotFinite: true}, earlier: before("one", "pixels"), finding: framecheck.FindingNotFinite},
		"blank in part, twice, GPU":        {defects: pixels.Defects{Blank: 0.5}, earlier: before("two", "others"), gpu: true, finding: framecheck.FindingBlank},
		"ordinary, GPU":                    {earlier: before("two", "others"), gpu: true},
		"black":                            {defects: pixels.Defects{Blank: 1, Black: true}, finding: framecheck.FindingBlack},
		"black with noise":                 {defects: pixels.Defects{Black: true}, finding: framecheck.FindingBlack},
		"a crash confirms nothing":         {defects: pixels.Defects{Blank: 1}, earlier: before("two", "")},
	} {
		p, s := soundPicture()
		p.Seen.Defects = c.defects
		if !c.gpu {
			p.Device, p.Registered = "CPU", "CPU"
		}
		if c.missing {
			s.MissingFiles = true
		}
		finding, suspect := framecheck.Judge(p, s, c.earlier)
		if finding != c.finding || (suspect != nil) != c.suspect || (suspect != nil && suspect.SuspectPixels != "pixels") {
			t.Errorf("%s: found %q, suspect %+v; want %q, %t", name, finding, suspect, c.finding, c.suspect)
		}
	}
}

// Of pixels that only Blender decodes, the worker's word is a finding and no reason to render
// the frame again.
func TestWhatAWorkerTellsOfItsPixelsIsAFinding(t *testing.T) {
	t.Parallel()
	for want, told := range map[string]pixels.Defects{
		framecheck.FindingPink: {Pink: 0.2}, framecheck.FindingBlack: {Black: true, Blank: 1}, framecheck.FindingNotFinite: {NotFinite: true}, "": {Blank: 1},
	} {
		p, s := soundPicture()
		p.Seen, p.Told = &pixels.Picture{Format: "targa", Width: 8, Height: 6}, told
		finding, suspect := framecheck.Judge(p, s, nil)
		if finding != want || suspect != nil || p.Checked() != framecheck.CheckedStructure {
			t.Errorf("%+v: found %q, %+v, want %q", told, finding, suspect, want)
		}
		p.Seen.Decoded = true // then the service sees for itself
		if finding, _ := framecheck.Judge(p, s, nil); finding != "" || p.Checked() != framecheck.CheckedPixels {
			t.Errorf("%+v is believed of pixels that were decoded: %q", told, finding)
		}
	}
}

func TestABlankFrameDiffersFromNeighboursThatAreNot(t *testing.T) {
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
		if got := framecheck.DiffersFromNeighbours(c.blank, c.before, c.behind); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestAFailedAttemptEndsTheJobWhenNoOtherCanHelp(t *testing.T) {
	t.Parallel()
	crash, lost := framecheck.Failure{Code: fault.BlenderCrashed}, framecheck.Failure{Code: fault.WorkerLost}
	check, suspect := framecheck.Failure{Code: fault.FrameCheckFailed}, framecheck.Failure{Code: fault.FrameCheckFailed, SuspectPixels: "pixels"}
	incapable := framecheck.Failure{Code: fault.DenoiserUnavailable, Final: true}
	for name, c := range map[string]struct {
		f    framecheck.Failure
		h    framecheck.History
		want bool
	}{
		"first":                               {crash, framecheck.History{Attempts: 1, SameCode: 1, SameCodeWorkers: 1, OtherWorkers: true}, false},
		"third":                               {crash, framecheck.History{Attempts: 3, SameCode: 3, SameCodeWorkers: 1, AnyAccepted: true}, true},
		"final":                               {framecheck.Failure{Code: fault.BlenderCrashed, Final: true}, framecheck.History{Attempts: 1, OtherWorkers: true}, true},
		"failed the check once":               {check, framecheck.History{Attempts: 1, Checks: 1}, false},
		"failed the check twice":              {check, framecheck.History{Attempts: 2, Checks: 2, OtherWorkers: true}, true},
		"crash, then failed the check":        {check, framecheck.History{Attempts: 2, Checks: 1}, false},
		"suspect":                             {suspect, framecheck.History{Attempts: 1, SameCode: 1, SameCodeWorkers: 1}, false},
		"suspect again, others there":         {suspect, framecheck.History{Attempts: 2, SuspectBefore: true, OtherWorkers: true, AnyAccepted: true}, false},
		"suspect again, no other worker":      {suspect, framecheck.History{Attempts: 2, SuspectBefore: true}, true},
		"suspect three times":                 {suspect, framecheck.History{Attempts: 3, AnyAccepted: true, OtherWorkers: true}, true},
		"first frames alike":                  {crash, framecheck.History{Attempts: 1, SameCode: 3, SameCodeWorkers: 2, OtherWorkers: true}, true},
		"alike on one worker":                 {crash, framecheck.History{Attempts: 1, SameCode: 3, SameCodeWorkers: 1, OtherWorkers: true}, false},
		"alike, but the job has begun":        {crash, framecheck.History{Attempts: 1, SameCode: 9, SameCodeWorkers: 3, AnyAccepted: true, OtherWorkers: true}, false},
		"workers lost say nothing":            {lost, framecheck.History{Attempts: 1, SameCode: 9, SameCodeWorkers: 3, OtherWorkers: true}, false},
		"a store that loses all frames":       {framecheck.Failure{Code: fault.PackagingFailed}, framecheck.History{Attempts: 1, SameCode: 5, SameCodeWorkers: 2, SameCodeKeys: 2, OtherKey: true}, false},
		"a frame lost three times":            {framecheck.Failure{Code: fault.PackagingFailed}, framecheck.History{Attempts: 3, Keys: 0, OtherKey: true}, true},
		"missing capability, others there":    {incapable, framecheck.History{OtherWorkers: true}, false},
		"missing capability, no other worker": {incapable, framecheck.History{}, true},
		"a missing capability is no attempt":  {incapable, framecheck.History{Attempts: 3, OtherWorkers: true}, false},
		"third, all of one key":               {crash, framecheck.History{Attempts: 3, Keys: 1, OtherKey: true}, false},
		"third, of two keys":                  {crash, framecheck.History{Attempts: 3, Keys: 2, OtherKey: true}, true},
		"final, says one key":                 {framecheck.Failure{Code: fault.BlenderCrashed, Final: true}, framecheck.History{Attempts: 1, Keys: 1, OtherKey: true}, false},
		"final, say two keys":                 {framecheck.Failure{Code: fault.BlenderCrashed, Final: true}, framecheck.History{Attempts: 2, Keys: 2, OtherKey: true}, true},
		"first frames alike on one key":       {crash, framecheck.History{Attempts: 1, Keys: 1, SameCode: 3, SameCodeWorkers: 2, SameCodeKeys: 1, OtherKey: true}, false},
		"first frames alike on two keys":      {crash, framecheck.History{Attempts: 1, Keys: 1, SameCode: 3, SameCodeWorkers: 2, SameCodeKeys: 2, OtherKey: true}, true},
		"one key lacks it, another was here":  {incapable, framecheck.History{SameCodeKeys: 1, OtherKey: true}, false},
		"two keys lack it":                    {incapable, framecheck.History{SameCodeKeys: 2, OtherKey: true}, true},
		"an attempt that does not count":      {crash, framecheck.History{Attempts: 3, Keys: 2, Void: true}, false},
	} {
		if got := c.f.EndsJob(c.h); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestAFailureAwaitsAnotherKeyOnlyWhereThatWouldEndTheJob(t *testing.T) {
	t.Parallel()
	crash := framecheck.Failure{Code: fault.BlenderCrashed}
	for name, c := range map[string]struct {
		h    framecheck.History
		want bool
	}{
		"first attempt":         {framecheck.History{Attempts: 1, Keys: 1, OtherKey: true}, false},
		"third, one key":        {framecheck.History{Attempts: 3, Keys: 1, OtherKey: true}, true},
		"third, two keys":       {framecheck.History{Attempts: 3, Keys: 2, OtherKey: true}, false},
		"third, the only key":   {framecheck.History{Attempts: 3, Keys: 1}, false},
		"third, does not count": {framecheck.History{Attempts: 3, Keys: 1, OtherKey: true, Void: true}, false},
	} {
		if got := crash.AwaitsOtherKey(c.h); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
