package quote_test

import (
	"slices"
	"strings"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/render/colour"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/sequence"
	"svc.example/internal/work/quote"
)

func TestWarningsSayWhatIsFoundRenderedInsteadAndToBeDone(t *testing.T) {
	t.Parallel()
	severities := []quote.Severity{quote.SeverityPicture, quote.SeverityResult, quote.SeverityTime}
	seen, last := map[quote.WarningCode]bool{}, 0
	for _, row := range quote.WarningTable() {
		if seen[row.Code] {
			t.Errorf("%s is listed twice", row.Code)
		}
		seen[row.Code] = true
		for _, text := range []string{row.Meaning, row.Instead, row.Action} {
			if !strings.HasSuffix(text, ".") || strings.Contains(text, "|") {
				t.Errorf("%s: %q is no sentence of a table", row.Code, text)
			}
		}
		at := slices.Index(severities, row.Severity)
		if at < last {
			t.Errorf("%s is %s, and follows a lesser one", row.Code, row.Severity)
		}
		last = at
		w := quote.Warn(row.Code, nil, "Found %d.", 3)
		if w.Message != "Found 3. "+row.Instead || w.SuggestedAction != row.Action || w.Severity != row.Severity {
			t.Errorf("%s: %+v", row.Code, w)
		}
		if !strings.Contains(quote.WarningsMarkdown(), "| `"+string(row.Code)+"` |") {
			t.Errorf("%s is not printed", row.Code)
		}
	}
}

