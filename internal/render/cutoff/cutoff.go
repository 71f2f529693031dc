// Package cutoff tells which files of a scene end too early, as those of a broken copy or an
// interrupted download do. Blender shows such a picture in magenta or in part, and leaves out
// such a font, film or cache.
//
// It reads the first bytes of a file and its last ones, and little between them. Only of a file
// whose length follows from all of its content does it read all, as far as a budget allows. What
// always holds: it names a file only if something in it must lie beyond its end. It says nothing
// of a file of another kind, of a damaged one, and of one that may have something after its
// picture. A warning about a good file does harm.
//
// To add a kind of file, add a row to kinds, or to named if only its name says what it is. Start
// reading at Is.
package cutoff

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"path"
	"strings"

	"svc.example/internal/render/pixels/exr"
)

const (
	headBytes  = 1 << 10
	tailBytes  = 64 << 10
	atOnce     = 1 << 20
	mostTable  = 1 << 20 // of a table of places in a file
	mostEXR    = 1 << 20 // of an OpenEXR header and its table of offsets
	mostChunks = 1 << 16 // of a PNG
	mostBoxes  = 1 << 12 // of a film
)

// file is what is read of a file.
type file struct {
	size    int64
	in      io.ReaderAt
	head    []byte
	through *int64 // how many bytes may be read of files that are read as a whole
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
	{0, "II*\x00", func(f file) bool { return cutTIFF(f, classicTIFF(binary.LittleEndian)) }},
	{0, "MM\x00*", func(f file) bool { return cutTIFF(f, classicTIFF(binary.BigEndian)) }},
	{0, "II+\x00", func(f file) bool { return cutTIFF(f, bigTIFF(binary.LittleEndian)) }},
	{0, "MM\x00+", func(f file) bool { return cutTIFF(f, bigTIFF(binary.BigEndian)) }},
	{0, exr.Magic, cutEXR},
	{0, "BM", cutBMP},
	{0, "\x00\x00\x00\x0cjP  \r\n\x87\n", cutJP2},
	{0, "\xff\x4f\xff\x51", func(f file) bool { return !f.endsWith("\xff\xd9") }},
	{0, "SDPX", func(f file) bool { return cutDPX(f, binary.BigEndian) }},
	{0, "XPDS", func(f file) bool { return cutDPX(f, binary.LittleEndian) }},
	{0, "\x80\x2a\x5f\xd7", cutCineon},
	{0, "#?", cutRadiance},
	{0, "\x01\xda", cutIris},
	{0, "8BPS", cutPSD},
	{0, "DDS ", cutDDS},
	{0, "\x00\x01\x00\x00", cutFont},
	{0, "OTTO", cutFont},
	{0, "true", cutFont},
	{0, "ttcf", cutCollection},
	{0, "wOFF", func(f file) bool { return f.lacks(int64(f.big32(8))) }},
	{0, "wOF2", func(f file) bool { return f.lacks(int64(f.big32(8))) }},
	{0, "\x80\x01", cutPFB},
	{0, " BDV\x00\x00\x00\x00", cutVDB},
	{0, "POINTCACHE2\x00", cutPC2},
	{0, "Ogawa", func(f file) bool { return f.at(5) != 0xff || f.lacks64(8) }}, // Alembic: closed, and where its root is
	{0, "PXR-USDC", func(f file) bool { return f.lacks64(16) }},                // USD: where its table of contents is
	{0, "#usda ", cutUSDA},
	{0, "PK\x03\x04", func(f file) bool { return !f.endsWith("PK\x05\x06") }}, // a USDZ: its list of contents
	{0, "RIFF", cutRIFF},
	{0, "RF64", func(f file) bool {
		return string(f.head[12:min(16, len(f.head))]) == "ds64" && f.lacks(8+int64(f.number(binary.LittleEndian, 20, 8)))
	}},
	{0, "FORM", func(f file) bool { return f.lacks(8 + int64(f.big32(4))) }}, // AIFF
	{0, "OggS", cutOgg},
	{0, "fLaC", cutFLAC},
	{0, "\x1a\x45\xdf\xa3", cutMatroska},
	{4, "ftyp", cutMP4},
	{4, "moov", cutMP4}, // of QuickTime, which has them in any order
	{4, "mdat", cutMP4},
	{4, "wide", cutMP4},
}

// named are the kinds of files that have no magic, by their extensions.
var named = map[string]func(f file) bool{
	".tga": cutTarga, ".vda": cutTarga, ".icb": cutTarga, ".vst": cutTarga,
	".mdd": cutMDD, ".ies": cutIES, ".mp3": cutMP3,
}

// Is reports whether a file of size bytes is certainly cut off. A file that cannot be read is
// not. through is how many bytes may still be read of files that have to be read as a whole; those
// that are larger are not judged.
func Is(name string, size int64, in io.ReaderAt, through *int64) bool {
	f := file{size: size, in: in, through: through}
	if f.head = f.read(0, headBytes); f.head == nil {
		return false
	}
	for _, k := range kinds {
		if strings.HasPrefix(string(f.head[min(k.from, len(f.head)):]), k.magic) {
			return k.cut(f)
		}
	}
	cut := named[strings.ToLower(path.Ext(name))]
	return cut != nil && cut(f)
}

// whole reads the file from its beginning to its end; nil if that is more than may be read.
func (f file) whole() *bufio.Reader {
	if f.size > *f.through {
		return nil
	}
	*f.through -= f.size
	return bufio.NewReaderSize(io.NewSectionReader(f.in, 0, f.size), int(min(f.size, atOnce)))
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

func (f file) little16(from int) uint16 {
	return uint16(f.number(binary.LittleEndian, from, 2))
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

// cutEXR finds the chunk that lies last.
func cutEXR(f file) bool {
	last, before, err := exr.End(bufio.NewReaderSize(io.NewSectionReader(f.in, 0, min(f.size, mostEXR)), tailBytes))
	switch {
	case err != nil:
		return errors.Is(err, io.ErrUnexpectedEOF) && f.size < mostEXR
	case last > f.size-before-4:
		return true
	}
	chunk := f.read(last, before+4)
	return chunk != nil && f.lacks(last+before+4+int64(binary.LittleEndian.Uint32(chunk[before:])))
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
