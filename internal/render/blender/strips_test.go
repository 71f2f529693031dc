package blender_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/settings"
	"svc.example/internal/render/strips"
)

// cutScenes are scenes that may be cut, as scripts/scenes/strips.py makes them, each with many
// kinds of things; by their names how many rows their strips reach into each other.
var cutScenes = map[string]int{
	"passes": 1, "composited": 1, "moving": 1, "looks": 1, "overridden": 1, "bordered": 1, "soft": 1, "diced": 1, "caught": 1, "around": 1, "adaptive": 16,
}

// dividing makes the scenes once a run, and renders a frame of each by hand, all with one Blender.
var dividing = sync.OnceValues(func() (string, error) {
	dir, err := makeScenes("strips.py")
	if err != nil {
		return dir, err
	}
	return dir, renderByHand(dir)
})

const dividedFrame = 7

// renderByHand renders a frame of each scene, with what svc always changes changed by hand.
func renderByHand(dir string) error {
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		return err
	}
	args := []string{"--background", "--factory-startup", "-noaudio"}
	for name := range cutScenes {
		args = append(args, filepath.Join(dir, name+".blend"), "--python-expr",
			"import bpy; r = bpy.context.scene.render; r.use_multiview = False; r.image_settings.file_format = r.image_settings.file_format.replace('FFMPEG', 'PNG')\n"+
				"for n in bpy.context.scene.node_tree.nodes if bpy.context.scene.node_tree else (): n.mute = n.mute or n.type == 'OUTPUT_FILE'",
			"-o", filepath.Join(dir, name+"_"), "-f", fmt.Sprint(dividedFrame))
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	if err != nil {
		return errors.New(string(out))
	}
	return nil
}

// byHandOf is the picture of a scene that was rendered by hand.
func byHandOf(t *testing.T, name string) string {
	t.Helper()
	dir, err := dividing()
	if err != nil {
		t.Fatalf("make the scenes: %v", err)
	}
	found, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("%s_%04d.*", name, dividedFrame)))
	if err != nil || len(found) != 1 {
		t.Fatalf("pictures by hand: %q, %v", found, err)
	}
	return found[0]
}

// divide starts a process on a scene whose pictures are rendered in strips.
func divide(t *testing.T, name string) (*blender.Process, blender.Opened) {
	t.Helper()
	dir, err := dividing()
	if err != nil {
		t.Fatalf("make the scenes: %v", err)
	}
	p := start(t, blender.Options{Denoise: blender.Keep})
	opened, err := p.Open(t.Context(), blender.SingleFile(filepath.Join(dir, name+".blend")))
	if err != nil {
		t.Fatal(err)
	}
	return p, opened
}

// strip renders a strip and those rows of its neighbours that a picture of a height has.
func strip(t *testing.T, p *blender.Process, rows strips.Rows, overlap, height int) strips.Strip {
	t.Helper()
	held := rows.Wider(overlap, height)
	f, err := p.Strip(t.Context(), dividedFrame, held.From, held.To, nil)
	if err != nil {
		t.Fatalf("render the rows %d to %d: %v", held.From, held.To, err)
	}
	path := filepath.Join(t.TempDir(), "strip.exr")
	if err := os.Rename(f.Path, path); err != nil {
		t.Fatal(err)
	}
	return strips.Strip{Rows: rows, Held: held, Path: path}
}