// causes add what each warning is about to a scene or to the farm, and return how many of the
// scene's frames are skipped.
func causes() map[quote.WarningCode]func(*quote.Scene, *quote.Farm) (skipped int) {
	return map[quote.WarningCode]func(*quote.Scene, *quote.Farm) (skipped int){
		quote.WarnBuildOption: func(s *quote.Scene, f *quote.Farm) int {
			s.BuildOptions = []quote.NeededOption{{Option: buildoption.Alembic, Kind: "cache", Path: "//a.abc", Owner: "Birds"}}
			lack(f, buildoption.Alembic)
			return 0
		},
		quote.WarnMissingFiles: func(s *quote.Scene, _ *quote.Farm) int {
			s.MissingFiles = append(s.MissingFiles, quote.MissingFile{Kind: "image", Path: "//wood.png", Owner: "wood"})
			return 0
		},
		quote.WarnUnreadable: func(s *quote.Scene, _ *quote.Farm) int {
			s.UnreadableFiles = []quote.UnreadableFile{{Path: "tex/wood.png", Why: "is empty", Kind: "image", Owner: "wood"}}
			return 0
		},
		quote.WarnLinkedLibraries: func(s *quote.Scene, _ *quote.Farm) int { s.LinkedLibraries = []string{"//chair.blend"}; return 0 },
		quote.WarnSequenceGaps: func(s *quote.Scene, _ *quote.Farm) int {
			s.Sequences = []quote.Sequence{{Path: "a_1.png", Uses: []sequence.Use{{Start: 1, Frames: 1, Rule: sequence.Hold}}, Lacks: []sequence.Numbers{{First: 1, Last: 1}}}}
			return 0
		},
		quote.WarnMissingData: func(s *quote.Scene, _ *quote.Farm) int {
			s.MissingData = []quote.MissingData{{Kind: "object", Name: "Hero", Library: "lib/props.blend"}}
			return 0
		},
		quote.WarnRemapped: func(s *quote.Scene, _ *quote.Farm) int {
			s.Files = append(s.Files, quote.SceneFile{Path: "tex/wood.png", Kind: "image", Status: quote.FileRemapped, Stored: `C:\tex\wood.png`, Wanted: "C:/tex/wood.png"},
				quote.SceneFile{Path: "tex/a.png", Kind: "image", Status: quote.FileFound})
			return 0
		},
		quote.WarnUnreachable: func(s *quote.Scene, _ *quote.Farm) int {
			s.Files = append(s.Files, quote.SceneFile{Path: "tex/wood.png", Kind: "image", Status: quote.FileRemapped, Stored: `\\nas\tex\wood.png`, Wanted: `\\nas/tex/wood.png`})
			return 0
		},
		quote.WarnFilesPartial: func(s *quote.Scene, _ *quote.Farm) int { s.FilesPartial = true; return 0 },
		quote.WarnMissingCache: func(s *quote.Scene, _ *quote.Farm) int {
			s.MissingFiles = append(s.MissingFiles, quote.MissingFile{Kind: "simulation", Path: "//blendcache_shot", Owner: "Curtain"})
			s.Simulations = append(s.Simulations, quote.Simulation{Kind: "cloth", Object: "Curtain", Baked: true, Folder: "//blendcache_shot"})
			return 0
		},
		quote.WarnNoLayer: func(s *quote.Scene, _ *quote.Farm) int { s.NoLayer = "Main"; return 0 },
		quote.WarnEmptyImages: func(s *quote.Scene, _ *quote.Farm) int {
			s.EmptyImages = []quote.EmptyImage{{Node: "Image Texture", Owner: "material Floor"}}
			return 0
		},
		quote.WarnUnbaked: func(s *quote.Scene, _ *quote.Farm) int {
			s.Simulations = append(s.Simulations, quote.Simulation{Kind: "cloth", Object: "Curtain"}, quote.Simulation{Kind: "fluid", Object: "Tank", Baked: true}, quote.Simulation{Kind: "cloth", Object: "Flag", Cached: true})
			return 0
		},
		quote.WarnScriptsDisabled: func(s *quote.Scene, _ *quote.Farm) int { s.UsesAutorunScripts = true; return 0 },
		quote.WarnNewerFile:       func(s *quote.Scene, _ *quote.Farm) int { s.FileVersion = "4.2"; return 0 },
		quote.WarnDenoiseOff:      func(_ *quote.Scene, f *quote.Farm) int { f.DenoiseOff = 1; return 0 },
		quote.WarnColors: func(s *quote.Scene, _ *quote.Farm) int {
			s.ColorManagement = &quote.ColorManagement{Display: "sRGB", View: "ACES 2.0"}
			return 0
		},
		quote.WarnSequencerOff: func(s *quote.Scene, _ *quote.Farm) int {
			s.Unrendered = []quote.Shot{{Strip: "title", Scene: "Title", Engine: "BLENDER_EEVEE"}}
			return 0
		},
		quote.WarnNotRepeatable:    func(s *quote.Scene, _ *quote.Farm) int { s.WorldVolume = true; return 0 },
		quote.WarnDrivenSamples:    func(s *quote.Scene, _ *quote.Farm) int { s.DrivenSamples = true; return 0 },
		quote.WarnStampOff:         func(s *quote.Scene, _ *quote.Farm) int { s.StampNames = true; return 0 },
		quote.WarnFrameZeroSkipped: func(s *quote.Scene, _ *quote.Farm) int { s.FrameStart = 0; return 1 },
		quote.WarnFramesOutside:    func(*quote.Scene, *quote.Farm) int { return 0 },
		quote.WarnMovieAsPNG:       func(s *quote.Scene, _ *quote.Farm) int { s.MovieOutput = true; return 0 },
		quote.WarnTooManyOutputs:   func(s *quote.Scene, f *quote.Farm) int { f.FrameOutputs, s.OutputsPerFrame = 10, 11; return 0 },
		quote.WarnFileOutput: func(s *quote.Scene, f *quote.Farm) int {
			s.FileOutputNodes = []string{"//depth"}
			lack(f, buildoption.FileOutputs)
			s.Multiview, s.EXRPreviews = true, true // these alone are delivered without a warning
			return 0
		},
		quote.WarnHeavyScene: func(s *quote.Scene, _ *quote.Farm) int {
			s.ResolutionX, s.ResolutionY, s.ResolutionPercentage, s.Samples = 4000, 4000, 100, 4000
			return 0
		},
	}
}

