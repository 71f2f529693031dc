package pngrows_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/render/pixels"
	"svc.example/internal/render/pixels/pngrows"
	"svc.example/internal/test/pixelstest"
)

// TestCompressKeepsPixelsAndMetadata: whatever is compressed again has the same rows,
// filters included, and the same other chunks in the same order.
func TestCompressKeepsPixelsAndMetadata(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		file := pixelstest.PNG(t)
		sameButPacked(t, file, rapid.IntRange(1, 9).Draw(t, "level"), rapid.IntRange(1, 4).Draw(t, "cores"))
	})
}

// TestCompressJoinsBlocks packs a picture of several blocks, the last of which is cut
// anywhere, on fewer and on more cores than blocks.
func TestCompressJoinsBlocks(t *testing.T) {
	t.Parallel()
	for _, height := range []int{1, 256, 257, 600} { // 256 rows are one block
		file := grey(1<<12-1, height)
		for _, cores := range []int{1, 2, 8} {
			packed := sameButPacked(t, file, 1+height%6, cores)
			if height > 1 && packed >= len(file)*9/10 {
				t.Errorf("%d rows have %d bytes, packed %d", height, len(file), packed)
			}
		}
	}
}

func TestCompressRefusesADamagedPNG(t *testing.T) {
	t.Parallel()
	file := grey(20, 10)
	for cut := range len(file) {
		if err := pngrows.Compress(io.Discard, bytes.NewReader(file[:cut]), 6, 2); err == nil {
			t.Fatalf("the first %d of %d bytes are taken for a picture", cut, len(file))
		}
	}
	for at := len("\x89PNG\r\n\x1a\n"); at < len(file); at++ {
		damaged := bytes.Clone(file)
		damaged[at] ^= 0x20
		if err := pngrows.Compress(io.Discard, bytes.NewReader(damaged), 6, 2); err == nil {
			t.Fatalf("a file with another byte %d is taken for a picture", at)
		}
	}
	if err := pngrows.Compress(io.Discard, bytes.NewReader([]byte("\xff\xd8\xff\xe0")), 6, 2); !errors.Is(err, pngrows.ErrUnsupported) {
		t.Errorf("a JPEG: %v", err)
	}
}

func FuzzCompress(f *testing.F) {
	f.Add(grey(9, 5))
	f.Fuzz(func(t *testing.T, file []byte) {
		var out bytes.Buffer
		if pngrows.Compress(&out, bytes.NewReader(file), 1, 2) != nil {
			return
		}
		before, err := pixels.Read(bytes.NewReader(file))
		after, err2 := pixels.Read(&out)
		if (err == nil) != (err2 == nil) || before.SHA256 != after.SHA256 {
			t.Fatalf("before %+v %v, after %+v %v", before, err, after, err2)
		}
	})
}

// grey is a PNG of rows that pack well and do not repeat, stored as Blender does without
// compression.
func grey(width, height int) []byte {
	head := binary.BigEndian.AppendUint32(nil, uint32(width))
	head = append(binary.BigEndian.AppendUint32(head, uint32(height)), 8, 0, 0, 0, 0)
	var rows bytes.Buffer
	stored, _ := zlib.NewWriterLevel(&rows, zlib.NoCompression) // the level is one
	random := rand.New(rand.NewPCG(1, 2))
	for range height {
		row := make([]byte, 1+width)
		for i := range row[1:] {
			row[1+i] = byte(random.IntN(16))
		}
		_, _ = stored.Write(row)
	}
	_ = stored.Close()
	file := append([]byte("\x89PNG\r\n\x1a\n"), pixelstest.Chunk("IHDR", head)...)
	file = append(file, pixelstest.Chunk("tEXt", []byte("Frame\x001"))...)
	file = append(file, pixelstest.Chunk("IDAT", rows.Bytes())...)
	return append(file, pixelstest.Chunk("IEND", nil)...)
}

// sameButPacked compares a file with what Compress makes of it, and returns that one's size.
func sameButPacked(t interface{ Fatalf(string, ...any) }, file []byte, level, cores int) int {
	var out bytes.Buffer
	if err := pngrows.Compress(&out, bytes.NewReader(file), level, cores); err != nil {
		t.Fatalf("compress: %v", err)
	}
	size := out.Len()
	before, after := apart(t, file), apart(t, out.Bytes())
	if !bytes.Equal(before.rows, after.rows) {
		t.Fatalf("the rows differ at level %d on %d cores", level, cores)
	}
	if !bytes.Equal(before.rest, after.rest) {
		t.Fatalf("other chunks differ: %q, %q", before.rest, after.rest)
	}
	picture, err := pixels.Read(bytes.NewReader(file))
	packed, err2 := pixels.Read(&out)
	if err != nil || err2 != nil || picture != packed {
		t.Fatalf("before %+v %v, after %+v %v", picture, err, packed, err2)
	}
	return size
}

// parts are the rows of a PNG, and its other chunks as they are.
type parts struct{ rows, rest []byte }

func apart(t interface{ Fatalf(string, ...any) }, file []byte) (p parts) {
	var packed bytes.Buffer
	for rest := file[8:]; len(rest) > 0; {
		whole := 12 + int(binary.BigEndian.Uint32(rest))
		if string(rest[4:8]) == "IDAT" {
			packed.Write(rest[8 : whole-4])
		} else {
			p.rest = append(p.rest, rest[:whole]...)
		}
		rest = rest[whole:]
	}
	rows, err := zlib.NewReader(&packed)
	if err == nil {
		p.rows, err = io.ReadAll(rows)
	}
	if err != nil {
		t.Fatalf("unpack: %v", err)
	}
	return p
}
