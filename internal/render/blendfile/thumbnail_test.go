package blendfile_test

import (
	"bytes"
	"encoding/binary"
	"image/color"
	"image/png"
	"testing"

	"svc.example/internal/render/blendfile"
)

// preview is a picture of two rows, red above blue, as a file has it: from the
// bottom up.
func preview(o binary.AppendByteOrder) []byte {
	b := o.AppendUint32(o.AppendUint32(nil, 3), 2)
	b = append(b, bytes.Repeat([]byte{0, 0, 255, 255}, 3)...)
	return append(b, bytes.Repeat([]byte{255, 0, 0, 128}, 3)...)
}

func TestThePreviewStandsUpright(t *testing.T) {
	t.Parallel()
	for _, big := range []bool{false, true} {
		s := era279(form{version: 279, bits: 64, big: big})
		s.raw("TEST", 0, preview(s.endian()))
		thumb := inspectBytes(t, s.bytes()).Thumbnail
		if thumb == nil || thumb.Width != 3 || thumb.Height != 2 {
			t.Fatalf("preview %+v, want one of 3 x 2", thumb)
		}
		b, err := thumb.PNG()
		if err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := m.At(1, 0), (color.NRGBA{R: 255, A: 128}); got != want {
			t.Errorf("top %v, want %v", got, want)
		}
		if got, want := m.At(1, 1), (color.NRGBA{B: 255, A: 255}); got != want {
			t.Errorf("bottom %v, want %v", got, want)
		}
	}
}

func TestAnInconsistentPreviewIsIgnored(t *testing.T) {
	t.Parallel()
	le := binary.LittleEndian
	for name, b := range map[string][]byte{
		"short":    preview(le)[:20],
		"nothing":  {},
		"negative": le.AppendUint32(le.AppendUint32(nil, 0xFFFFFFFF), 2),
		"huge":     le.AppendUint32(le.AppendUint32(nil, 1<<30), 1<<30),
	} {
		s := era279(form{version: 279, bits: 64})
		s.raw("TEST", 0, b)
		if thumb := inspectBytes(t, s.bytes()).Thumbnail; thumb != (*blendfile.Thumbnail)(nil) {
			t.Errorf("%s: preview %+v, want none", name, thumb)
		}
	}
}
