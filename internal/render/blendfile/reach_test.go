package blendfile_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/blendfile"
)

// In testdata/reach.blend the names begin with "need" or "not". Those of the scenes that
// the picture comes from are needed; scripts/scenes/blendfile_make.py says why.
func TestMissingIsOnlyWhatTheRenderedPictureComesFrom(t *testing.T) {
	t.Parallel()
	for name, least := range map[string]int{"reach": 15, "nodes": 18, "sequencer": 7} {
		onlyNeeded(t, "testdata/"+name+".blend", least)
	}
}

// onlyNeeded compares what is missing with what the names of all files say.
func onlyNeeded(t *testing.T, file string, least int) {
	t.Helper()
	facts := inspectFile(t, file)
	if len(facts.Partial) != 0 {
		t.Errorf("partial %q", facts.Partial)
	}
	var missing []string
	for _, m := range facts.MissingFiles {
		missing = append(missing, path.Base(m.Path))
	}
	wanted := 0
	for _, e := range facts.Externals {
		name := path.Base(e.Path)
		need := strings.HasPrefix(name, "need")
		if !need && !strings.HasPrefix(name, "not") {
			t.Errorf("%q says not whether it is needed", e.Path)
		}
		if need {
			wanted++
		}
		if got := slices.Contains(missing, name); got != need {
			t.Errorf("%s is reported as missing: %v", name, got)
		}
	}
	if wanted < least || len(missing) != wanted {
		t.Errorf("%s: %d of %d files are needed, %d told", file, wanted, len(facts.Externals), len(missing))
	}
}

func TestAMissingFileNamesWhatUsesIt(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"need_material.png": "material need_material.png", "need_group.png": "node group Group", "need_world.png": "world World",
		"need_compositor.png": "scene Scene", "need_displace.png": "texture waves", "need_font.ttf": "curve Text",
	}
	for _, m := range inspectFile(t, "testdata/reach.blend").MissingFiles {
		if user, ok := want[path.Base(m.Path)]; ok && m.UsedBy != user {
			t.Errorf("%s is used by %q, want %q", m.Path, m.UsedBy, user)
		}
		delete(want, path.Base(m.Path))
	}
	if len(want) != 0 {
		t.Errorf("not missing: %v", want)
	}
}

func TestScriptsAreToldOnlyWhereThePictureCanDependOnThem(t *testing.T) {
	t.Parallel()
	var got []string
	for _, s := range inspectFile(t, "testdata/reach.blend").Scripted {
		got = append(got, strings.TrimSpace(s.Owner+" "+s.Property))
	}
	slices.Sort(got)
	want := []string{
		`armature Rig ["need_rig_data"]`,
		`material need_material.png nodes["Emission"].inputs[1].default_value`,
		`object Driven ["need_python"]`, `object Driven ["need_unknown"]`,
		`object Rig ["need_rig"]`, `text need.py`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("scripts\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// In testdata/freestyle.blend the layers whose lines a script draws are named need.
func TestAStyleModuleIsToldWhereItWouldDraw(t *testing.T) {
	t.Parallel()
	want := []blendfile.Script{{Owner: "view layer need", Property: "Freestyle module lines.py"}}
	if got := inspectFile(t, "testdata/freestyle.blend").Scripted; !slices.Equal(got, want) {
		t.Errorf("scripts %+v, want %+v", got, want)
	}
}
