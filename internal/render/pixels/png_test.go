package pixels_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image/png"
	"io"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/render/pixels"
	"svc.example/internal/test/pixelstest"
)

// same fails the test unless a PNG is read, or refused, as image/png does.
func same(t interface{ Fatalf(string, ...any) }, file []byte) {
	got, err := pixels.Read(bytes.NewReader(file))
	img, want := png.Decode(bytes.NewReader(file))
	if (err == nil) != (want == nil) {
		t.Fatalf("read: %v, by image/png: %v", err, want)
	}
	if err != nil {
		return
	}
	other := pixels.Of(img)
	other.Format = "png"
	if got != other {
		t.Fatalf("read as %+v, by image/png as %+v", got, other)
	}
}

func TestAPNGIsReadAsTheStandardLibraryDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		file := pixelstest.PNG(t)
		if _, err := pixels.Read(bytes.NewReader(file)); err != nil {
			t.Fatalf("a sound file: %v", err)
		}
		same(t, file)
	})
}

func TestADamagedPNGIsRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		file := pixelstest.PNG(t)
		i := rapid.IntRange(0, len(file)-1).Draw(t, "at")
		file[i] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		same(t, file) // which refuses it by a checksum, or by what follows
	})
}

// TestAPNGIsReadInLittleMemory reads a picture of which a decoded copy would take
// 16 MiB.
func TestAPNGIsReadInLittleMemory(t *testing.T) {
	side := 2048
	head := binary.BigEndian.AppendUint32(nil, uint32(side))
	head = append(binary.BigEndian.AppendUint32(head, uint32(side)), 8, 6, 0, 0, 0)
	var rows bytes.Buffer
	packed := zlib.NewWriter(&rows)
	if _, err := io.CopyN(packed, zeros{}, int64(side)*int64(1+4*side)); err != nil {
		t.Fatal(err)
	}
	_ = packed.Close()
	file := append([]byte("\x89PNG\r\n\x1a\n"), pixelstest.Chunk("IHDR", head)...)
	file = append(append(file, pixelstest.Chunk("IDAT", rows.Bytes())...), pixelstest.Chunk("IEND", nil)...)
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			read(b, file)
		}
	})
	if most := int64(1 << 20); result.AllocedBytesPerOp() > most {
		t.Errorf("%d bytes were allocated for a picture of %d x %d, want %d at most", result.AllocedBytesPerOp(), side, side, most)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func FuzzPNG(f *testing.F) {
	for seed := range 20 {
		f.Add(rapid.Custom(pixelstest.PNG).Example(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if k := len(file); k >= 24 && (binary.BigEndian.Uint32(file[16:]) > 1<<12 || binary.BigEndian.Uint32(file[20:]) > 1<<12) {
			return // image/png would make all of it
		}
		if bytes.HasPrefix(file, []byte("\x89PNG")) {
			same(t, file)
		}
	})
}
