package scenefiles

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/scenefiles/alias"
)

// aliasesOf are those of a file that a .blend of a tree names.
func aliasesOf(r blendfile.Reference, places []string, tree ...string) []alias.Alias {
	s := searchOf(tree...)
	f := s.locate(r.Path, &blend{path: "shots/b.blend"}, s.setOf(&r))
	f.Reach = ReachNeeded
	var all []alias.Alias
	s.addAliases(&f, places, &all)
	return unambiguous(all)
}

func TestAFileHasANameWhereBlenderLooksForIt(t *testing.T) {
	t.Parallel()
	image := func(path string) blendfile.Reference {
		return blendfile.Reference{External: blendfile.External{Path: path, Kind: blendfile.KindImage}}
	}
	own := []string{"shots/b.blend"}
	for name, c := range map[string]struct {
		r      blendfile.Reference
		places []string
		tree   []string
		want   []alias.Alias
	}{
		"where it is":          {image("//../tex/a.png"), own, []string{"tex/a.png"}, []alias.Alias{}},
		"by case":              {image(`//..\Tex\A.PNG`), own, []string{"tex/a.png"}, []alias.Alias{{Path: "tex/a.png", At: "Tex/A.PNG"}}},
		"of Linux":             {image("/home/bob/tex/a.png"), own, []string{"tex/a.png"}, []alias.Alias{{Path: "tex/a.png", At: "/home/bob/tex/a.png"}}},
		"of Windows":           {image(`C:\Users\Anna\TEX\a.png`), own, []string{"tex/a.png"}, []alias.Alias{{Path: "tex/a.png", At: "/c/Users/Anna/TEX/a.png"}}},
		"of a network":         {image(`\\nas\film\tex\a.png`), own, []string{"tex/a.png"}, []alias.Alias{}},
		"of the system":        {image("/usr/share/tex/a.png"), own, []string{"tex/a.png"}, []alias.Alias{}},
		"of the root":          {image("/tex/a.png"), own, []string{"tex/a.png"}, []alias.Alias{}},
		"above the tree":       {image("//../../film/tex/a.png"), own, []string{"tex/a.png"}, []alias.Alias{{Path: "tex/a.png", At: "../film/tex/a.png"}}},
		"without a beginning":  {image("tex/a.png"), own, []string{"shots/tex/a.png"}, []alias.Alias{{Path: "shots/tex/a.png", At: "tex/a.png"}}},
		"of a moved .blend":    {image("//tex/a.png"), []string{"/c/film/b.blend"}, []string{"shots/tex/a.png"}, []alias.Alias{{Path: "shots/tex/a.png", At: "/c/film/tex/a.png"}}},
		"of one at two places": {image("//tex/a.png"), []string{"shots/b.blend", "Shots/b.blend"}, []string{"shots/tex/a.png"}, []alias.Alias{{Path: "shots/tex/a.png", At: "Shots/tex/a.png"}}},
		"absolute, of a moved .blend": {image("/home/bob/tex/a.png"), []string{"/c/film/b.blend"}, []string{"tex/a.png"},
			[]alias.Alias{{Path: "tex/a.png", At: "/home/bob/tex/a.png"}}},
		"tiles": {blendfile.Reference{External: blendfile.External{Path: `D:\tex\wall.<UDIM>.png`, Kind: blendfile.KindImageTiles}, Tiles: []int{1001, 1002}}, own, []string{"tex/Wall.1001.PNG", "tex/Wall.1002.PNG"},
			[]alias.Alias{{Path: "tex/Wall.1001.PNG", At: "/d/tex/wall.1001.png"}, {Path: "tex/Wall.1002.PNG", At: "/d/tex/wall.1002.png"}}},
		"a sequence": {blendfile.Reference{External: blendfile.External{Path: "/mnt/seq/Plate_98.png", Kind: blendfile.KindImageSequence}}, own, []string{"seq/plate_98.PNG", "seq/plate_100.PNG"},
			[]alias.Alias{{Path: "seq/plate_100.PNG", At: "/mnt/seq/Plate_100.png"}, {Path: "seq/plate_98.PNG", At: "/mnt/seq/Plate_98.png"}}},
		"a strip": {blendfile.Reference{External: blendfile.External{Path: "//../Seq/one.png", Kind: blendfile.KindImage}, Names: []string{"one.png", "Two.png"}}, own, []string{"seq/one.png", "seq/two.png"},
			[]alias.Alias{{Path: "seq/two.png", At: "Seq/Two.png"}, {Path: "seq/one.png", At: "Seq/one.png"}}},
		"a cache": {blendfile.Reference{External: blendfile.External{Path: "/home/bob/sim/fluid", Kind: blendfile.KindSimulation}, Bake: &blendfile.Bake{Folders: []string{"data"}}}, own, []string{"sim/Fluid/data/1.vdb", "sim/Fluid/data/deep/2.vdb"},
			[]alias.Alias{{Path: "sim/Fluid/data/1.vdb", At: "/home/bob/sim/fluid/data/1.vdb"}, {Path: "sim/Fluid/data/deep/2.vdb", At: "/home/bob/sim/fluid/data/deep/2.vdb"}}},
	} {
		if got := aliasesOf(c.r, c.places, append(c.tree, "scene.blend", "shots/b.blend")...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestTwoFilesAreNotAtOnePlace(t *testing.T) {
	t.Parallel()
	got := unambiguous([]alias.Alias{{Path: "b.png", At: "/x"}, {Path: "a.png", At: "/y"}, {Path: "a.png", At: "/x"}, {Path: "a.png", At: "/y"}, {Path: "c.png", At: "/x"}, {Path: "c.png", At: "/z"}})
	if want := []alias.Alias{{Path: "a.png", At: "/y"}, {Path: "c.png", At: "/z"}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Blender counts the paths of a library from where it has found it.
func TestTheFilesOfAMovedLibraryHaveNamesBesideItsOwn(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/chain")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(folder, "shots/010/shot.blend"), filepath.Join(folder, "shot.blend")); err != nil {
		t.Fatal(err)
	}
	found, err := Find(t.Context(), os.DirFS(folder), "shot.blend", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []alias.Alias{
		{Path: "lib/mat/materials.blend", At: "../../lib/mat/materials.blend"},
		{Path: "lib/mat/tex/wood.png", At: "../../lib/mat/tex/wood.png"},
		{Path: "lib/props/prop.blend", At: "../../lib/props/prop.blend"},
	}
	if !slices.Equal(found.Aliases, want) {
		t.Errorf("%+v, want %+v", found.Aliases, want)
	}
}