// The bound on a frame is the operator's, or the contract's; that on a job counts its frames.
func TestOutputsAreCountedBeforeThePrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		each, most, frames int
		want               string
	}{
		{contract.FrameOutputs, 0, 1, ""},
		{contract.FrameOutputs + 1, 0, 1, "65 files for each frame besides its picture; a frame may have 64."},
		{contract.FrameOutputs + 1, 100, 1, ""},
		{10, 0, contract.JobOutputs / 10, ""},
		{10, 0, contract.JobOutputs/10 + 1, "10 files for each of 2001 frames besides the pictures; a job may have 20000."},
	} {
		warnings := quote.Envelope(contract.QualifiedPixelSamples).Warnings(quote.Scene{OutputsPerFrame: c.each, FrameStart: 1, FrameEnd: c.frames, FrameStep: 1}, quote.Farm{FrameOutputs: c.most},
			quote.Selection{Frames: quote.Frames{Start: 1, End: c.frames, Step: 1}})
		at := slices.IndexFunc(warnings, func(w quote.Warning) bool { return w.Code == quote.WarnTooManyOutputs })
		if at < 0 != (c.want == "") || at >= 0 && !strings.Contains(warnings[at].Message, c.want) {
			t.Errorf("%d outputs of %d, %d frames: %+v", c.each, c.most, c.frames, warnings)
		}
	}
}

// Only the frames that are chosen count.
func TestGapsOfASequenceAreThoseOfTheChosenFrames(t *testing.T) {
	t.Parallel()
	scene := quote.Scene{Sequences: []quote.Sequence{{
		Path: "seq/plate_0001.png", Kind: "sequence", Owner: "plate", Uses: []sequence.Use{{Start: 1, Frames: 6, Rule: sequence.Hold}}, Lacks: []sequence.Numbers{{First: 0, Last: 0}, {First: 3, Last: 4}, {First: 6, Last: 6}},
	}}}
	for _, c := range []struct {
		selected quote.Selection
		want     string
	}{
		{quote.Selection{Frames: quote.Frames{Start: 1, End: 5, Step: 1}}, ": 3-4 of seq/plate_0001.png"},
		{quote.Selection{Frames: quote.Frames{Start: 1, End: 5, Step: 2}}, ": 3 of seq/plate_0001.png"},
		{quote.Selection{Frames: quote.Frames{Start: 1, End: 2, Step: 1}}, ""},
		{quote.Selection{Frames: quote.Frames{Start: 0, End: 9, Step: 1}}, ": 0,3-4,6 of seq/plate_0001.png"},
		{quote.Selection{Frames: quote.Frames{Start: 2, End: 9, Step: 1}, List: framelist.List{2, 9}}, ": 6 of seq/plate_0001.png"},
	} {
		var got string
		for _, w := range quote.Envelope(contract.QualifiedPixelSamples).Warnings(scene, quote.Farm{}, c.selected) {
			if w.Code == quote.WarnSequenceGaps {
				got = w.Message
			}
		}
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %q, want %q", c.selected, got, c.want)
		}
	}
}

// clean is a scene that renders as it is, on a farm where all is right.
func clean() (quote.Scene, quote.Farm) {
	return quote.Scene{FileVersion: "4.1", FrameStart: 1, FrameEnd: 1, Denoise: true, Denoising: []string{"scene Main"}},
		quote.Farm{BlenderVersion: contract.BlenderVersion, Workers: 2}
}

// Each case makes its warning and no other; together they make every row of the table.
func TestEveryWarningOfTheTableIsMadeByItsCauseAlone(t *testing.T) {
	t.Parallel()
	if scene, farm := clean(); len(codes(scene, farm, quote.Selection{Frames: scene.Frames()})) != 0 {
		t.Errorf("a scene that renders as it is: %q", codes(scene, farm, quote.Selection{Frames: scene.Frames()}))
	}
	for _, row := range quote.WarningTable() {
		cause, ok := causes()[row.Code]
		if !ok {
			t.Errorf("no case makes %s", row.Code)
			continue
		}
		scene, farm := clean()
		selected := quote.Selection{Skipped: cause(&scene, &farm)}
		selected.Frames = scene.Frames()
		if row.Code == quote.WarnFramesOutside {
			selected.Frames.End += 2
		}
		if got := codes(scene, farm, selected); !slices.Equal(got, []quote.WarningCode{row.Code}) {
			t.Errorf("the cause of %s makes %q", row.Code, got)
		}
	}
}

