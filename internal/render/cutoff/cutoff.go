// Package cutoff tells which files of a scene end too early, as those of a broken copy or an
// interrupted download do. Blender shows such a picture in magenta or in part, and leaves out
// such a font, film or cache.
//
// It reads the first bytes of a file and its last ones, and little between them. What
// always holds: it names a file only if something in it must lie beyond its end. It says nothing
// of a file of another kind, of a damaged one, and of one that may have something after its
// picture. A warning about a good file does harm.
//
// To add a kind of file, add a row to kinds. Start reading at Is.
package cutoff

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"strings"

	"svc.example/internal/render/pixels/exr"
)

const (
	headBytes  = 1 << 10
	tailBytes  = 64 << 10
	mostEXR    = 1 << 20 // of an OpenEXR header and its table of offsets
	mostChunks = 1 << 16 // of a PNG
	mostBoxes  = 1 << 12 // of a film
)

// file is what is read of a file.
type file struct {
	size int64
	in   io.ReaderAt
	head []byte
}

// kinds are the kinds of files by their first bytes, each with the function that reports whether
// one of them is cut off.
var kinds = []struct {
	from  int // where the magic is
	magic string
	cut   func(f file) bool
}{
	{0, "\x89PNG\r\n\x1a\n", cutPNG},
	{0, "\xff\xd8\xff", cutJPEG},
	{0, "RIFF", func(f file) bool { return f.lacks(8+int64(f.little32(4))) && f.little32(4) < 1<<31 }}, // a WAV that is written as a stream has a larger number
	{0, "II*\x00", func(f file) bool { return cutTIFF(f, binary.LittleEndian) }},
	{0, "MM\x00*", func(f file) bool { return cutTIFF(f, binary.BigEndian) }},
	{0, exr.Magic, cutEXR},
	{0, "BM", cutBMP},
	{0, "\x00\x00\x00\x0cjP  \r\n\x87\n", cutJP2},
	{0, "\xff\x4f\xff\x51", func(f file) bool { return !f.endsWith("\xff\xd9") }},
	{0, "SDPX", func(f file) bool { return cutDPX(f, binary.BigEndian) }},
	{0, "XPDS", func(f file) bool { return cutDPX(f, binary.LittleEndian) }},
	{0, "\x80\x2a\x5f\xd7", cutCineon},
	{0, "\x00\x01\x00\x00", cutFont},
	{0, "OTTO", cutFont},
	{0, "true", cutFont},
	{0, "Ogawa", func(f file) bool { return f.at(5) != 0xff || f.lacks64(8) }}, // Alembic: closed, and where its root is
	{0, "PXR-USDC", func(f file) bool { return f.lacks64(16) }},                // USD: where its table of contents is
	{0, "\x1a\x45\xdf\xa3", cutMatroska},
	{4, "ftyp", cutMP4},
}

// Is reports whether a file of size bytes is certainly cut off. A file that cannot be read is
// not.
func Is(size int64, in io.ReaderAt) bool {
	f := file{size: size, in: in}
	if f.head = f.read(0, headBytes); f.head == nil {
		return false
	}
	for _, k := range kinds {
		if strings.HasPrefix(string(f.head[min(k.from, len(f.head)):]), k.magic) {
			return k.cut(f)
		}
	}
	return false
}

// read returns up to n bytes from a place on; nil if the file cannot be read.
func (f file) read(from, n int64) []byte {
	p := make([]byte, max(0, min(n, f.size-from)))
	if read, err := f.in.ReadAt(p, from); read < len(p) || err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return p
}

// at is a byte of the head; 0 after its end, as for the numbers below.
func (f file) at(i int) byte {
	if i < len(f.head) {
		return f.head[i]
	}
	return 0
}

func (f file) number(order binary.ByteOrder, from, bytes int) uint64 {
	switch {
	case from+bytes > len(f.head):
		return 0
	case bytes == 2:
		return uint64(order.Uint16(f.head[from:]))
	case bytes == 4:
		return uint64(order.Uint32(f.head[from:]))
	}
	return order.Uint64(f.head[from:])
}

func (f file) little32(from int) uint32 {
	return uint32(f.number(binary.LittleEndian, from, 4))
}

