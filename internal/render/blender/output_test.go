package blender

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func newOutput() *output { return &output{changed: make(chan struct{}, 1)} }

func TestPathsAreTakenOutOfLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"Saved: '/srv/worker/run/out/frame_0001.png'": "Saved: '…/frame_0001.png'",
		"/usr/lib/blender/driver.py: line 3":          "…/driver.py: line 3",
		`  File "/tmp/x/y/driver.py", line 10`:        `  File "…/driver.py", line 10`,
		"Fra:1 | Sample 12/128 a/b/c":                 "Fra:1 | Sample 12/128 a/b/c",
		"reading //textures/wood.png":                 "reading //textures/wood.png",
		"dir=/a/b/,/c/d":                              "dir=…/,…/d",
		"https://example.org/page/one":                "https://example.org/page/one",
	} {
		if got := withoutPaths(line); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestLogKeepsTheLastLines(t *testing.T) {
	t.Parallel()
	o := newOutput()
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	o.read(strings.NewReader(text.String() + strings.Repeat("x", 3*maxLine)))
	got := o.text()
	if len(got) > FrameLogBytes || strings.Contains(got, "line 1\n") || !strings.Contains(got, "line 3999\n") {
		t.Errorf("%d bytes, from %.20q to %q", len(got), got, got[len(got)-20:])
	}
}

func TestStatusLinesReplaceEachOther(t *testing.T) {
	t.Parallel()
	o := newOutput()
	var seen []float64
	o.begin(func(done float64) { seen = append(seen, done) })
	o.read(strings.NewReader("Fra:1 Sample 0/4\nFra:1 Sample 2/4\nFra:1 Sample 4/4\nSaved: it\n"))
	if got := o.text(); got != "Fra:1 Sample 4/4\nSaved: it" {
		t.Errorf("log %q", got)
	}
	if fmt.Sprint(seen) != "[0 0.5 1]" {
		t.Errorf("progress %v", seen)
	}
}

// TestMemoryOfTheDeviceIsTheMostThatCyclesTells: of the command, not what Blender itself has,
// and nothing that no device has.
func TestMemoryOfTheDeviceIsTheMostThatCyclesTells(t *testing.T) {
	t.Parallel()
	o := newOutput()
	o.read(strings.NewReader("Fra:1 Mem:9.42M (Peak 900.00M) | Time:00:00.25 | Mem:0.50M, Peak:512.50M | Scene, ViewLayer | Sample 0/1\n" +
		"Fra:1 Mem:9.42M (Peak 10.37M) | Time:00:00.25 | Mem:3.61M, Peak:3.61M | Scene, ViewLayer | Finished\n" +
		"Fra:1 Mem:9.42M | Mem:1.00M, Peak:999999999999999M | a lie\nFra:1 | Mem:1.0M, Peak:1.2.3M | another\n"))
	if got := o.devicePeak(); got != 1025<<19 {
		t.Errorf("%d bytes", got)
	}
	if o.begin(nil); o.devicePeak() != 0 {
		t.Error("the next command begins with the memory of the one before")
	}
}

// TestSamplingIsTimedFromItsFirstStatusToTheNextOther: for each layer again.
func TestSamplingIsTimedFromItsFirstStatusToTheNextOther(t *testing.T) {
	t.Parallel()
	o := newOutput()
	at := time.Now()
	for _, step := range []struct {
		samples bool
		after   time.Duration
	}{{false, 0}, {true, 5}, {true, 6}, {false, 9}, {false, 10}, {true, 20}, {false, 21}} {
		o.countSampling(step.samples, at.Add(step.after*time.Second))
	}
	if got := o.sampling(); got != 5*time.Second {
		t.Errorf("%s of sampling, want 4 s and 1 s", got)
	}
	o.begin(nil)
	if got := o.sampling(); got != 0 {
		t.Errorf("the next command begins with %s", got)
	}
}

func TestPartsOfAFrameAreReadFromWhatBlenderPrints(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]time.Duration{
		"Time: 00:00.62 (Saving: 00:00.22)":       220 * time.Millisecond,
		"Time: 12:00.62 (Saving: 02:05.50)":       125500 * time.Millisecond,
		"Time: 01:00:16.37 (Saving: 01:00:05.30)": time.Hour + 5300*time.Millisecond,
		"Time: 00:00.62":                          -1,
		"Time: 00:00.62 (Saving: -1:00.22)":       -1,
		"a Time: 00:00.62 (Saving: 00:00.22)":     -1,
	} {
		got, ok := savingTime(line)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
	o := newOutput()
	o.begin(nil)
	o.read(strings.NewReader("svc: reply 7\n"))
	o.marked = o.marked.Add(-time.Minute) // the frame began so long ago
	o.read(strings.NewReader("Fra:1 Mem:1M | Updating Images\nFra:1 Mem:1M | Sample 0/4\nTime: 00:00.62 (Saving: 09:00.00)\n"))
	if sync, saving := o.parts(90 * time.Second); sync < time.Minute || sync+saving != 90*time.Second {
		t.Errorf("%s before the first sample and %s of saving, of a frame of 90 s", sync, saving)
	}
	o.begin(nil)
	if sync, saving := o.parts(time.Hour); sync != 0 || saving != 0 {
		t.Errorf("the next command begins with %s and %s", sync, saving)
	}
}

func TestProgressIsReadFromStatusLines(t *testing.T) {
	t.Parallel()
	const head = "Fra:1 Mem:9.42M (Peak 10.37M) | Time:00:00.08 | Mem:0.76M, Peak:0.76M | Scene, ViewLayer | "
	for line, want := range map[string]float64{
		head + "Sample 0/4":                        0,
		head + "Sample 3/4":                        0.75,
		head + "Rendered 0/6 Tiles, Sample 1/4":    0.25 / 6,
		head + "Rendered 1/6 Tiles, Sample 4/4":    1.0 / 6, // of the tile before
		head + "Rendered 5/6 Tiles, Sample 2/4":    5.5 / 6,
		head + "Rendered 6/6 Tiles":                1,
		head + "Sample 9/4":                        1,
		head + "Finished":                          -1,
		head + "Updating Scene BVH | Building BVH": -1,
		head + "Sample 1/0":                        -1,
	} {
		got, ok := share(line)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}

func TestOnlyANewStatusCountsAsProgress(t *testing.T) {
	t.Parallel()
	o := newOutput()
	for _, step := range []struct {
		line    string
		changed bool
	}{
		{"Fra:1 Mem:8.5M (Peak 10.37M) | Time:00:00.00 | Mem:0.00M, Peak:0.00M | Scene, ViewLayer | Sample 1/4", true},
		{"Fra:1 Mem:9.5M (Peak 11.37M) | Time:00:09.00 | Remaining:00:01.00 | Mem:1.00M, Peak:2.00M | Scene, ViewLayer | Sample 1/4", false},
		{"Error: the same over and over", false},
		{"Fra:1 Mem:9.5M (Peak 11.37M) | Time:00:09.00 | Mem:1.00M, Peak:2.00M | Scene, ViewLayer | Sample 2/4", true},
		{"Fra:2 Mem:9.5M (Peak 11.37M) | Time:00:09.00 | Mem:1.00M, Peak:2.00M | Scene, ViewLayer | Sample 2/4", true},
	} {
		o.read(strings.NewReader(step.line + "\n"))
		changed := false
		select {
		case <-o.changed:
			changed = true
		default:
		}
		if changed != step.changed {
			t.Errorf("%q: changed %v", step.line, changed)
		}
	}
}

func FuzzOutput(f *testing.F) {
	f.Add("Fra:1 Mem:8.39M (Peak 8.39M) | Time:00:00.00 | Scene, ViewLayer | Sample 3/4\nSaved: '/tmp/a/b.png'\n")
	f.Add("Sample 9/0\nSample 99999999999999999999999/1\n")
	f.Fuzz(func(t *testing.T, text string) {
		o := newOutput()
		o.begin(func(done float64) {
			if done < 0 || done > 1 {
				t.Errorf("progress %v", done)
			}
		})
		o.read(io.LimitReader(strings.NewReader(text), 1<<16))
		if got := o.text(); len(got) > FrameLogBytes || !utf8.ValidString(got) {
			t.Errorf("a log of %d bytes, %.20q", len(got), got)
		}
	})
}
