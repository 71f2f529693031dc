package blender_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/render/pixels/pngrows"
)

// TestAPictureThatIsPackedLaterIsTheSame: what a process writes without compression, packed
// afterwards, has the pixels and the metadata of what it writes directly.
func TestAPictureThatIsPackedLaterIsTheSame(t *testing.T) {
	t.Parallel()
	whole, opened := open(t, "large", blender.Options{})
	if opened.Compression != 0 {
		t.Errorf("a process that packs leaves level %d to its caller", opened.Compression)
	}
	bare, opened := open(t, "large", blender.Options{Uncompressed: true})
	if opened.Compression != 5 {
		t.Errorf("compression 60 is level %d of zlib, want 5", opened.Compression)
	}
	want, got := read(t, render(t, whole, 3).Path), read(t, render(t, bare, 3).Path)
	var packed bytes.Buffer
	if err := pngrows.Compress(&packed, bytes.NewReader(got), opened.Compression, 2); err != nil {
		t.Fatal(err)
	}
	if len(got) < 1280*840*4 || packed.Len() > len(want)*21/20 {
		t.Errorf("Blender packs to %d bytes, leaves %d, packed later they are %d", len(want), len(got), packed.Len())
	}
	if a, b := chunks(t, want), chunks(t, packed.Bytes()); a != b {
		t.Errorf("other metadata:\n%s\nwant\n%s", b, a)
	}
	before, err := pixels.Read(bytes.NewReader(want))
	after, err2 := pixels.Read(&packed)
	if err != nil || err2 != nil || before != after {
		t.Errorf("%+v %v, want %+v %v", after, err2, before, err)
	}
}

// TestOnlyLargePNGsArePackedLater: a small one is packed in no time.
func TestOnlyLargePNGsArePackedLater(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "format_jpeg"} {
		if _, opened := open(t, name, blender.Options{Uncompressed: true}); opened.Compression != 0 {
			t.Errorf("%s: level %d is left to the caller", name, opened.Compression)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// chunks names the chunks of a PNG except its rows, one a line, with the contents of those
// that do not contain the time.
func chunks(t *testing.T, file []byte) string {
	t.Helper()
	var all strings.Builder
	for rest := file[8:]; len(rest) >= 12; {
		n := int(binary.BigEndian.Uint32(rest))
		kind, content := string(rest[4:8]), rest[8:8+n]
		name, _, _ := bytes.Cut(content, []byte{0})
		switch rest = rest[12+n:]; {
		case kind == "IDAT":
		case bytes.HasPrefix(name, []byte("Date")), bytes.Contains(name, []byte("ime")):
			all.WriteString(kind + " " + string(name) + "\n")
		default:
			all.WriteString(kind + " " + string(content) + "\n")
		}
	}
	return all.String()
}