func (f file) big32(from int) uint32 {
	return uint32(f.number(binary.BigEndian, from, 4))
}

// lacks reports that the file has fewer bytes than it must have.
func (f file) lacks(bytes int64) bool { return f.size < bytes }

// lacks64 reports that what an offset names lies at the file's end or beyond.
func (f file) lacks64(from int) bool {
	return f.number(binary.LittleEndian, from, 8) >= uint64(f.size)
}

// endsWith reports that something is in the last bytes, or that these cannot be read.
func (f file) endsWith(end string) bool {
	tail := f.read(max(0, f.size-tailBytes), tailBytes)
	return tail == nil || bytes.Contains(tail, []byte(end))
}

// cutPNG looks for the last chunk, which has no content and always the same checksum, at the end
// of the file. If it is not there, something may follow it: then the chunks tell, each with its
// length and its type.
func cutPNG(f file) bool {
	if f.endsWith("\x00\x00\x00\x00IEND\xae\x42\x60\x82") {
		return false
	}
	from := int64(8)
	for range mostChunks {
		chunk := f.read(from, 8)
		if len(chunk) < 8 {
			return chunk != nil
		}
		if from += 12 + int64(binary.BigEndian.Uint32(chunk)); f.lacks(from) {
			return true
		}
		if string(chunk[4:]) == "IEND" {
			return false
		}
	}
	return false
}

// cutJPEG reports that the last bytes are those of the picture itself: a 0xff in them is
// followed by a zero, by the number of a restart, or by the beginning of another scan. Whatever
// cameras write after the picture looks otherwise.
func cutJPEG(f file) bool {
	tail := f.read(max(0, f.size-tailBytes), tailBytes)
	for {
		i := bytes.IndexByte(tail, 0xff)
		if i < 0 || i == len(tail)-1 {
			return tail != nil
		}
		switch m := tail[i+1]; {
		case m == 0, m >= 0xd0 && m <= 0xd7, m == 0xda, m == 0xc4, m == 0xdd, m == 0xff:
		default:
			return f.size <= tailBytes && !bytes.Contains(tail[i:], []byte("\xff\xd9")) // a small one, header included
		}
		tail = tail[i+1:]
	}
}

// cutTIFF finds the first directory, which most programs write last: a count, entries of 12
// bytes, and where the next directory is. An entry has its tag, the type and number of its
// values, and the values themselves or their place.
func cutTIFF(f file, order binary.ByteOrder) bool {
	const entry, inside = 12, 4
	from := int64(f.number(order, 4, 4))
	count := f.read(from, 2)
	if f.lacks(from+2) || count == nil {
		return f.lacks(from + 2)
	}
	entries := f.read(from+2, entry*int64(order.Uint16(count)))
	if f.lacks(from + 2 + entry*int64(order.Uint16(count)) + 4) {
		return true
	}
	for ; len(entries) >= entry; entries = entries[entry:] {
		bytes := int64(order.Uint32(entries[4:])) * map[uint16]int64{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1}[order.Uint16(entries[2:])]
		if bytes > inside && f.lacks(int64(order.Uint32(entries[8:]))+bytes) {
			return true
		}
	}
	return false
}

// cutEXR finds the chunk that lies last.
func cutEXR(f file) bool {
	e, err := exr.Open(bufio.NewReader(io.NewSectionReader(f.in, 0, min(f.size, mostEXR))))
	if err != nil {
		return errors.Is(err, io.ErrUnexpectedEOF) && f.size < mostEXR
	}
	last, err := e.LastChunk()
	if err != nil {
		return errors.Is(err, io.ErrUnexpectedEOF) && f.size < mostEXR
	}
	if last > f.size-8 {
		return true
	}
	chunk := f.read(last, 8) // its first row, its size
	return chunk != nil && f.lacks(last+8+int64(binary.LittleEndian.Uint32(chunk[4:])))
}

// cutBMP knows how many bytes pixels without compression take.
func cutBMP(f file) bool {
	const infoHeader = 40
	if f.little32(14) < infoHeader || f.little32(30) != 0 {
		return false
	}
	width, height, bits := int64(int32(f.little32(18))), int64(int32(f.little32(22))), int64(f.number(binary.LittleEndian, 28, 2))
	if height < 0 { // from the top down
		height = -height
	}
	return width > 0 && width < 1<<20 && height < 1<<20 && f.lacks(int64(f.little32(10))+height*((width*bits+31)/32*4))
}

