package ocio_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"svc.example/internal/render/colour"
	"svc.example/internal/render/colour/ocio"
	"svc.example/internal/test/alone"
)

// small is the least configuration, with more lines after it.
func small(more ...string) string {
	return strings.Join(append([]string{
		"ocio_profile_version: 2", "roles: {scene_linear: Linear, default: Linear}",
		"displays:", "  sRGB:", "    - !<View> {name: Standard, colorspace: Linear}",
		"colorspaces:", "  - !<ColorSpace>", "    name: Linear",
	}, more...), "\n") + "\n"
}

// studio is a configuration with all that is read, as version 2.1 writes it.
const studio = `ocio_profile_version: 2.1
environment:
  SHOW: castle
search_path:
  - luts
  - $SHOW/looks
  - /mnt/luts
roles:
  scene_linear: ACEScg
  default: ACEScg
shared_views:
  - !<View> {name: Raw, colorspace: data}
displays:
  sRGB Monitor:
    - !<View> {name: Film, view_transform: Film, display_colorspace: sRGB, looks: Warm}
    - !<View> {name: Hidden, colorspace: ACEScg}
    - !<Views> [Raw]
  Cinema:
    - !<View> {name: Film, colorspace: ACEScg}
  Off:
    - !<View> {name: Film, colorspace: ACEScg}
active_displays: [Cinema, sRGB Monitor]
active_views: [Raw, Film]
inactive_colorspaces: [secret]
looks:
  - !<Look>
    name: Warm
    process_space: ACEScg
    transform: !<GroupTransform>
      children:
        - !<FileTransform> {src: warm.cube, interpolation: tetrahedral}
        - !<FileTransform> {src: gone.cube}
view_transforms:
  - !<ViewTransform>
    name: Film
    from_scene_reference: !<FileTransform> {src: film.clf}
display_colorspaces:
  - !<ColorSpace> {name: sRGB, aliases: [srgb, srgb_display]}
colorspaces:
  - !<ColorSpace>
    name: ACEScg
    description: |
      src: none.cube
    to_reference: !<FileTransform> {src: ../shared/acescg.spimtx}
  - !<ColorSpace> {name: data, isdata: true}
  - !<ColorSpace> {name: secret, from_reference: !<FileTransform> {src: warm.cube}}
`

func TestAConfigurationSaysWhatBlenderFindsInIt(t *testing.T) {
	t.Parallel()
	c, err := ocio.Read(strings.NewReader(studio))
	if err != nil {
		t.Fatal(err)
	}
	want := colour.Offer{
		Displays: []colour.Display{{Name: "Cinema", Views: []string{"Film"}}, {Name: "sRGB Monitor", Views: []string{"Raw", "Film"}}},
		Looks:    []string{"Warm"},
		Spaces:   []string{"ACEScg", "data", "sRGB", "srgb", "srgb_display"},
	}
	if !reflect.DeepEqual(c.Offer, want) || c.Version != "2.1" || c.Roles["scene_linear"] != "ACEScg" {
		t.Errorf("it has %+v, version %s, roles %v", c.Offer, c.Version, c.Roles)
	}
}

