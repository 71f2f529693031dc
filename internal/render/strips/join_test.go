package strips_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/render/pixels"
	"svc.example/internal/render/pixels/exr"
	"svc.example/internal/render/strips"
)

// rendered is a picture that Blender rendered.
const rendered = "../pixels/testdata/blender/open_exr_rgba_32_zip.exr"

// picture is an OpenEXR file's channels and rows.
type picture struct {
	like *exr.Reader
	rows [][]byte
}

func readRows(t *testing.T, path string) picture {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e, err := exr.NewReader(f, strips.MaxMemory)
	if err != nil {
		t.Fatal(err)
	}
	p := picture{like: e}
	if err := e.Rows(0, e.Height, func(_ int, row []byte) error {
		p.rows = append(p.rows, bytes.Clone(row))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return p
}

// strip writes some rows of the picture, with so many of its neighbours'.
func (p picture) strip(t *testing.T, from, to, overlap int) strips.Strip {
	t.Helper()
	rows := strips.Rows{From: from, To: to}
	s := strips.Strip{Rows: rows, Held: rows.Wider(overlap, len(p.rows)), Path: filepath.Join(t.TempDir(), "strip.exr")}
	f, err := os.Create(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := exr.NewWriter(f, p.like, s.Held.Height())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range p.rows[s.Held.From:s.Held.To] {
		if err := w.Row(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (p picture) cut(t *testing.T, overlap int, cuts ...int) (parts []strips.Strip) {
	t.Helper()
	from := 0
	for _, to := range append(cuts, len(p.rows)) {
		parts = append(parts, p.strip(t, from, to, overlap))
		from = to
	}
	return parts
}

func sumOf(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := pixels.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return got.SHA256
}

// Strips of any heights, joined, are the picture to the byte; every reader of pictures says so.
func TestJoinedStripsAreThePicture(t *testing.T) {
	t.Parallel()
	want := readRows(t, rendered)
	dir := t.TempDir()
	for i, cuts := range [][]int{{}, {1}, {16, 17}, {7, 20, 21}} {
		parts := want.cut(t, 1, cuts...)
		for j := range parts[1:] {
			if err := strips.Seams(parts[j], parts[j+1]); err != nil {
				t.Errorf("cuts %v: %v", cuts, err)
			}
		}
		out := filepath.Join(dir, fmt.Sprint(i)+".exr")
		if err := strips.Join(out, parts); err != nil {
			t.Fatalf("cuts %v: %v", cuts, err)
		}
		got := readRows(t, out)
		if got.like.Kind != want.like.Kind || !bytes.Equal(bytes.Join(got.rows, nil), bytes.Join(want.rows, nil)) {
			t.Errorf("cuts %v: the joined rows differ from the picture's", cuts)
		}
	}
	if a, b := sumOf(t, filepath.Join(dir, "0.exr")), sumOf(t, filepath.Join(dir, "3.exr")); a != b {
		t.Error("the same rows in other strips give another file")
	}
}

// A header's remarks, such as a cryptomatte's manifest, come with the rows.
func TestRemarksComeWithTheRows(t *testing.T) {
	t.Parallel()
	p := readRows(t, rendered)
	out := filepath.Join(t.TempDir(), "joined.exr")
	if err := strips.Join(out, p.cut(t, 0, 9)); err != nil {
		t.Fatal(err)
	}
	original, err := os.ReadFile(rendered)
	if err != nil {
		t.Fatal(err)
	}
	joined, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, remark := range []string{"RenderTime", "Scene", "cycles."} {
		if bytes.Contains(original, []byte(remark)) && !bytes.Contains(joined, []byte(remark)) {
			t.Errorf("the joined file lacks %s", remark)
		}
	}
}

func TestAWrongRowAtACutIsFound(t *testing.T) {
	t.Parallel()
	p := readRows(t, rendered)
	good := p.cut(t, 1, 10)
	for _, row := range []int{9, 10} {
		bad := picture{p.like, append([][]byte{}, p.rows...)}
		bad.rows[row] = bytes.Clone(bad.rows[row])
		bad.rows[row][len(bad.rows[row])-1] ^= 1
		lower := bad.strip(t, 10, len(p.rows), 1)
		if err := strips.Seams(good[0], lower); !errors.Is(err, strips.ErrSeam) {
			t.Errorf("row %d of the lower strip: %v", row, err)
		}
		upper := bad.strip(t, 0, 10, 1)
		if err := strips.Seams(upper, good[1]); !errors.Is(err, strips.ErrSeam) {
			t.Errorf("row %d of the upper strip: %v", row, err)
		}
	}
	if sum, err := good[0].Seam(10); err != nil || len(sum) != hex.EncodedLen(32) {
		t.Errorf("%q, %v", sum, err)
	}
}

// Whatever is missing or does not fit, nothing is joined and no file is left.
func TestNothingIsJoinedOfStripsThatDoNotFit(t *testing.T) {
	t.Parallel()
	p := readRows(t, rendered)
	all := p.cut(t, 1, 8, 16)
	other := readRows(t, "../pixels/testdata/blender/open_exr_rgb_16_zip.exr")
	cut := p.strip(t, 8, 16, 1)
	whole, err := os.ReadFile(cut.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut.Path, whole[:len(whole)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	claims := all[1]
	claims.Held.To++
	alone := p.strip(t, 8, 16, 0)
	for name, parts := range map[string][]strips.Strip{
		"none":                        nil,
		"the first one is missing":    all[1:],
		"one in the middle":           {all[0], all[2]},
		"one twice":                   {all[0], all[1], all[1], all[2]},
		"rows that it does not have":  {all[0], claims, all[2]},
		"a file that is cut":          {all[0], cut, all[2]},
		"other passes":                {all[0], other.strip(t, 8, 16, 1), all[2]},
		"a file that does not exist":  {all[0], {Rows: all[1].Rows, Held: all[1].Held, Path: "none"}, all[2]},
		"rows outside of what it has": {all[0], {Rows: all[1].Rows, Held: strips.Rows{From: 9, To: 16}, Path: all[1].Path}, all[2]},
	} {
		out := filepath.Join(t.TempDir(), "joined.exr")
		if err := strips.Join(out, parts); err == nil {
			t.Errorf("%s: it was joined", name)
		}
		if _, err := os.Stat(out); !os.IsNotExist(err) {
			t.Errorf("%s: a file is left: %v", name, err)
		}
	}
	if err := strips.Seams(all[0], all[2]); err == nil {
		t.Error("strips that are no neighbours were compared")
	}
	if err := strips.Seams(all[0], alone); err == nil || errors.Is(err, strips.ErrSeam) {
		t.Errorf("a strip without overlap was compared: %v", err)
	}
}

// A header may promise rows of any length.
func TestAStripOfEndlessRowsIsRefused(t *testing.T) {
	t.Parallel()
	file, err := os.Open(rendered)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := exr.NewReader(io.Reader(file), 1<<10); err == nil {
		t.Error("rows above the bound are read")
	}
	if _, err := exr.NewReader(strings.NewReader("\x89PNG"), 1<<20); !errors.Is(err, exr.ErrUnsupported) {
		t.Error(err)
	}
}
