package exr_test

import (
	"bufio"
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/pixels"
	"svc.example/internal/render/pixels/exr"
)

const memory = 64 << 20

// pictures are the OpenEXR files that Blender wrote for the tests of package pixels.
func pictures(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../testdata/blender/*.exr")
	if err != nil || len(paths) < 18 {
		t.Fatalf("%d pictures: %v", len(paths), err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = content
	}
	return files
}

// copied writes the rows of a picture into another file.
func copied(t *testing.T, file []byte) []byte {
	t.Helper()
	from, err := exr.NewReader(bytes.NewReader(file), memory)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "copy.exr")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	to, err := exr.NewWriter(out, from, from.Height)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(from.Rows(0, from.Height, func(_ int, values []byte) error { return to.Row(values) }), to.Close()); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// rows are all rows of a picture, and what its channels have at the right end of each.
func rows(t *testing.T, file []byte) (all [][]byte, ends map[string][]float32) {
	t.Helper()
	f, err := exr.Open(bufio.NewReader(bytes.NewReader(file)))
	if err != nil {
		t.Fatal(err)
	}
	all, ends = make([][]byte, f.Height), map[string][]float32{}
	err = f.Chunks(new(bytes.Buffer), func(y int, row []byte) {
		all[y] = bytes.Clone(row)
		for _, c := range f.Channels {
			ends[c.Name] = append(ends[c.Name], c.Of(row).At(f.Width-1))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, ends
}

func TestACopyOfRowsIsThePicture(t *testing.T) {
	t.Parallel()
	for name, file := range pictures(t) {
		if strings.Contains(name, "dwa") {
			continue
		}
		again := copied(t, file)
		want, ends := rows(t, file)
		got, same := rows(t, again)
		if !slices.EqualFunc(want, got, bytes.Equal) || !maps.EqualFunc(ends, same, slices.Equal) {
			t.Errorf("%s: the copy has other rows", name)
		}
		before, err := pixels.Read(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if after, err := pixels.Read(bytes.NewReader(again)); err != nil || after.FloatSHA256 != before.FloatSHA256 || after.Defects != before.Defects {
			t.Errorf("%s: %+v, its copy %+v: %v", name, before, after, err)
		}
	}
}

// A chunk that DWA made no shorter is stored as it is, and its rows are always given.
func TestRowsOfDWAAreGivenOnRequest(t *testing.T) {
	t.Parallel()
	for name, file := range pictures(t) {
		f, err := exr.Open(bufio.NewReader(bytes.NewReader(file)))
		if err != nil {
			t.Fatal(err)
		}
		dwa := strings.Contains(name, "dwa")
		if f.DWA() != dwa {
			t.Errorf("%s: DWA is %t", name, f.DWA())
		}
		for _, shown := range []bool{false, true} {
			f, _ = exr.Open(bufio.NewReader(bytes.NewReader(file)))
			if shown {
				f.ShowDWA()
			}
			n := 0
			if err := f.Chunks(new(bytes.Buffer), func(int, []byte) { n++ }); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if all := n == f.Height; all != (shown || !dwa) {
				t.Errorf("%s: %d of %d rows, asked for those of DWA: %t", name, n, f.Height, shown)
			}
		}
		if _, err := exr.NewReader(bytes.NewReader(file), memory); errors.Is(err, exr.ErrUnsupported) != dwa {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARowIsReadWithoutWhatFollowsIt(t *testing.T) {
	t.Parallel()
	for name, file := range pictures(t) {
		if !strings.Contains(name, "zip") {
			continue
		}
		want, _ := rows(t, file)
		cut := file[:len(file)-1] // in the last chunk
		f, err := exr.Open(bufio.NewReader(bytes.NewReader(cut)))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Row(0, func(row []byte) {
			if !bytes.Equal(row, want[0]) {
				t.Errorf("%s: the first row is another one", name)
			}
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f, _ = exr.Open(bufio.NewReader(bytes.NewReader(cut)))
		if err := f.Chunks(new(bytes.Buffer), func(int, []byte) {}); err == nil {
			t.Errorf("%s: its end is missing, and it is read", name)
		}
	}
}

func TestFilesOfOtherKindsAreUnsupported(t *testing.T) {
	t.Parallel()
	tiled := []byte(exr.Magic + "\x02\x02\x00\x00")
	for _, file := range [][]byte{[]byte("\x89PNG"), []byte("\x89PNG\r\n\x1a\n"), tiled} {
		if _, err := exr.Open(bufio.NewReader(bytes.NewReader(file))); !errors.Is(err, exr.ErrUnsupported) {
			t.Errorf("%q: %v", file, err)
		}
	}
	if _, err := exr.Open(bufio.NewReader(strings.NewReader(exr.Magic))); err == nil || errors.Is(err, exr.ErrUnsupported) {
		t.Errorf("a cut header: %v", err)
	}
}
