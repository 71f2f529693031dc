package framecheck_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/render/framelist"
	"svc.example/internal/work/framecheck"
)

// framesOf makes a frame of each letter: equal letters are equal pixels, and a capital
// one has the finding black.
func framesOf(letters string, from int) (frames []framecheck.AcceptedFrame) {
	for i, c := range letters {
		f := framecheck.AcceptedFrame{Frame: from + i, PixelSHA256: string(c)}
		if c >= 'A' && c <= 'Z' {
			f.Finding = framecheck.FindingBlack
		}
		frames = append(frames, f)
	}
	return frames
}

func TestFramesRepeatWhereMoreAreEqualThanIsUsualInTheJob(t *testing.T) {
	t.Parallel()
	for letters, want := range map[string]string{
		"":               "",
		"a":              "",
		"aa":             "", // possibly a still
		"aaaaaaaa":       "",
		"abcdefgh":       "",
		"abcddefg":       "5",
		"abcdefffffffff": "7-14", // frozen for most of the job
		"aaaaaaaabcdefg": "2-8",
		"aabbccddee":     "",    // on twos
		"aabbccccddee":   "7-8", // and frozen for a while
		"aaabbbcccddd":   "",    // on threes
		"aab":            "",    // two runs, which say nothing
		"abab":           "",    // back and forth
		"aabbcdef":       "2,4", // moves, and stops twice
		"ZZZZabcd":       "",    // a fade has a finding of its own
		"abZZZZcd":       "",    // and separates what is before and after it
		"abcZcdef":       "",    //
		"abccZZccdefg":   "4,8", //
		"ZZZZaabbcc":     "",    // on twos after a fade
		"abcdefghijkk":   "12",  //
	} {
		if got := framecheck.Repeated(framesOf(letters, 1)).String(); got != want {
			t.Errorf("of %s repeat %q, want %q", letters, got, want)
		}
	}
}

func TestFindingsAreToldWorstFirstWithTheirFrames(t *testing.T) {
	t.Parallel()
	frames := framesOf("ZZabccde", 10)
	frames[7].Finding = framecheck.FindingPink
	for complete, want := range map[bool][]framecheck.Finding{
		false: {{Code: "black", Frames: "10-11", FrameCount: 2}, {Code: "pink", Frames: "17", FrameCount: 1}},
		true: {{Code: "black", Frames: "10-11", FrameCount: 2}, {Code: "pink", Frames: "17", FrameCount: 1},
			{Code: "repeated", Frames: "15", FrameCount: 1}},
	} {
		got := framecheck.Find(frames, complete)
		for i := range got {
			if got[i].Message == "" || got[i].SuggestedAction == "" {
				t.Errorf("%s has no words", got[i].Code)
			}
			got[i].Message, got[i].SuggestedAction = "", ""
		}
		if !slices.Equal(got, want) {
			t.Errorf("complete %t: %+v, want %+v", complete, got, want)
		}
	}
	if got := framecheck.Find(nil, true); got == nil || len(got) != 0 {
		t.Errorf("of no frames: %#v, want an empty list", got)
	}
}

// What one frame more adds is what all frames together give, in any order.
func TestFindingsGrowFrameByFrame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		codes := []string{"", framecheck.FindingBlack, framecheck.FindingPink, framecheck.FindingUniform, framecheck.FindingBlank}
		of := rapid.MapOf(rapid.IntRange(1, 50), rapid.SampledFrom(codes)).Draw(t, "frames")
		numbers := make([]int, 0, len(of))
		for n := range of {
			numbers = append(numbers, n)
		}
		grown := framecheck.Findings{}
		for _, n := range numbers { // in the order of a map
			if of[n] != "" {
				grown = framecheck.ReadFindings(grown.With(of[n], n).Stored())
			}
		}
		var frames []framecheck.AcceptedFrame
		for _, n := range framelist.Of(numbers) {
			frames = append(frames, framecheck.AcceptedFrame{Frame: n, Finding: of[n]})
		}
		if all := framecheck.Find(frames, false); !slices.Equal(grown, all) || grown.Stored() != all.Stored() {
			t.Fatalf("frame by frame %+v, together %+v", grown, all)
		}
	})
}

func TestWhatIsStoredOfFindingsIsReadBackOrLeftOut(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]int{
		"{}": 0, framecheck.NotLookedFor: 0, "": 0, "null": 0, "[]": 0, `{"black":"3,7-9"}`: 1, `{"black":"3,7-9","other":"1"}`: 1,
		`{"black":"x","pink":"1"}`: 1, `{"black":"1-999999999"}`: 0,
	} {
		if got := framecheck.ReadFindings(stored); got == nil || len(got) != want {
			t.Errorf("%s: %+v, want %d", stored, got, want)
		}
	}
}