// TestStripsAreTheWholePicture: rendered in uneven strips, joined and finished, each scene's
// picture is the one that is rendered by hand in one piece.
func TestStripsAreTheWholePicture(t *testing.T) {
	t.Parallel()
	for name, overlap := range cutScenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := picture(t, byHandOf(t, name))
			p, opened := divide(t, name)
			if reason, err := p.Undivided(t.Context()); err != nil || reason != "" {
				t.Fatalf("it may not be cut: %s, %v", reason, err)
			}
			height := opened.Rows
			for _, cost := range [][]float64{{1, 5, 2}, {1, 3}} {
				var parts []strips.Strip
				for _, rows := range strips.Cut(height, len(cost), cost, 0) {
					parts = append(parts, strip(t, p, rows, overlap, height))
				}
				for i := range parts[1:] {
					if err := strips.Seams(parts[i], parts[i+1]); err != nil {
						t.Error(err)
					}
				}
				joined := filepath.Join(t.TempDir(), "joined.exr")
				if err := strips.Join(joined, parts); err != nil {
					t.Fatal(err)
				}
				f, err := p.Finish(t.Context(), dividedFrame, joined)
				if err != nil {
					t.Fatal(err)
				}
				if got := picture(t, f.Path); got != want {
					t.Errorf("in %d strips: %+v, by hand %+v", len(cost), got, want)
				}
				if f.Sampling > 0 || strings.Contains(f.Log, "Fra:") && strings.Contains(f.Log, "| Sample ") {
					t.Errorf("Cycles rendered when the picture was finished:\n%s", f.Log)
				}
			}
			if f := render(t, p, dividedFrame); picture(t, f.Path) != want {
				t.Error("rendered in one piece after that, it is another picture")
			}
		})
	}
}

// TestStripsOfAnotherPictureAreFound: what a strip has of its neighbour's rows gives it away, and
// strips that are not those of the scene are not finished.
func TestStripsOfAnotherPictureAreFound(t *testing.T) {
	t.Parallel()
	p, opened := divide(t, "moving")
	upper := strip(t, p, strips.Rows{From: 0, To: 40}, 1, opened.Height)
	f, err := p.Strip(t.Context(), dividedFrame+1, 39, opened.Height, nil)
	if err != nil {
		t.Fatal(err)
	}
	lower := strips.Strip{Rows: strips.Rows{From: 40, To: opened.Height}, Held: strips.Rows{From: 39, To: opened.Height}, Path: f.Path}
	if err := strips.Seams(upper, lower); !errors.Is(err, strips.ErrSeam) {
		t.Errorf("a strip of the next frame: %v", err)
	}
	joined := filepath.Join(t.TempDir(), "joined.exr")
	if err := strips.Join(joined, []strips.Strip{upper, lower}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"looks": "the picture has", "passes": "the strips"} {
		other, _ := divide(t, name)
		var refused *blender.Error
		if _, err := other.Finish(t.Context(), dividedFrame, joined); !errors.As(err, &refused) || refused.Code != blender.FrameCheckFailed || !strings.Contains(refused.Message, want) {
			t.Errorf("strips of another scene than %s: %v", name, err)
		}
	}
}

// TestScenesThatAreNotCut: what Blender finds in the file itself.
func TestScenesThatAreNotCut(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]strips.Reason{
		"strips": strips.Sequenced, "cloth": strips.Played, "tiles_adaptive": strips.AdaptiveTiles, "tiles_timed": strips.TimeLimited,
	} {
		p := start(t, blender.Options{})
		if _, err := p.Open(t.Context(), blender.SingleFile(scene(t, name))); err != nil {
			t.Fatal(err)
		}
		if got, err := p.Undivided(t.Context()); err != nil || strips.Reason(got) != want {
			t.Errorf("%s: %q, wanted %q, %v", name, got, want, err)
		}
		var refused *blender.Error
		if _, err := p.Strip(t.Context(), 1, 0, 10, nil); !errors.As(err, &refused) || !refused.Final {
			t.Errorf("%s: a strip of it: %v", name, err)
		}
	}
}

// TestAPictureThatIsTooLargeIsDivided: by its size and passes, and only where it may be cut and its
// strips can be finished in the same memory.
func TestAPictureThatIsTooLargeIsDivided(t *testing.T) {
	t.Parallel()
	box, err := limited(sandbox.Limits{Memory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := dividing()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name         string
		side, strips int
	}{{"moving", 4096, 3}, {"moving", 5000, 0}, {"passes", 1000, 0}} {
		p := start(t, blender.Options{Sandbox: box})
		in := blender.SingleFile(filepath.Join(dir, c.name+".blend"))
		in.Settings = settings.Settings{ResolutionX: c.side, ResolutionY: c.side, ResolutionPercentage: 100}
		opened, err := p.Open(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if opened.Strips != c.strips || opened.Rows != c.side {
			t.Errorf("%s of %d x %d pixels and %d numbers: %d strips of %d rows, wanted %d", c.name, c.side, c.side, opened.Channels, opened.Strips, opened.Rows, c.strips)
		}
	}
}
