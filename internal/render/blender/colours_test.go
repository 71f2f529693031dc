package blender_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/colour/ocio"
	"svc.example/internal/render/strips"
	"svc.example/internal/test/ociotest"
)

// coloured is the input of a scene with a configuration of its own. change changes its files.
func coloured(t *testing.T, name string, change func(files map[string]string)) (in blender.Input, folder string) {
	t.Helper()
	return colouredFile(t, scene(t, name), change)
}

func colouredFile(t *testing.T, blend string, change func(files map[string]string)) (in blender.Input, folder string) {
	t.Helper()
	folder = t.TempDir()
	ociotest.Write(t, folder)
	files := ociotest.Files()
	if change != nil {
		change(files)
	}
	in = blender.SingleFile(blend)
	for path, text := range files {
		at := filepath.Join(folder, filepath.FromSlash(path))
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		in.Files = append(in.Files, blender.File{Name: path, Path: at})
	}
	in.Settings.OCIO = ociotest.Config
	return in, folder
}

func TestAFrameHasTheColoursOfTheProjectsConfiguration(t *testing.T) {
	t.Parallel()
	in, folder := coloured(t, "motion", nil)
	byHand := func(config string) string {
		out := t.TempDir()
		c := exec.Command(find(t), "--background", "--factory-startup", "-noaudio", scene(t, "motion"), "-o", filepath.Join(out, "frame_"), "-f", "3")
		c.Env = append(os.Environ(), "OCIO="+config)
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("render by hand: %v\n%s", err, said)
		}
		return filepath.Join(out, "frame_0003.png")
	}
	hand, plain := picture(t, byHand(filepath.Join(folder, ociotest.Config))), picture(t, byHand(""))
	if hand == plain {
		t.Fatal("the configuration changes nothing")
	}
	p := start(t, blender.Options{KeepData: true, Colours: &in})
	if _, err := p.Open(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if ours := picture(t, render(t, p, 3).Path); ours != hand {
		t.Errorf("a frame is %+v, by hand %+v, with Blender's own colours %+v", ours, hand, plain)
	}
	fresh, err := p.RenderFresh(t.Context(), 3, nil)
	if err != nil || picture(t, fresh.Path) != hand {
		t.Errorf("a frame for comparison differs: %v", err)
	}
}

func TestATestFrameHasTheColoursOfTheProjectsConfiguration(t *testing.T) {
	t.Parallel()
	in, _ := coloured(t, "motion", nil)
	in.Preview = &blender.Preview{Side: 64, Samples: 1}
	p := start(t, blender.Options{Colours: &in})
	if _, err := p.Open(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	own, other := blender.SingleFile(scene(t, "motion")), start(t, blender.Options{})
	own.Preview = in.Preview
	if _, err := other.Open(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	if picture(t, render(t, p, 3).Path) == picture(t, render(t, other, 3).Path) {
		t.Error("it has Blender's own colours")
	}
}

// A picture that is finished of strips is the one that is rendered in one piece.
func TestStripsHaveTheColoursOfTheProjectsConfiguration(t *testing.T) {
	t.Parallel()
	dir, err := dividing()
	if err != nil {
		t.Fatalf("make the scenes: %v", err)
	}
	in, _ := colouredFile(t, filepath.Join(dir, "moving.blend"), nil)
	p := start(t, blender.Options{Colours: &in})
	opened, err := p.Open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	parts := []strips.Strip{
		strip(t, p, strips.Rows{From: 0, To: 20}, cutScenes["moving"], opened.Rows), strip(t, p, strips.Rows{From: 20, To: opened.Rows}, cutScenes["moving"], opened.Rows),
	}
	joined := filepath.Join(t.TempDir(), "joined.exr")
	if err := strips.Join(joined, parts); err != nil {
		t.Fatal(err)
	}
	f, err := p.Finish(t.Context(), dividedFrame, joined)
	if err != nil {
		t.Fatal(err)
	}
	finished := picture(t, f.Path)
	if whole := picture(t, render(t, p, dividedFrame).Path); finished != whole || finished == picture(t, byHandOf(t, "moving")) {
		t.Errorf("of strips it is %+v, in one piece %+v", finished, whole)
	}
}

// The reader finds in a configuration what Blender finds in it.
func TestBlenderHasWhatTheReaderFinds(t *testing.T) {
	t.Parallel()
	in, folder := coloured(t, "motion", nil)
	found, err := ocio.Find(os.DirFS(folder), ociotest.Config, nil)
	if err != nil {
		t.Fatal(err)
	}
	has := start(t, blender.Options{Colours: &in}).Info().Colors
	slices.Sort(has.Spaces)
	slices.Sort(found.Offer.Spaces)
	if !reflect.DeepEqual(has, found.Offer) {
		t.Errorf("Blender has %+v, the reader finds %+v", has, found.Offer)
	}
}

func TestAConfigurationThatBlenderCannotUseFailsTheJob(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(map[string]string){
		"another version": func(f map[string]string) {
			f[ociotest.Config] = strings.Replace(f[ociotest.Config], "version: 2", "version: 2.9", 1)
		},
		"no YAML":   func(f map[string]string) { f[ociotest.Config] = "ocio_profile_version: [" },
		"no config": func(f map[string]string) { f[ociotest.Config] = "" },
		"no default role": func(f map[string]string) {
			f[ociotest.Config] = strings.Replace(f[ociotest.Config], "  default: Linear\n", "", 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, _ := coloured(t, "motion", change)
			p, err := blender.Start(t.Context(), blender.Options{Path: find(t), Temp: t.TempDir(), Out: t.TempDir(), Sandbox: box(t), Device: blender.CPU, Colours: &in})
			if err == nil {
				_ = p.Close()
			}
			failed, ok := errors.AsType[*blender.Error](err)
			if !ok || failed.Code != blender.OCIOUnusable || !failed.Final || !strings.Contains(failed.Message, "OpenColorIO configuration") {
				t.Errorf("started: %v", err)
			}
		})
	}
}

// A Blender with a configuration opens nothing but what it was started for, and one without opens
// nothing with a configuration.
func TestABlenderIsNotSharedBetweenColours(t *testing.T) {
	t.Parallel()
	in, _ := coloured(t, "motion", nil)
	if _, err := start(t, blender.Options{}).Open(t.Context(), in); err == nil {
		t.Error("a Blender with its own colours opens a job with others")
	}
	if _, err := start(t, blender.Options{Colours: &in}).Open(t.Context(), blender.SingleFile(scene(t, "motion"))); err == nil {
		t.Error("a Blender with a job's colours opens another job")
	}
}

// A file of the machine that a configuration names is one that is missing.
func TestAConfigurationThatNamesFilesOfTheMachineReadsNone(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret.spi1d")
	if err := os.WriteFile(secret, []byte(ociotest.Files()[ociotest.LUT]), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, src := range []string{"none.spi1d", secret, strings.Repeat("../", 12) + secret[1:]} {
		in, _ := coloured(t, "motion", func(f map[string]string) {
			f[ociotest.Config] = strings.Replace(f[ociotest.Config], "negative.spi1d", src, 1)
		})
		p, err := blender.Start(t.Context(), blender.Options{Path: find(t), Temp: t.TempDir(), Out: t.TempDir(), Sandbox: box(t), Device: blender.CPU, Colours: &in})
		if err == nil {
			_ = p.Close()
		}
		if failed, ok := errors.AsType[*blender.Error](err); !ok || !failed.Final || !strings.Contains(failed.Message, "could not be located") {
			t.Errorf("%s: %v", src, err)
		}
	}
}
