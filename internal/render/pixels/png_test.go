package pixels_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image/png"
	"io"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/render/pixels"
)

// madePNG writes a PNG of any kind that is read row by row here, or of one with a
// transparent colour, with rows of any filter and chunks cut anywhere.
func madePNG(t *rapid.T) []byte {
	width, height := rapid.IntRange(1, 9).Draw(t, "width"), rapid.IntRange(1, 9).Draw(t, "height")
	kind := rapid.SampledFrom([]byte{0, 2, 4, 6}).Draw(t, "kind")
	bytesOfValue := rapid.IntRange(1, 2).Draw(t, "bytes")
	channels := map[byte]int{0: 1, 2: 3, 4: 2, 6: 4}[kind]
	head := binary.BigEndian.AppendUint32(nil, uint32(width))
	head = append(binary.BigEndian.AppendUint32(head, uint32(height)), byte(8*bytesOfValue), kind, 0, 0, 0)
	file := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", head)...)
	file = append(file, chunk("tEXt", []byte("Software\x00none"))...)
	if kind <= 2 && rapid.Bool().Draw(t, "transparent") {
		file = append(file, chunk("tRNS", rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1}), 2*channels, 2*channels).Draw(t, "key"))...)
	}
	var rows bytes.Buffer
	packed := zlib.NewWriter(&rows)
	for range height {
		// Few values, so that a transparent colour is met.
		row := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]byte{0, 1}), rapid.Byte()), width*channels*bytesOfValue, width*channels*bytesOfValue).Draw(t, "row")
		_, _ = packed.Write(append([]byte{rapid.ByteRange(0, 4).Draw(t, "filter")}, row...))
	}
	_ = packed.Close()
	for rest := rows.Bytes(); len(rest) > 0; {
		n := rapid.IntRange(0, len(rest)).Draw(t, "cut")
		file = append(file, chunk("IDAT", rest[:n])...)
		rest = rest[n:]
	}
	file = append(file, chunk("tIME", make([]byte, 7))...)
	return append(file, chunk("IEND", nil)...)
}

func chunk(kind string, content []byte) []byte {
	out := append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), kind...)
	out = append(out, content...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

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
		file := madePNG(t)
		if _, err := pixels.Read(bytes.NewReader(file)); err != nil {
			t.Fatalf("a sound file: %v", err)
		}
		same(t, file)
	})
}

func TestADamagedPNGIsRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		file := madePNG(t)
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
	file := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", head)...)
	file = append(append(file, chunk("IDAT", rows.Bytes())...), chunk("IEND", nil)...)
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
		f.Add(rapid.Custom(madePNG).Example(seed))
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
