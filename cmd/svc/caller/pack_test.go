package caller

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/alecthomas/kong"

	"svc.example/internal/test/ociotest"
)

// TestAnArchiveHasTheConfigurationOfColoursAndItsLUTs: svc pack prints the path that the setting
// ocio takes.
func TestAnArchiveHasTheConfigurationOfColoursAndItsLUTs(t *testing.T) {
	studio := t.TempDir()
	ociotest.Write(t, studio)
	t.Setenv("OCIO", filepath.Join(studio, ociotest.Config))
	for flag, want := range map[string][]string{"": {"ocio/config.ocio", "ocio/luts/negative.spi1d", "scene.blend", "src/t.png"}, "none": {"scene.blend", "src/t.png"}} {
		var command struct {
			Pack Pack `cmd:""`
		}
		var said bytes.Buffer
		parser, err := kong.New(&command, kong.Writers(&said, io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "scene.zip")
		args := []string{"pack", filepath.Join(projects, "packed/scene.blend"), "--out", out, "--json"}
		if flag != "" {
			args = append(args, "--ocio", flag)
		}
		app, err := parser.Parse(args)
		if err == nil {
			err = command.Pack.Run(app)
		}
		if err != nil {
			t.Fatal(err)
		}
		var printed struct{ OCIO string }
		if err := json.Unmarshal(said.Bytes(), &printed); err != nil || slices.Contains(want, printed.OCIO) != (flag == "") {
			t.Errorf("--ocio %q: the configuration is at %q: %v", flag, printed.OCIO, err)
		}
		archive, err := zip.OpenReader(out)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = archive.Close() })
		var has []string
		for _, f := range archive.File {
			has = append(has, f.Name)
		}
		slices.Sort(has)
		if !slices.Equal(has, want) {
			t.Errorf("--ocio %q: the archive has %q, want %q", flag, has, want)
		}
	}
}
