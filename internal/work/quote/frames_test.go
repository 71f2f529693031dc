package quote_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/ground/fault"
	"svc.example/internal/render/framelist"
	"svc.example/internal/work/quote"
)

// The oracle counts frame by frame, as Blender walks a range.
func walk(f quote.Frames) (frames []int) {
	for n := f.Start; n <= f.End; n += f.Step {
		if n >= 1 {
			frames = append(frames, n)
		}
	}
	return frames
}

func TestResolvedRangeStartsAtFrameOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		scene := quote.Frames{
			Start: rapid.IntRange(-30, 60).Draw(rt, "start"),
			End:   rapid.IntRange(-30, 90).Draw(rt, "end"),
			Step:  rapid.IntRange(1, 9).Draw(rt, "step"),
		}
		want := walk(scene)
		got, skipped, err := quote.RequestedFrames{}.Resolve(scene)
		if len(want) == 0 {
			if !fault.Is(err, fault.InvalidFrameRange) {
				rt.Fatalf("empty range: got %+v, %v", got, err)
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		if got.Start != want[0] || got.End != want[len(want)-1] || got.Count() != len(want) {
			rt.Fatalf("scene %+v: got %+v (%d), want %v", scene, got, got.Count(), want)
		}
		if all := (scene.End-scene.Start)/scene.Step + 1; skipped != all-len(want) {
			rt.Fatalf("scene %+v: skipped %d of %d", scene, skipped, all)
		}
	})
}

