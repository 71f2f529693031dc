package pixelstest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"

	"pgregory.net/rapid"
)

// PNG writes a PNG of any kind that package pngrows reads row by row, or of one with a
// transparent colour, with rows of any filter and chunks cut anywhere.
func PNG(t *rapid.T) []byte {
	width, height := rapid.IntRange(1, 9).Draw(t, "width"), rapid.IntRange(1, 9).Draw(t, "height")
	kind := rapid.SampledFrom([]byte{0, 2, 4, 6}).Draw(t, "kind")
	bytesOfValue := rapid.IntRange(1, 2).Draw(t, "bytes")
	channels := map[byte]int{0: 1, 2: 3, 4: 2, 6: 4}[kind]
	head := binary.BigEndian.AppendUint32(nil, uint32(width))
	head = append(binary.BigEndian.AppendUint32(head, uint32(height)), byte(8*bytesOfValue), kind, 0, 0, 0)
	file := append([]byte("\x89PNG\r\n\x1a\n"), Chunk("IHDR", head)...)
	file = append(file, Chunk("tEXt", []byte("Software\x00none"))...)
	if kind <= 2 && rapid.Bool().Draw(t, "transparent") {
		file = append(file, Chunk("tRNS", rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1}), 2*channels, 2*channels).Draw(t, "key"))...)
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
		file = append(file, Chunk("IDAT", rest[:n])...)
		rest = rest[n:]
	}
	file = append(file, Chunk("tIME", make([]byte, 7))...)
	return append(file, Chunk("IEND", nil)...)
}

// Chunk is a chunk of a PNG, with its checksum.
func Chunk(kind string, content []byte) []byte {
	out := append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), kind...)
	out = append(out, content...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}
