package scenefiles_test

import (
	"os"
	"path/filepath"
	"testing"

	"svc.example/internal/render/scenefiles"
)

func TestTheFolderOfTheBlendIsTheTreeUnlessAnotherIsChosen(t *testing.T) {
	t.Parallel()
	blend := filepath.FromSlash("testdata/chain/shots/010/shot.blend")
	found, err := scenefiles.OnDisk(t.Context(), blend, "", scenefiles.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f := fileOf(t, found, "//../../lib/props/prop.blend"); f.Status != scenefiles.StatusOutside || found.Main != "shot.blend" {
		t.Errorf("%s: %+v", found.Main, f)
	}
	found, err = scenefiles.OnDisk(t.Context(), blend, "testdata/chain", scenefiles.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f := fileOf(t, found, "//../../lib/props/prop.blend"); f.Status != scenefiles.StatusFound || found.Main != "shots/010/shot.blend" {
		t.Errorf("%s: %+v", found.Main, f)
	}
	if _, err := scenefiles.OnDisk(t.Context(), blend, "testdata/kinds", scenefiles.Options{}); err == nil {
		t.Error("a .blend elsewhere than the tree is searched")
	}
}

// "//" counts from the folder of the link, as it does to Blender.
func TestTheMainFileMayBeALink(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	main, err := filepath.Abs("testdata/kinds/main.blend")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(main, filepath.Join(folder, "link.blend")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "lamp.ies"), []byte("lamp"), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := scenefiles.OnDisk(t.Context(), filepath.Join(folder, "link.blend"), "", scenefiles.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f := fileOf(t, found, "//lamp.ies"); f.Status != scenefiles.StatusFound {
		t.Errorf("%+v", f)
	}
	if f := fileOf(t, found, "//moved.mdd"); f.Status != scenefiles.StatusMissing {
		t.Errorf("%+v", f)
	}
}