// cutJP2 finds the picture among the boxes. If it has no length, it reaches to the file's end.
func cutJP2(f file) bool {
	i := bytes.Index(f.head, []byte("jp2c"))
	if i < 4 {
		return false
	}
	if length := int64(f.big32(i - 4)); length > 1 {
		return f.lacks(int64(i) - 4 + length)
	}
	return !f.endsWith("\xff\xd9")
}

// cutDPX counts the bits of pixels that are neither compressed nor of several pictures. Those of
// 10 bits fill a word of 4 bytes with three of them.
func cutDPX(f file, order binary.ByteOrder) bool {
	const one, rgb, rgba = 1, 50, 51
	if f.number(order, 770, 2) != one || f.number(order, 806, 2) != 0 {
		return false
	}
	channels := map[byte]int64{rgb: 3, rgba: 4}[f.at(800)]
	if channels == 0 {
		channels = 1
	}
	return cutFilm(f, int64(f.number(order, 4, 4)), int64(f.number(order, 772, 4)), int64(f.number(order, 776, 4)), channels*int64(f.at(803)))
}

func cutCineon(f file) bool {
	return cutFilm(f, int64(f.big32(4)), int64(f.big32(200)), int64(f.big32(204)), int64(f.at(193))*int64(f.at(198)))
}

func cutFilm(f file, from, width, height, bits int64) bool {
	return width > 0 && width < 1<<20 && height < 1<<20 && from < 1<<31 && f.lacks(from+width*height*bits/8)
}

// cutFont reads the table of an OpenType or TrueType font: each entry has a place and a length.
func cutFont(f file) bool {
	for i := range int(f.number(binary.BigEndian, 4, 2)) {
		entry := 12 + 16*i
		if entry+16 > len(f.head) {
			return f.lacks(int64(entry) + 16)
		}
		if f.lacks(int64(f.big32(entry+8)) + int64(f.big32(entry+12))) {
			return true
		}
	}
	return false
}

// cutMP4 follows the boxes of a film, each with its length and its type. One that has samples
// needs a table of them.
func cutMP4(f file) bool {
	samples, table := false, false
	for from, n := int64(0), 0; n < mostBoxes; n++ {
		box := f.read(from, 16)
		if len(box) < 8 {
			return box != nil && (len(box) > 0 || samples && !table)
		}
		samples = samples || string(box[4:8]) == "mdat"
		table = table || string(box[4:8]) == "moov" || string(box[4:8]) == "moof"
		length := uint64(binary.BigEndian.Uint32(box))
		switch {
		case length == 0: // to the end of the file
			return samples && !table
		case length == 1 && len(box) == 16:
			length = binary.BigEndian.Uint64(box[8:])
		}
		if length < 8 {
			return false
		}
		if length > uint64(f.size-from) {
			return true
		}
		from += int64(length)
	}
	return false
}

// cutMatroska finds the length of the one segment that follows the header. That of a live
// recording is not known.
func cutMatroska(f file) bool {
	header, begin := ebmlLength(f, 4)
	if begin == 0 || header > headBytes/2 {
		return false
	}
	from := begin + int(header)
	if f.number(binary.BigEndian, from, 4) != 0x18538067 {
		return false
	}
	length, begin := ebmlLength(f, from+4)
	return begin > 0 && length > uint64(max(0, f.size-int64(begin)))
}

// ebmlLength reads a length in the head, and where what has it begins; 0 if it is not known. The
// zeros at the front of the first byte tell how many bytes follow it.
func ebmlLength(f file, from int) (length uint64, begin int) {
	more := bits.LeadingZeros8(f.at(from))
	if more > 7 || from+more >= len(f.head) {
		return 0, 0
	}
	length = uint64(f.at(from)) & (1<<(7-more) - 1)
	for i := range more {
		length = length<<8 | uint64(f.at(from+1+i))
	}
	if length == 1<<(7*(more+1))-1 { // all ones
		return 0, 0
	}
	return length, from + more + 1
}
