package blender_test

import (
	"fmt"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/render/blender"
)

// spread is the scene whose pictures are looked for in many places.
var spread = sync.OnceValues(func() (string, error) { return makeScenes("aliases.py") })

// places are where its .blend, as "film/shots/a.blend", looks for each of its pictures.
var places = []string{"film/shots/Tex/0.PNG", "above/1.png", "film/shots/tex/2.png", "/home/bob/tex/3.png", "/c/Users/Anna/tex/4.png", "/mnt/film/5.png"}

// spreadInput gives the scene its pictures in a folder of their own, and those that are named
// where they are looked for.
func spreadInput(t *testing.T, named ...int) blender.Input {
	t.Helper()
	dir, err := spread()
	if err != nil {
		t.Fatal(err)
	}
	in := blender.Input{Main: "film/shots/a.blend", Files: []blender.File{{Name: "film/shots/a.blend", Path: filepath.Join(dir, "aliases.blend")}}}
	for n := range places {
		in.Files = append(in.Files, blender.File{Name: fmt.Sprintf("sent/%d.png", n), Path: filepath.Join(dir, fmt.Sprintf("%d.png", n))})
	}
	for _, n := range named {
		in.Aliases = append(in.Aliases, blender.File{Name: places[n], Path: in.Files[n+1].Path})
	}
	return in
}

// seen says which pictures of the scene a frame shows; others are magenta.
func seen(t *testing.T, p *blender.Process, in blender.Input) (shown []int) {
	t.Helper()
	if _, err := p.Open(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(render(t, p, 1).Path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range places {
		c := color.NRGBAModel.Convert(picture.At(8*n+4, 4)).(color.NRGBA)
		switch {
		case c.R > 247 && c.G < 8 && c.B > 247:
		case c.B < 8 && c.G > 100 && c.G < 150 && int(c.R) > 32*n-8 && int(c.R) < 32*n+8:
			shown = append(shown, n)
		default:
			t.Errorf("in place of picture %d there is %+v", n, c)
		}
	}
	return shown
}

func TestBlenderFindsFilesByTheirAliases(t *testing.T) {
	t.Parallel()
	if got := seen(t, start(t, blender.Options{}), spreadInput(t, 0, 1, 2)); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("it shows the pictures %v", got)
	}
}

func TestAnAliasTakesNoFilesPlace(t *testing.T) {
	t.Parallel()
	in := spreadInput(t, 0, 2)
	in.Aliases[1].Name = in.Main
	in.Aliases = append(in.Aliases, blender.File{Name: "film/shots/a.blend/x.png", Path: in.Files[1].Path})
	if got := seen(t, start(t, blender.Options{}), in); !slices.Equal(got, []int{0}) {
		t.Errorf("it shows the pictures %v", got)
	}
}

func TestAbsoluteAliasesAreThereInTheSandboxAndForOneProcess(t *testing.T) {
	t.Parallel()
	if got := seen(t, start(t, blender.Options{}), spreadInput(t, 3, 4, 5)); !slices.Equal(got, []int{3, 4, 5}) {
		t.Errorf("it shows the pictures %v", got)
	}
	if got := seen(t, start(t, blender.Options{}), spreadInput(t)); len(got) > 0 {
		t.Errorf("the next process shows the pictures %v", got)
	}
}

// Without bubblewrap the machine's own folders are in their place.
func TestWithoutItsOwnRootBlenderLacksAbsoluteAliases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := spreadInput(t, 0, 3)
	opts := blender.Options{Path: find(t), Temp: dir, Out: t.TempDir(), Device: blender.CPU}
	p, err := blender.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if got := seen(t, p, in); !slices.Equal(got, []int{0}) {
		t.Errorf("it shows the pictures %v", got)
	}
}

func TestNoAliasLeadsOutOfTheProcess(t *testing.T) {
	t.Parallel()
	in := spreadInput(t, 0)
	out := t.TempDir()
	own := fmt.Sprintf("svc-alias-%d.png", os.Getpid()) // no other process has such a file
	for _, name := range []string{"/bin/" + own, "/usr/bin/" + own, "/etc/" + own, "/tmp/" + own, out + "/" + own, "/proc/" + own, "/home"} {
		in.Aliases = append(in.Aliases, blender.File{Name: name, Path: in.Files[1].Path})
	}
	if got := seen(t, start(t, blender.Options{}), in); !slices.Equal(got, []int{0}) {
		t.Errorf("it shows the pictures %v", got)
	}
	for _, name := range in.Aliases[1:] {
		if info, err := os.Lstat(name.Name); err == nil && info.Mode().IsRegular() {
			t.Errorf("%s was made", name.Name)
		}
	}
	for _, name := range []string{strings.Repeat("../", 17) + "x.png", "a/../../x.png", "/home/../../x.png", "/home/../bin/x.png"} {
		in := spreadInput(t, 0)
		in.Aliases[0].Name = name
		if _, err := start(t, blender.Options{}).Open(t.Context(), in); err == nil {
			t.Errorf("the alias %s was taken", name)
		}
	}
}