// lack takes something from the one worker that a farm has.
func lack(f *quote.Farm, option buildoption.Option) {
	if f.Lacks == nil {
		f.Lacks = make([]buildoption.Set, 1)
	}
	f.Lacks[0] |= buildoption.Of(option)
}

func codes(s quote.Scene, f quote.Farm, selected quote.Selection) []quote.WarningCode {
	var out []quote.WarningCode
	for _, w := range quote.Envelope(contract.QualifiedPixelSamples).Warnings(s, f, selected) {
		out = append(out, w.Code)
	}
	return out
}

func TestTheWorstWarningComesFirst(t *testing.T) {
	t.Parallel()
	all, farm := clean()
	selected := quote.Selection{}
	for _, cause := range causes() {
		selected.Skipped += cause(&all, &farm)
	}
	selected.Frames = all.Frames()
	selected.Frames.End += 2
	var want []quote.WarningCode
	for _, row := range quote.WarningTable() {
		want = append(want, row.Code)
	}
	if got := codes(all, farm, selected); !slices.Equal(got, want) {
		t.Errorf("warnings come as %q, want %q", got, want)
	}
}

// A job with a denoiser somewhere renders as the scene says: what refuses it fails no job.
func TestDenoisingIsOffOnlyWhereAFrameCanShowIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		farm quote.Farm
		want bool
	}{
		{quote.Farm{}, false},
		{quote.Farm{Workers: 2}, false},
		{quote.Farm{Workers: 2, NoDenoiser: 1}, false},
		{quote.Farm{Workers: 2, NoDenoiser: 2}, true},
		{quote.Farm{Workers: 2, DenoiseOff: 1}, true},
	} {
		farm := c.farm
		if got := len(codes(quote.Scene{Denoising: []string{"compositor"}}, farm, quote.Selection{})) > 0; got != c.want {
			t.Errorf("%+v: warned %v", farm, got)
		}
		if got := codes(quote.Scene{}, farm, quote.Selection{}); len(got) > 0 {
			t.Errorf("%+v: a scene without denoising: %q", farm, got)
		}
	}
}