func TestRequestedRangeIsChecked(t *testing.T) {
	t.Parallel()
	n := func(i int) *int { return &i }
	scene := quote.Frames{Start: 0, End: 250, Step: 1}
	for name, c := range map[string]struct {
		requested quote.RequestedFrames
		want      quote.Frames
		code      fault.Code
	}{
		"end alone":      {quote.RequestedFrames{End: n(3)}, quote.Frames{Start: 1, End: 3, Step: 1}, ""},
		"start alone":    {quote.RequestedFrames{Start: n(249)}, quote.Frames{Start: 249, End: 250, Step: 1}, ""},
		"one frame":      {quote.RequestedFrames{Start: n(7), End: n(7)}, quote.Frames{Start: 7, End: 7, Step: 1}, ""},
		"step":           {quote.RequestedFrames{Start: n(1), End: n(10), Step: n(4)}, quote.Frames{Start: 1, End: 9, Step: 4}, ""},
		"beyond scene":   {quote.RequestedFrames{Start: n(1), End: n(400)}, quote.Frames{Start: 1, End: 400, Step: 1}, ""},
		"start 0":        {quote.RequestedFrames{Start: n(0), End: n(5)}, quote.Frames{}, fault.InvalidFrameRange},
		"backwards":      {quote.RequestedFrames{Start: n(9), End: n(5)}, quote.Frames{}, fault.InvalidFrameRange},
		"step 0":         {quote.RequestedFrames{Step: n(0)}, quote.Frames{}, fault.InvalidFrameRange},
		"exactly 10000":  {quote.RequestedFrames{Start: n(1), End: n(10000)}, quote.Frames{Start: 1, End: 10000, Step: 1}, ""},
		"one too many":   {quote.RequestedFrames{Start: n(1), End: n(10001)}, quote.Frames{}, fault.FrameRangeTooLarge},
		"beyond Blender": {quote.RequestedFrames{Start: n(1048570), End: n(1048575)}, quote.Frames{}, fault.InvalidFrameRange},
		"count":          {quote.RequestedFrames{Start: n(1), End: n(10), Step: n(4), Count: n(3)}, quote.Frames{Start: 1, End: 9, Step: 4}, ""},
		"other count":    {quote.RequestedFrames{Start: n(1), End: n(10), Step: n(4), Count: n(10)}, quote.Frames{}, fault.InvalidFrameRange},
		"count alone":    {quote.RequestedFrames{Count: n(2)}, quote.Frames{}, fault.InvalidFrameRange},
		"huge step":      {quote.RequestedFrames{Step: n(1 << 62)}, quote.Frames{}, fault.InvalidFrameRange},
		"huge end":       {quote.RequestedFrames{End: n(1<<63 - 1)}, quote.Frames{}, fault.InvalidFrameRange},
		"many but steps": {quote.RequestedFrames{Start: n(1), End: n(100000), Step: n(10)}, quote.Frames{Start: 1, End: 99991, Step: 10}, ""},
	} {
		got, _, err := c.requested.Resolve(scene)
		if fault.Of(err) != c.code || (c.code == "" && got != c.want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func TestHostileSceneNeverLooksCheap(t *testing.T) {
	t.Parallel()
	one := quote.Frames{Start: 1, End: 1, Step: 1}
	scene := quote.Scene{ResolutionX: 1 << 31, ResolutionY: 1 << 31, ResolutionPercentage: 32767, Samples: 1 << 24}
	if got := scene.PixelSamples(one); got != 1<<63-1 {
		t.Fatalf("got %d", got)
	}
	for name, negative := range map[string]quote.Scene{
		"samples of layers": {ResolutionX: 10, ResolutionY: 10, ResolutionPercentage: 100, Samples: 5, SampleLayers: 1, LayerSamples: -3},
		"other scenes":      {ResolutionX: 10, ResolutionY: 10, ResolutionPercentage: 100, Samples: 5, SampleLayers: 1, OtherPixelSamples: -300},
	} {
		if got := negative.PixelSamples(one); got != 800 {
			t.Errorf("%s: got %d", name, got)
		}
	}
}

func TestWorkCountsAllThatIsRenderedForAFrame(t *testing.T) {
	t.Parallel()
	plain := quote.Scene{ResolutionX: 1920, ResolutionY: 1080, ResolutionPercentage: 50, Samples: 128}
	keyed := plain
	keyed.SampleKeys = []quote.SampleSpan{{From: -1 << 30, To: 10, Most: 16}, {From: 10, To: 20, Most: 500}, {From: 20, To: 1 << 30, Most: 64}}
	layered := plain
	layered.SampleLayers, layered.LayerSamples = 2, 1000
	sequenced := plain
	sequenced.OtherPixelSamples = 77
	for name, c := range map[string]struct {
		scene  quote.Scene
		frames quote.Frames
		want   int64
	}{
		"the scene alone":               {plain, quote.Frames{Start: 1, End: 9}, 960 * 540 * 128},
		"before the keyframes":          {keyed, quote.Frames{Start: 1, End: 9}, 960 * 540 * 16},
		"into the keyframes":            {keyed, quote.Frames{Start: 1, End: 10}, 960 * 540 * 500},
		"after the keyframes":           {keyed, quote.Frames{Start: 21, End: 99}, 960 * 540 * 64},
		"layers with samples of theirs": {layered, quote.Frames{Start: 1, End: 1}, 960 * 540 * (2*128 + 1000)},
		"strips in place of the scene":  {sequenced, quote.Frames{Start: 1, End: 1}, 77},
	} {
		if got := c.scene.PixelSamples(c.frames); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

func TestFramesOutsideTheSceneAreNamedBeforeThePrice(t *testing.T) {
	t.Parallel()
	scene := quote.Scene{FrameStart: 10, FrameEnd: 20, FrameStep: 5}
	list := func(text string) framelist.List {
		l, err := quote.ReadList(text)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for name, c := range map[string]struct {
		selected quote.Selection
		want     string // in the message; "" for no warning
	}{
		"its own range":           {quote.Selection{Frames: scene.Frames()}, ""},
		"frames between its step": {quote.Selection{Frames: quote.Frames{Start: 11, End: 12, Step: 1}}, ""},
		"one below":               {quote.Selection{Frames: quote.Frames{Start: 9, End: 12, Step: 1}}, "frame 9 "},
		"some above":              {quote.Selection{Frames: quote.Frames{Start: 19, End: 23, Step: 1}}, "3 frames (21-23)"},
		"a list":                  {quote.Selection{Frames: quote.Frames{Start: 1, End: 300, Step: 1}, List: list("1,12,300")}, "2 frames (1,300)"},
		"a list with its gap":     {quote.Selection{Frames: quote.Frames{Start: 10, End: 20, Step: 1}, List: list("10,11,20")}, ""},
	} {
		var got string
		for _, w := range quote.Envelope(1<<60).Warnings(scene, quote.Farm{}, c.selected) {
			if w.Code == quote.WarnFramesOutside {
				got = w.Message
			}
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q in it", name, got, c.want)
		}
	}
}
