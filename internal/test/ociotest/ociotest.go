// Package ociotest has an OpenColorIO configuration for tests, which changes every pixel: its
// display shows dark pixels light and light ones dark.
//
// Start reading at Files.
package ociotest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Config is the path of the configuration among Files, and LUT that of the file that it needs.
const (
	Config = "colour/config.ocio"
	LUT    = "colour/luts/negative.spi1d"
)

// config has the display and the views of a plain Blender 3.4, a view and a look of its own, and a
// colour space that plain Blenders do not have.
const config = `ocio_profile_version: 2

search_path: luts
roles:
  scene_linear: Linear
  rendering: Linear
  default: Linear
  default_byte: Video
  default_float: Linear
  default_sequencer: Video
  color_picking: Video
  data: Non-Color
displays:
  sRGB:
    - !<View> {name: Standard, colorspace: Negative}
    - !<View> {name: Filmic, colorspace: Negative}
    - !<View> {name: Studio, colorspace: Negative}
looks:
  - !<Look>
    name: Night
    process_space: Linear
    transform: !<CDLTransform> {slope: [0.5, 0.5, 0.5]}
colorspaces:
  - !<ColorSpace>
    name: Linear
    bitdepth: 32f
  - !<ColorSpace>
    name: Non-Color
    isdata: true
  - !<ColorSpace>
    name: Video
    from_reference: !<ExponentTransform> {value: [2.2, 2.2, 2.2, 1], direction: inverse}
  - !<ColorSpace>
    name: Studio Log
    from_reference: !<ExponentTransform> {value: [3, 3, 3, 1], direction: inverse}
  - !<ColorSpace>
    name: Negative
    from_reference: !<FileTransform> {src: negative.spi1d, interpolation: linear}
`

// Files are the configuration and its LUT, by their paths in a project.
func Files() map[string]string {
	var lut strings.Builder
	lut.WriteString("Version 1\nFrom 0.0 1.0\nLength 3\nComponents 1\n{\n")
	for _, v := range []float64{0.9, 0.4, 0.1} {
		fmt.Fprintf(&lut, " %g\n", v)
	}
	lut.WriteString("}\n")
	return map[string]string{Config: config, LUT: lut.String()}
}

// Write puts the files into a folder.
func Write(t testing.TB, folder string) {
	t.Helper()
	for name, text := range Files() {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
