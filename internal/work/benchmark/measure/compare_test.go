package measure_test

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/measure"
)

// enlarged is a picture whose reduction is the reference, with noise of up to
// spread around it.
func enlarged(t *testing.T, scene string, spread int, seed uint64) *image.NRGBA {
	t.Helper()
	file, err := os.Open(filepath.Join("scenes", scene+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reference, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(seed, 0))
	picture := image.NewNRGBA(image.Rect(0, 0, 480, 270))
	shift := func(v uint32) uint8 {
		d := 0
		if spread > 0 {
			d = chance.IntN(2*spread+1) - spread
		}
		return uint8(min(max(int(v>>8)+d, 0), 255))
	}
	for y := range 270 {
		for x := range 480 {
			r, g, b, _ := reference.At(x/30, y/30).RGBA()
			picture.SetNRGBA(x, y, color.NRGBA{shift(r), shift(g), shift(b), 255})
		}
	}
	return picture
}

func differs(t *testing.T, scene string, picture image.Image) float64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "picture.png")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(file, picture); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := measure.Compare(scene, path)
	if err != nil {
		t.Fatal(err)
	}
	return d.Difference()
}

func TestNoiseIsNoDifference(t *testing.T) {
	t.Parallel()
	for _, scene := range benchmark.SceneNames() {
		if d := differs(t, scene, enlarged(t, scene, 20, 1)); d > benchmark.Tolerance/2 {
			t.Errorf("%s with noise differs by %.4f, more than half of what is let pass", scene, d)
		}
	}
}

func TestAnotherPictureIsADifference(t *testing.T) {
	t.Parallel()
	names := benchmark.SceneNames()
	for i, scene := range names {
		planted := map[string]image.Image{
			"another scene": enlarged(t, names[(i+1)%len(names)], 0, 1),
			"black":         image.NewNRGBA(image.Rect(0, 0, 480, 270)),
			"half a size":   image.NewNRGBA(image.Rect(0, 0, 240, 135)),
		}
		brighter, upsideDown := enlarged(t, scene, 0, 1), enlarged(t, scene, 0, 1)
		for y := range 270 {
			for x := range 480 {
				c := brighter.NRGBAAt(x, y)
				upsideDown.SetNRGBA(x, 269-y, c)
				brighter.SetNRGBA(x, y, color.NRGBA{c.R/2 + 64, c.G/2 + 64, c.B/2 + 64, 255})
			}
		}
		planted["faded"], planted["upside down"] = brighter, upsideDown
		for what, picture := range planted {
			if d := differs(t, scene, picture); d <= benchmark.Tolerance {
				t.Errorf("%s: %s differs by %.4f only", scene, what, d)
			}
		}
	}
}

func TestFrameTakesAboutFourSeconds(t *testing.T) {
	t.Parallel()
	for each, want := range map[float64]int{0.5: 8, 10: 1, 1000: 1, 0.01: 400, 1e-9: 4096} {
		if got := measure.SamplesOf(measure.FrameSeconds, each); got != want {
			t.Errorf("at %v s a sample a frame gets %d samples, want %d", each, got, want)
		}
	}
}

func TestMachineIsDescribedOrUnknown(t *testing.T) {
	t.Parallel()
	m := measure.InspectMachine(t.Context(), fstest.MapFS{
		"proc/cpuinfo":   {Data: []byte("processor\t: 0\nmodel name\t: AMD EPYC 9454P 48-Core Processor\n")},
		"proc/meminfo":   {Data: []byte("MemTotal:       16311548 kB\n")},
		"etc/os-release": {Data: []byte("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n")},
	})
	if got := m.Text(); got != "AMD EPYC 9454P 48-Core Processor, 16703025152 bytes, Debian GNU/Linux 12 (bookworm)" {
		t.Errorf("the machine is %s", got)
	}
	if got := measure.InspectMachine(t.Context(), fstest.MapFS{}).Text(); got != "unknown, unknown bytes, unknown" {
		t.Errorf("an unknown machine is %s", got)
	}
	gpus := measure.ReadSMI("NVIDIA H200, 570.86.15, 143771\nNVIDIA GeForce RTX 4090, [N/A], [N/A]\n")
	if got := fmt.Sprint(measure.TextOf(gpus)); got != "[NVIDIA H200 570.86.15 150754820096 NVIDIA GeForce RTX 4090 [N/A] unknown]" {
		t.Errorf("the GPUs are %s", got)
	}
}
