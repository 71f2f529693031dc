package blender_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/buildoption"
)

// The builds of blender.org have everything; a distribution's own build lists
// what it does not have.
func TestABlenderTellsWhatItWasBuiltWithout(t *testing.T) {
	t.Parallel()
	info := start(t, blender.Options{}).Info()
	said, err := exec.Command(find(t), "--background", "--factory-startup", "-noaudio", "--python-exit-code", "3", "--python-expr", `import bpy
o = bpy.app.build_options
for name, built in (("alembic", o.alembic), ("usd", o.usd), ("osl", o.cycles_osl), ("openvdb", o.openvdb), ("movies", o.codec_ffmpeg)):
    built or print("LACKS", name)`).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	var want []buildoption.Option
	for line := range strings.Lines(string(said)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "LACKS "); ok {
			want = append(want, buildoption.Option(name))
		}
	}
	if !slices.Equal(info.Lacks, want) {
		t.Errorf("Blender %s reports that it lacks %v, its build options say %v", info.Version, info.Lacks, want)
	}
	if len(info.Lacks) != len(buildoption.Of(info.Lacks...).Options()) {
		t.Errorf("%v names something that is not an option", info.Lacks)
	}
}
