package blendfile_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"svc.example/internal/render/blendfile"
)

func ExampleInspect() {
	file, err := os.Open("testdata/settings.blend")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	facts, err := blendfile.Inspect(file, blendfile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := facts.Scene
	fmt.Printf("%s, saved by %d.%d, %s\n", s.Name, facts.FileVersion/100, facts.FileVersion%100, facts.Compression)
	fmt.Printf("frames %d to %d, each %d.\n", s.FrameStart, s.FrameEnd, s.FrameStep)
	fmt.Printf("%s, %d samples, %d x %d at %d %%\n", s.Engine, s.Samples, s.ResolutionX, s.ResolutionY, s.ResolutionPercentage)
	// Output:
	// Szene äöü, saved by 3.4, zstd
	// frames 0 to 77, each 3.
	// CYCLES, 17 samples, 1234 x 567 at 37 %
}

// The files that an upload of the .blend alone would lack.
func ExampleInspect_missingFiles() {
	file, err := os.Open("testdata/linked.blend")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	facts, err := blendfile.Inspect(file, blendfile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range facts.MissingFiles {
		fmt.Printf("%s %s, wanted by %s\n", m.Kind, m.Path, m.Owner)
	}
	// Output:
	// library //library.blend, wanted by library.blend
}

// Errors say what is wrong, for programs and for people.
func ExampleInspect_errors() {
	for _, text := range []string{"version https://git-lfs.github.com/spec/v1\n", "BLENDER-v401REND"} {
		_, err := blendfile.Inspect(strings.NewReader(text), blendfile.Options{})
		var cut *blendfile.TruncatedError
		switch {
		case errors.Is(err, blendfile.ErrNotBlend):
			fmt.Println("other file:", err)
		case errors.As(err, &cut):
			fmt.Printf("cut after %d bytes: %v\n", cut.Offset, err)
		}
	}
	// Output:
	// other file: not a .blend file: it is a Git LFS pointer; run git lfs pull and send the real file
	// cut after 16 bytes: the file is incomplete: it ends at byte 16, in a block head
}

func ExampleNormalisePath() {
	fmt.Println(blendfile.NormalisePath(`//..\textures\.\wood.png`))
	// Output: //../textures/wood.png
}
