package scenefiles

import "testing"

func TestAPathCountsFromTheFolderOfItsBlend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ stored, folder, want string }{
		{"//tex/a.png", ".", "tex/a.png"},
		{"//tex/a.png", "shots/010", "shots/010/tex/a.png"},
		{`//..\..\tex\a.png`, "shots/010", "tex/a.png"},
		{"//../../../a.png", "shots/010", "../a.png"},
		{"//../shots/a.png", "shots", "shots/a.png"},
		{"//", "shots", "shots"},
		{"//a.png", "../where/it/was", "../where/it/was/a.png"},
		{"//../../../scene/a.png", "../x/y", "../../scene/a.png"},
		{"//a.png", "/home/anna", "/home/anna/a.png"},
		{"//../../../../a.png", "/home/anna", "/a.png"},
		{`//..\a.png`, "C:/shot/lib", "C:/shot/a.png"},
		{"//../../../a.png", "C:/shot", "C:/a.png"},
		{`//..\a.png`, `\\nas/share/shot`, `\\nas/share/a.png`},
		{"/home/anna/../a.png", "shots", "/home/a.png"},
		{`/home\anna\a.png`, "shots", "/home/anna/a.png"},
		{`c:\x\.\a.png`, "shots", "c:/x/a.png"},
		{`\\nas\share\..\a.png`, "shots", `\\nas/a.png`},
	} {
		got, relative := placeOf(c.stored, c.folder)
		if got != c.want || !relative {
			t.Errorf("%s from %s leads to %q, %v; want %q", c.stored, c.folder, got, relative, c.want)
		}
	}
	if _, known := placeOf("tex/a.png", "shots"); known {
		t.Error("a path without a beginning does not count from its .blend")
	}
}

func TestAFileThatMovedSaysWhichFolderItCameFrom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ oldFile, newFile, from, to string }{
		{"C:/Users/Anna/shot/scene.blend", "scene.blend", "C:/Users/Anna/shot", "."},
		{"/home/anna/film/shots/010/scene.blend", "shots/010/renamed.blend", "/home/anna/film", "."},
		{"/home/anna/film/shots/010/scene.blend", "work/Shots/010/scene.blend", "/home/anna/film", "work"},
		{"/shots/scene.blend", "shots/scene.blend", "/shots", "shots"},
	} {
		if from, to := movedFolder(c.oldFile, c.newFile); from != c.from || to != c.to {
			t.Errorf("%s as %s: %s is %s, want %s is %s", c.oldFile, c.newFile, from, to, c.from, c.to)
		}
	}
	if rest, ok := below("c:/users/ANNA/shot/tex/a.png", "C:/Users/Anna/shot"); !ok || rest != "tex/a.png" {
		t.Errorf("below a drive's folder: %q, %v", rest, ok)
	}
	if _, ok := below("/home/Anna/a.png", "/home/anna"); ok {
		t.Error("two folders that differ by case are one")
	}
	if _, ok := below("/home/annabel/a.png", "/home/anna"); ok {
		t.Error("a folder holds what begins with its name")
	}
}