// What the workers' Blenders have counts if they reported it, otherwise what is known
// of the version that renders.
func TestColorsAreComparedWithTheBlenderThatRenders(t *testing.T) {
	t.Parallel()
	has := func(view string, workers int) quote.Colors {
		return quote.Colors{Workers: workers, Offer: colour.Offer{
			Displays: []colour.Display{{Name: "sRGB", Views: []string{"Standard", view}}, {Name: "XYZ", Views: []string{"Raw"}}},
			Looks:    []string{"Punchy"}, Spaces: []string{"sRGB", "Linear"},
		}}
	}
	asked := quote.ColorManagement{Display: "sRGB", View: "AgX", Look: "Punchy", Images: []quote.ImageSpace{{Image: "wood", Space: "sRGB"}}}
	with := func(change func(*quote.ColorManagement)) *quote.ColorManagement {
		c := asked
		change(&c)
		return &c
	}
	online := func(colors ...quote.Colors) quote.Farm { return quote.Farm{Workers: 3, Colors: colors} }
	for name, c := range map[string]struct {
		asked *quote.ColorManagement
		farm  quote.Farm
		want  []quote.ColorLack
	}{
		"all is there":                     {&asked, online(has("AgX", 3)), nil},
		"a scene inspected before":         {nil, online(has("Filmic", 3)), nil},
		"nothing is asked for":             {&quote.ColorManagement{}, online(has("Filmic", 3)), nil},
		"one worker of three lacks a view": {&asked, online(has("AgX", 2), has("Filmic", 1)), []quote.ColorLack{{Kind: "view", Name: "AgX", UsedBy: "scene", Instead: "Standard", Workers: 1}}},
		"a display": {with(func(c *quote.ColorManagement) { c.Display = "Cinema" }), online(has("AgX", 3)),
			[]quote.ColorLack{{Kind: "display", Name: "Cinema", UsedBy: "scene", Instead: "sRGB", Workers: 3}}},
		"a view that another display has": {with(func(c *quote.ColorManagement) { c.Display = "XYZ" }), online(has("AgX", 3)),
			[]quote.ColorLack{{Kind: "view", Name: "AgX", UsedBy: "scene", Instead: "Raw", Workers: 3}}},
		"a look": {with(func(c *quote.ColorManagement) { c.Look = "Soft" }), online(has("AgX", 3)),
			[]quote.ColorLack{{Kind: "look", Name: "Soft", UsedBy: "scene", Instead: "None", Workers: 3}}},
		"an image's space": {with(func(c *quote.ColorManagement) { c.Images = []quote.ImageSpace{{Image: "sky", Space: "Alien"}} }), online(has("AgX", 3)),
			[]quote.ColorLack{{Kind: "color_space", Name: "Alien", UsedBy: "image sky", Instead: "no conversion", Workers: 3}}},
		"a strip's and a node's space": {with(func(c *quote.ColorManagement) {
			c.Others = []quote.UsedSpace{{UsedBy: "strip plate", Space: "Alien"}, {UsedBy: "node Convert Colorspace", Space: "Stranger"}, {UsedBy: "movie clip a", Space: "sRGB"}}
		}), online(has("AgX", 3)), []quote.ColorLack{
			{Kind: "color_space", Name: "Alien", UsedBy: "strip plate", Instead: "the default of its files", Workers: 3},
			{Kind: "color_space", Name: "Stranger", UsedBy: "node Convert Colorspace", Instead: "no conversion", Workers: 3},
		}},
		"the project's configuration, whatever workers have": {with(func(c *quote.ColorManagement) {
			s := quote.Scene{ColorManagement: c}
			c.Sequencer = "Film Log"
			s.Configure("config.ocio", "", "2.1", colour.Offer{Displays: []colour.Display{{Name: "Cinema", Views: []string{"Film"}}}, Looks: []string{"Punchy"}, Spaces: []string{"Film Log"}})
		}), online(has("AgX", 3)), []quote.ColorLack{
			{Kind: "display", Name: "sRGB", UsedBy: "scene", Instead: "Cinema"}, {Kind: "view", Name: "AgX", UsedBy: "scene", Instead: "Film"},
			{Kind: "color_space", Name: "sRGB", UsedBy: "image wood", Instead: "no conversion"},
		}},
		"no worker is online: the contract's 4.1": {&quote.ColorManagement{Display: "sRGB", View: "AgX", Look: "AgX - Punchy", Images: []quote.ImageSpace{{Image: "sky", Space: "Linear ACES"}}}, quote.Farm{}, nil},
		"not reported: 3.4":                       {&quote.ColorManagement{Display: "sRGB", View: "AgX"}, quote.Farm{BlenderVersion: "3.4.1"}, []quote.ColorLack{{Kind: "view", Name: "AgX", UsedBy: "scene", Instead: "Standard"}}},
		"not reported: an unknown version":        {&quote.ColorManagement{Display: "Cinema"}, quote.Farm{BlenderVersion: "5.2.0"}, nil},
	} {
		var got []quote.ColorLack
		for _, w := range quote.Envelope(contract.QualifiedPixelSamples).Warnings(quote.Scene{ColorManagement: c.asked}, c.farm, quote.Selection{}) {
			if w.Code == quote.WarnColors {
				got = w.Detail.(map[string]any)["missing"].([]quote.ColorLack)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestAStripIsToldOnlyWhereTheFramesMayShowIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shot   quote.Shot
		frames quote.Frames
		told   bool
	}{
		"before it":            {quote.Shot{First: 10, Last: 20}, quote.Frames{Start: 1, End: 9, Step: 1}, false},
		"after it":             {quote.Shot{First: 10, Last: 20}, quote.Frames{Start: 21, End: 30, Step: 1}, false},
		"its last frame":       {quote.Shot{First: 10, Last: 20}, quote.Frames{Start: 20, End: 30, Step: 1}, true},
		"no frames are known":  {quote.Shot{First: 10, Last: 20}, quote.Frames{}, true},
		"inspected without it": {quote.Shot{}, quote.Frames{Start: 21, End: 30, Step: 1}, true},
		"below and above zero": {quote.Shot{First: -5, Last: 0}, quote.Frames{Start: 0, End: 3, Step: 1}, true},
	} {
		scene := quote.Scene{Unrendered: []quote.Shot{c.shot}}
		told := slices.ContainsFunc(quote.Envelope(contract.QualifiedPixelSamples).Warnings(scene, quote.Farm{}, quote.Selection{Frames: c.frames}), func(w quote.Warning) bool { return w.Code == quote.WarnSequencerOff })
		if told != c.told {
			t.Errorf("%s: told is %v", name, told)
		}
	}
}

func TestWarningsNameWhatIsConcerned(t *testing.T) {
	t.Parallel()
	scene := quote.Scene{
		MissingFiles: []quote.MissingFile{
			{Kind: "library", Path: "//chair.blend", Owner: "chair.blend"},
			{Kind: "image", Path: "//wood.png", Owner: "wood", UsedBy: "material Floor"},
			{Kind: "font", Path: "//sans.otf", Owner: "Sans"},
			{Kind: "image", Path: "//3.png", Owner: "3"}, {Kind: "image", Path: "//4.png", Owner: "4"},
			{Kind: "simulation", Path: "//blendcache_shot", Owner: "Curtain"},
		},
		UnreadableFiles:    []quote.UnreadableFile{{Path: "tex/floor.png", Why: "is a Git LFS pointer, not a picture", Kind: "image", Owner: "floor", UsedBy: "material Floor", From: "lib/set.blend"}},
		LinkedLibraries:    []string{"//chair.blend"},
		Simulations:        []quote.Simulation{{Kind: "rigid_body", Object: "Crate"}, {Kind: "cloth", Object: "Curtain", Baked: true, Folder: "//blendcache_shot"}},
		UsesAutorunScripts: true,
		Unrendered:         []quote.Shot{{Strip: "title", Scene: "Title", Engine: "BLENDER_EEVEE"}},
		DrivenSamples:      true, Samples: 64,
		AutorunScripts: []quote.Script{{Owner: "object Door", Property: "location", Expression: "swing()"}, {Owner: "text start.py"}},
	}
	want := map[quote.WarningCode]string{
		quote.WarnMissingFiles:    "The upload lacks //wood.png (image wood, used by material Floor), //sans.otf (font Sans), //3.png (image 3) and 1 more. ",
		quote.WarnUnreadable:      "Blender cannot read these files: tex/floor.png is a Git LFS pointer, not a picture (image floor, used by material Floor, in lib/set.blend). ",
		quote.WarnLinkedLibraries: "The upload lacks linked .blend files: //chair.blend. ",
		quote.WarnMissingCache:    "The upload lacks the baked caches of simulations: //blendcache_shot (simulation Curtain). ",
		quote.WarnUnbaked:         "These simulations are not baked: Crate (rigid body). ",
		quote.WarnScriptsDisabled: "The scene may depend on Python: object Door, location, text start.py. ",
		quote.WarnSequencerOff:    "These strips of the sequencer show scenes that do not use Cycles: title (scene Title, BLENDER_EEVEE). ",
		quote.WarnDrivenSamples:   "The samples change from frame to frame; the file has 64. ",
	}
	for _, w := range quote.Envelope(contract.QualifiedPixelSamples).Warnings(scene, quote.Farm{}, quote.Selection{Frames: scene.Frames()}) {
		if !strings.HasPrefix(w.Message, want[w.Code]) {
			t.Errorf("%s: %q", w.Code, w.Message)
		}
		delete(want, w.Code)
	}
	if len(want) > 0 {
		t.Errorf("not told: %v", want)
	}
}