func TestAConfigurationNamesItsFilesWhereOpenColorIOLooks(t *testing.T) {
	t.Parallel()
	found, err := ocio.Find(fstest.MapFS{
		"colour/config.ocio": {Data: []byte(studio)}, "colour/castle/looks/warm.cube": {Data: []byte("LUT")},
		"colour/luts/film.clf": {}, "colour/shared/acescg.spimtx": {}, "gone.cube": {},
	}, "colour/config.ocio", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []ocio.File{
		{Source: ocio.Source{Name: "warm.cube", UsedBy: "look Warm"}, Path: "colour/castle/looks/warm.cube", Bytes: 3, There: true},
		{Source: ocio.Source{Name: "gone.cube", UsedBy: "look Warm"}, Path: "colour/luts/gone.cube"},
		{Source: ocio.Source{Name: "film.clf", UsedBy: "view transform Film"}, Path: "colour/luts/film.clf", There: true},
		{Source: ocio.Source{Name: "../shared/acescg.spimtx", UsedBy: "colour space ACEScg"}, Path: "colour/shared/acescg.spimtx", There: true},
	}
	if !reflect.DeepEqual(found.Files, want) {
		t.Errorf("found %+v", found.Files)
	}
	if len(found.SHA256) != 64 || found.Bytes != int64(len(studio)) {
		t.Errorf("hash %q of %d bytes", found.SHA256, found.Bytes)
	}
}

// Nothing outside the tree is looked for, even if a configuration names it.
func TestNoFileIsLookedForOutsideTheTree(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"../../etc/passwd", "/etc/passwd", "../../../../../../etc/passwd", `..\..\etc\passwd`, "$HOME/.ssh/id_rsa", "luts/../../../etc/passwd", "."} {
		text := small("    from_reference: !<FileTransform> {src: '" + src + "'}")
		found, err := ocio.Find(os.DirFS(write(t, "shot/config.ocio", text)), "shot/config.ocio", nil)
		if err != nil || len(found.Files) != 1 || found.Files[0].There {
			t.Errorf("%s: %v, %+v", src, err, found)
		}
	}
	for _, name := range []string{"../config.ocio", "/etc/passwd", "", "shot", "other.ocio"} {
		if _, err := ocio.Find(os.DirFS(write(t, "shot/config.ocio", small())), name, nil); !refused(err) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func refused(err error) bool {
	_, ok := errors.AsType[*ocio.Error](err)
	return ok
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, fstest.MapFS{name: {Data: []byte(text)}}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// repeated writes a line often, with its number.
func repeated(n int, line string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line+"\n", i)
	}
	return b.String()
}

func TestAHostileConfigurationIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [x, x]\n"
	for i := range 60 {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	manyViews := "shared: &v [" + strings.Repeat("!<View> {name: V}, ", 5000) + "]\ndisplays:\n" + repeated(5000, "  D%d: *v")
	for name, text := range map[string]string{
		"nothing":                 "",
		"other YAML":              "name: x\n",
		"a list":                  "- a\n",
		"no YAML":                 "ocio_profile_version: [\n",
		"binary":                  "\x00\xff\xfe",
		"an archive":              "PK\x03\x04",
		"a version to come":       strings.Replace(small(), "version: 2", "version: 3", 1),
		"no display":              "ocio_profile_version: 2\nroles: {scene_linear: a}\n",
		"no scene_linear":         strings.Replace(small(), "scene_linear", "other", 1),
		"a long name":             small("  - !<ColorSpace> {name: " + strings.Repeat("n", 300) + "}"),
		"an unprintable name":     small(`  - !<ColorSpace> {name: "a\nb"}`),
		"an unprintable file":     small(`    from_reference: !<FileTransform> {src: "a\0b"}`),
		"too many bytes":          small(strings.Repeat("# comment\n", 300_000)),
		"too many values":         small("x: [" + strings.Repeat("1,", 500_000) + "]"),
		"too deep":                small("x: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000)),
		"an alias that is itself": small("x: &x [*x]", "colorspaces: *x"),
		"views by aliases":        "ocio_profile_version: 2\nroles: {scene_linear: a}\n" + manyViews,
		"100,000 files":           "ocio_profile_version: 2\nroles: {scene_linear: a}\nx:\n" + repeated(100_000, "- !<FileTransform> {src: %d}"),
		"10,000 files":            small("x:\n" + repeated(10_000, "- !<FileTransform> {src: %d}")),
		"20,000 spaces":           small(repeated(20_000, "  - !<ColorSpace> {name: %d}")),
		"aliases of aliases":      small(bomb),
	} {
		if _, err := ocio.Read(strings.NewReader(text)); !refused(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A gigabyte is read no further than the bound.
	endless := &endlessText{}
	if _, err := ocio.Read(endless); !refused(err) || endless.read > ocio.MaxBytes+64<<10 {
		t.Errorf("%d bytes read: %v", endless.read, err)
	}
}

// Little text that stands for much is refused before it takes memory or time.
func TestAConfigurationCannotStandForMoreThanItsText(t *testing.T) {
	alone.Run(t, aConfigurationCannotStandForMoreThanItsText)
}

func aConfigurationCannotStandForMoreThanItsText(t *testing.T) {
	list := func(n int, one string) string { return "[" + strings.Repeat(one+", ", n) + "]" }
	for name, text := range map[string]string{
		"aliases of colour spaces by aliases": small(repeated(20_000, "  - {name: s%d, aliases: *many}"), "many: &many "+list(100_000, "x")),
		"colour spaces without names":         small("    x: &big\n"+repeated(60_000, "      k%d: v"), "    y: 1", strings.Repeat("  - *big\n", 60_000)),
		"views of a display by aliases":       strings.Replace(small("many: &many "+list(100_000, "x"), "shared: 1"), "displays:", "more: &more "+list(100_000, "x")+"\ndisplays:\n  D: "+list(100_000, "*more"), 1),
		"variables in a search path":          small("environment: {A: "+strings.Repeat("a", 500_000)+"}", "search_path: '"+strings.Repeat("$A", 300_000)+"'", "z: !<FileTransform> {src: a.cube}"),
		"variables in the name of a file":     small("environment: {A: "+strings.Repeat("a", 500_000)+"}", "z:", repeated(5000, "  - !<FileTransform> {src: '%d"+strings.Repeat("$A", 100)+"'}")),
		"files in many folders":               small("search_path: ["+strings.Repeat("a, ", 64)+"]", "z:", repeated(5000, "  - !<FileTransform> {src: '%d'}")),
		"short variables":                     small("environment: {A: "+strings.Repeat("a", 1000)+"}", "search_path: ["+strings.Repeat(strings.Repeat("$A", 500)+", ", 10)+"]", "z:", repeated(5000, "  - !<FileTransform> {src: '%d"+strings.Repeat("$A", 100)+"'}")),
		"a long search path":                  small("search_path: "+strings.Repeat("a/", 700_000), "z:", repeated(5000, "  - !<FileTransform> {src: '%d'}")),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ocio.Find(fstest.MapFS{"config.ocio": {Data: []byte(text)}}, "config.ocio", nil)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<30 {
			t.Errorf("%s took %d MiB", name, used>>20)
		}
		if !refused(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// endlessText is a text of blanks without an end.
type endlessText struct{ read int64 }

func (e *endlessText) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += int64(len(p))
	return len(p), nil
}

func FuzzRead(f *testing.F) {
	f.Add(studio)
	f.Add(small())
	f.Add(small("x: &x [*x]"))
	f.Add("ocio_profile_version: 1\nroles: {scene_linear: &a a, default: *a}\ndisplays: {*a : [{name: *a}]}")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ocio.Read(strings.NewReader(text))
		if err != nil {
			if !refused(err) {
				t.Errorf("another error: %v", err)
			}
			return
		}
		if !c.Offer.Known() || len(c.Sources) > ocio.MaxFiles {
			t.Errorf("accepted %+v", c)
		}
		found, err := ocio.Find(fstest.MapFS{"a/config.ocio": {Data: []byte(text)}}, "a/config.ocio", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found.Files {
			if file.There && file.Path != "a/config.ocio" {
				t.Errorf("%q is there", file.Path)
			}
		}
	})
}
