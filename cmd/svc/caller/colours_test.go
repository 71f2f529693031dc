package caller

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/test/ociotest"
)

// printed are the lines that svc inspect prints of a file with flags, each run of blanks as one.
func printed(t *testing.T, file string, flags FileFlags) (lines []string, err error) {
	t.Helper()
	found, err := inspect(file, flags, client.Settings{})
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	found.print(&text)
	for line := range strings.Lines(text.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines, nil
}

// The configuration of this environment is the one that Blender uses here, so it is the one that
// is sent, unless a flag says otherwise.
func TestTheConfigurationOfColoursIsThatOfTheEnvironmentOrOfTheFlag(t *testing.T) {
	studio := t.TempDir()
	ociotest.Write(t, studio)
	config, file := filepath.Join(studio, ociotest.Config), filepath.Join(projects, "packed/scene.blend")
	const files = "files 1 image, 1 OpenColorIO configuration, 1 LUT"
	for _, c := range []struct{ environment, flag, says string }{
		{"", "", ""},
		{"", config, "colours OpenColorIO configuration " + config + ", from --ocio"},
		{config, "", "colours OpenColorIO configuration " + config + ", from the variable OCIO"},
		{"ocio://default", config, "colours OpenColorIO configuration " + config + ", from --ocio"},
		{config, "none", ""},
	} {
		t.Setenv("OCIO", c.environment)
		lines, err := printed(t, file, FileFlags{OCIO: c.flag})
		if err != nil {
			t.Fatal(err)
		}
		if has := slices.Contains(lines, files); has != (c.says != "") || c.says != "" && !slices.Contains(lines, c.says) {
			t.Errorf("OCIO=%s --ocio %q: %q", c.environment, c.flag, lines)
		}
	}
	for _, c := range []struct {
		environment string
		flags       FileFlags
		why         string
	}{
		{"ocio://default", FileFlags{}, "built into OpenColorIO"},
		{filepath.Join(studio, "none.ocio"), FileFlags{}, "the variable OCIO names, is not a file here; --ocio none"},
		{"", FileFlags{OCIO: studio}, "is not a file here"},
		{config, FileFlags{NoFiles: true}, "--no-files does not send"},
		{"", FileFlags{OCIO: file}, "ocio \"scene.blend\" is not text"},
	} {
		t.Setenv("OCIO", c.environment)
		if _, err := printed(t, file, c.flags); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("OCIO=%s %+v: %v", c.environment, c.flags, err)
		}
	}
	if err := os.Remove(filepath.Join(studio, ociotest.LUT)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OCIO", "")
	const missing = "missing LUT negative.spi1d, used by ocio/config.ocio, of colour space Negative"
	if lines, err := printed(t, file, FileFlags{OCIO: config}); err != nil || !slices.Contains(lines, missing) {
		t.Errorf("without its LUT: %q, %v", lines, err)
	}
}
