package pixels

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"svc.example/internal/render/pixels/exr"
)

// Format is what a picture's bytes are. Blender writes these and no others.
//
// To add one: add its row in Formats with its reader, a file of it to the tests of this
// package, and its number to formats of package blendfile if that lacks it. `make generate`
// prints docs/pictures.md.
type Format struct {
	Name string
	// Blender are Blender's names of it, as files store them.
	Blender []string
	// Media is the media type for browsers; "" where they do not show it.
	Media string
	// Extensions are those that Blender gives its files, with the point.
	Extensions []string
	// Looked describes for people what Read checks.
	Looked string
	// is recognises the format by the first bytes of a file.
	is func(head []byte) bool
	// read reads the rest.
	read func(in *bufio.Reader, l *Limits) (Picture, error)
}

// HeadBytes is how many bytes of a file decide what it is.
const HeadBytes = 32

// Formats returns all formats. A file has the first one that recognises it: Targa has no
// mark of its own.
func Formats() []Format {
	starts := func(texts ...string) func([]byte) bool {
		return func(head []byte) bool {
			for _, text := range texts {
				if bytes.HasPrefix(head, []byte(text)) {
					return true
				}
			}
			return false
		}
	}
	const pixelwise = "Every pixel is decoded; black, pink and blank are seen."
	return []Format{
		{"png", []string{"PNG"}, "image/png", []string{".png"}, pixelwise + " Checksums, and that nothing follows the picture.", starts("\x89PNG"), readPNG},
		{"jpeg", []string{"JPEG"}, "image/jpeg", []string{".jpg"}, pixelwise + " That nothing follows the picture. A picture that takes too much memory is walked through by its markers.", starts("\xff\xd8\xff"), readJPEG},
		{"exr", []string{"OPEN_EXR", "OPEN_EXR_MULTILAYER"}, "", []string{".exr"}, "Every value of NONE, RLE, ZIPS, ZIP, PIZ, PXR24, B44 and B44A is decoded; black, pink, blank and invalid values are found. DWAA and DWAB are unpacked up to their waves. Numbers of rows and channels; nothing follows the picture.",
			starts(exr.Magic), readEXR},
		{"tiff", []string{"TIFF"}, "", []string{".tif"}, "Each strip is unpacked and counted (NONE, DEFLATE, LZW, PACKBITS), and every byte of the file belongs to the picture.", starts("II*\x00", "MM\x00*"), readTIFF},
		{"bmp", []string{"BMP"}, "", []string{".bmp"}, "Header, and the length of the rows.", starts("BM"), readBMP},
		{"hdr", []string{"HDR"}, "", []string{".hdr"}, "Header; the runs of each row are unpacked and counted.", starts("#?RADIANCE\n", "#?RGBE\n"), readHDR},
		{"dpx", []string{"DPX"}, "", []string{".dpx"}, "Header, and the length of the rows.", starts("SDPX", "XPDS"), readDPX},
		{"cineon", []string{"CINEON"}, "", []string{".cin"}, "Header, and the length of the rows.", starts("\x80\x2a\x5f\xd7"), readCineon},
		{"jp2", []string{"JPEG2000"}, "", []string{".jp2", ".j2c"}, "Boxes, markers and tiles are walked through to the end.", starts("\x00\x00\x00\x0cjP  \r\n\x87\n", "\xff\x4f\xff\x51"), readJP2},
		{"webp", []string{"WEBP"}, "image/webp", []string{".webp"}, "Decoded, where it fits the memory; otherwise its parts are walked through to the end.", func(head []byte) bool {
			return len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP"
		}, readWebP},
		{"iris", []string{"IRIS"}, "", []string{".rgb"}, pixelwise + " Every row is unpacked, and every byte of the file belongs to the picture.", starts("\x01\xda\x00\x01", "\x01\xda\x01\x01"), readIRIS},
		{"targa", []string{"TARGA", "TARGA_RAW"}, "", []string{".tga"}, "Header; the runs are unpacked and counted; nothing follows but the areas of version 2.", isTarga, readTarga},
	}
}

// FormatOf returns the format of a picture by its first bytes.
func FormatOf(head []byte) (Format, bool) {
	for _, f := range Formats() {
		if f.is(head) {
			return f, true
		}
	}
	return Format{}, false
}

// FormatNamed returns the format that Blender calls name.
func FormatNamed(name string) (Format, bool) {
	for _, f := range Formats() {
		if slices.Contains(f.Blender, name) {
			return f, true
		}
	}
	return Format{}, false
}

// Limits bound the memory that reading takes, and report what a file claims to be before
// that is taken.
type Limits struct {
	// Pixels is the most that a picture may have; 0 means MaxPixels.
	Pixels int64
	// Memory is the most bytes that reading may take; 0 means no bound. Only the structure is
	// looked at of a picture whose pixels take more.
	Memory int64
	// Size is how long the file is; 0 where it is not known.
	Size int64
	// Claims is called with the format and the size, in pixels, as soon as they are known;
	// Takes with the bytes that reading takes, before it takes them. An error of theirs ends
	// the reading and is returned. nil is allowed.
	Claims func(format string, width, height int) error
	Takes  func(bytes int64) error
}

// DecodingMemory is the most memory, in bytes, that decoding a file of so many bytes may
// take: a small file cannot unfold into gigabytes.
func DecodingMemory(size int64) int64 { return max(64<<20, 20*size) }

// claims checks a size and reports it.
func (l *Limits) claims(format string, width, height int) error {
	most := min(MaxPixels, l.Pixels)
	if l.Pixels == 0 {
		most = MaxPixels
	}
	if width < 1 || height < 1 {
		return fmt.Errorf("the %s picture is %dx%d: it has no pixels", format, width, height)
	}
	if int64(width)*int64(height) > most {
		return tooLarge(format, width, height, most)
	}
	if l.Claims != nil {
		return l.Claims(format, width, height)
	}
	return nil
}

// fits reports whether so many bytes may be taken.
func (l *Limits) fits(bytes int64) bool { return l.Memory == 0 || bytes <= l.Memory }

// takes reports bytes that reading takes.
func (l *Limits) takes(bytes int64) error {
	if l.Takes != nil {
		return l.Takes(bytes)
	}
	return nil
}

// whole reads a file whose parts lie in any order. The caller takes its memory for as long
// as the reading lasts.
func (l *Limits) whole(in io.Reader) ([]byte, error) {
	if !l.fits(2 * l.Size) {
		return nil, fmt.Errorf("the file has %d bytes: more than fit into memory", l.Size)
	}
	if err := l.takes(2 * l.Size); err != nil { // it grows while it is read
		return nil, err
	}
	most := int64(1) << 40
	if l.Size > 0 {
		most = l.Size + 1
	}
	return io.ReadAll(io.LimitReader(in, most))
}

// Read reads a picture to its end, hashes its pixels and looks for defects. It takes the
// format from the first bytes, never from a name. Errors: ErrUnsupported, and those of a
// file that is cut, damaged, larger than MaxPixels or longer than its picture.
func Read(r io.Reader) (Picture, error) { return ReadWithin(r, Limits{}) }

// ReadAtMost is Read, but refuses a picture of more than most pixels before it
// decodes anything: a few hundred bytes can claim gigabytes.
func ReadAtMost(r io.Reader, most int64) (Picture, error) {
	return ReadWithin(r, Limits{Pixels: most})
}

// ReadWithin is Read within limits.
func ReadWithin(r io.Reader, l Limits) (Picture, error) {
	in := bufio.NewReader(r)
	// Peek leaves the bytes in place: every reader wants the file from its start.
	head, err := in.Peek(HeadBytes)
	if len(head) < 4 {
		return Picture{}, fmt.Errorf("read the picture's first bytes: %w", noEOF(err))
	}
	f, ok := FormatOf(head)
	if !ok {
		return Picture{}, ErrUnsupported
	}
	p, err := f.read(in, &l)
	if err == nil {
		err = atEnd(in)
	}
	if err != nil {
		return Picture{}, err
	}
	p.Format = f.Name
	return p, nil
}

// atEnd refuses bytes that follow a picture.
func atEnd(in io.Reader) error {
	if n, err := io.ReadFull(in, make([]byte, 1)); n > 0 {
		return errors.New("bytes follow the picture")
	} else if err != io.EOF {
		return err
	}
	return nil
}

// structured is a picture whose structure alone was looked at.
func structured(width, height int) Picture { return Picture{Width: width, Height: height} }

// rest reads what must be exactly n bytes.
func rest(in io.Reader, n int64) error {
	_, err := io.CopyN(io.Discard, in, n)
	return noEOF(err)
}

// head reads the first n bytes of a file, which stay in place.
func head(in *bufio.Reader, format string, n int) ([]byte, error) {
	h, err := in.Peek(n)
	if err != nil {
		return nil, fmt.Errorf("read the %s picture's header: %w", format, noEOF(err))
	}
	return h, nil
}

func readBMP(in *bufio.Reader, l *Limits) (Picture, error) {
	h, err := head(in, "bmp", 54)
	if err != nil {
		return Picture{}, err
	}
	le := binary.LittleEndian
	size, offset := int64(le.Uint32(h[2:])), int64(le.Uint32(h[10:]))
	width, height, bits := int(int32(le.Uint32(h[18:]))), int(int32(le.Uint32(h[22:]))), int64(le.Uint16(h[28:]))
	if height < 0 {
		height = -height // from the top down
	}
	if le.Uint32(h[14:]) < 40 || le.Uint32(h[30:]) != 0 || (bits != 8 && bits != 24 && bits != 32) || offset < 54 {
		return Picture{}, errors.New("the bmp picture is of a kind that Blender does not write")
	}
	if err := l.claims("bmp", width, height); err != nil {
		return Picture{}, err
	}
	want := offset + (int64(width)*bits+31)/32*4*int64(height)
	if size != want {
		return Picture{}, fmt.Errorf("the bmp picture says that it has %d bytes, and its rows need %d", size, want)
	}
	return structured(width, height), rest(in, want)
}

func readDPX(in *bufio.Reader, l *Limits) (Picture, error) {
	h, err := head(in, "dpx", 812)
	if err != nil {
		return Picture{}, err
	}
	var order binary.ByteOrder = binary.BigEndian
	if h[0] == 'X' {
		order = binary.LittleEndian
	}
	width, height := int(int32(order.Uint32(h[772:]))), int(int32(order.Uint32(h[776:])))
	values, ok := map[byte]int64{6: 1, 50: 3, 51: 4}[h[800]] // grey, colours, with alpha
	offset, size := int64(order.Uint32(h[4:])), int64(order.Uint32(h[16:]))
	rows := dpxRows(h[803], order.Uint16(h[804:]), int64(width)*values)
	at := slices.IndexFunc(rows, func(row int64) bool { return offset+row*int64(height) == size })
	if !ok || at < 0 || order.Uint16(h[770:]) != 1 || order.Uint16(h[806:]) != 0 {
		return Picture{}, errors.New("the dpx picture is of a kind that Blender does not write")
	}
	return readLines(in, l, "dpx", width, height, offset, rows[at])
}

// dpxRows are how many bytes a row of so many values can have: Blender's own writer fills the
// words of 8 bits and spreads 12 bits, OpenImageIO, which newer versions use, does neither. The
// size that the header states says which one it was.
func dpxRows(bits byte, packing uint16, values int64) []int64 {
	switch {
	case bits == 8:
		return []int64{(values + 3) / 4 * 4, values}
	case bits == 10 && packing == 1:
		return []int64{(values + 2) / 3 * 4}
	case bits == 12 && packing == 0:
		return []int64{(12*values + 31) / 32 * 4}
	case (bits == 12 && packing == 1) || bits == 16:
		return []int64{values * 2}
	}
	return nil
}

func readCineon(in *bufio.Reader, l *Limits) (Picture, error) {
	h, err := head(in, "cineon", 280)
	if err != nil {
		return Picture{}, err
	}
	be := binary.BigEndian
	width, height := int(int32(be.Uint32(h[200:]))), int(int32(be.Uint32(h[204:])))
	if h[193] != 3 || h[198] != 10 {
		return Picture{}, errors.New("the cineon picture is of a kind that Blender does not write")
	}
	return readLines(in, l, "cineon", width, height, int64(be.Uint32(h[4:])), 4*int64(width))
}

// readLines reads a picture of plain rows that begin at offset.
func readLines(in *bufio.Reader, l *Limits, format string, width, height int, offset, row int64) (Picture, error) {
	if err := l.claims(format, width, height); err != nil {
		return Picture{}, err
	}
	if err := rest(in, offset+row*int64(height)); err != nil {
		return Picture{}, fmt.Errorf("read the %s picture's rows: %w", format, err)
	}
	return structured(width, height), nil
}

// isTarga recognises the headers that Blender writes: no colour map, colours or grey, plain
// or in runs.
func isTarga(h []byte) bool {
	if len(h) < 18 || h[1] != 0 || !bytes.Equal(h[3:8], make([]byte, 5)) {
		return false
	}
	grey, colours := h[2] == 3 || h[2] == 11, h[2] == 2 || h[2] == 10
	return (grey && h[16] == 8) || (colours && (h[16] == 24 || h[16] == 32))
}

func readTarga(in *bufio.Reader, l *Limits) (Picture, error) {
	h, err := head(in, "targa", 18)
	if err != nil {
		return Picture{}, err
	}
	width, height := int(binary.LittleEndian.Uint16(h[12:])), int(binary.LittleEndian.Uint16(h[14:]))
	inRuns, pixel, remark := h[2] >= 8, int(h[16])/8, int64(h[0])
	if err := l.claims("targa", width, height); err != nil {
		return Picture{}, err
	}
	left, end := int64(width)*int64(height), 18+remark
	err = rest(in, end)
	if !inRuns && err == nil {
		end += left * int64(pixel)
		err, left = rest(in, left*int64(pixel)), 0
	}
	for left > 0 && err == nil {
		var run byte
		if run, err = in.ReadByte(); err != nil {
			break
		}
		n, bytes := int(run&0x7f)+1, pixel
		if run < 0x80 {
			bytes *= n
		}
		if left -= int64(n); left < 0 {
			return Picture{}, errors.New("decode the targa picture: it has more pixels than its size")
		}
		_, err = in.Discard(bytes)
		end += 1 + int64(bytes)
	}
	if err != nil {
		return Picture{}, fmt.Errorf("decode the targa picture: %w", noEOF(err))
	}
	return structured(width, height), targaFooter(in, end)
}

// targaFooter reads what newer files have after the picture, which ends at end: a mark, and
// before it the area of extensions that OpenImageIO writes, to which the mark points.
func targaFooter(in *bufio.Reader, end int64) error {
	const extensions, mark = 495, 26
	foot, _ := in.Peek(extensions + mark + 1)
	area := len(foot) - mark
	switch {
	case area != 0 && area != extensions, string(foot[area+8:]) != "TRUEVISION-XFILE.\x00":
		return nil // the caller refuses what follows
	case area == extensions && (binary.LittleEndian.Uint16(foot) != extensions || int64(binary.LittleEndian.Uint32(foot[area:])) != end):
		return nil
	}
	_, err := in.Discard(len(foot))
	return err
}

func readHDR(in *bufio.Reader, l *Limits) (Picture, error) {
	width, height, err := hdrSize(in)
	if err != nil {
		return Picture{}, fmt.Errorf("read the hdr picture's header: %w", noEOF(err))
	}
	if err := l.claims("hdr", width, height); err != nil {
		return Picture{}, err
	}
	for y := range height {
		if err := hdrRow(in, width); err != nil {
			return Picture{}, fmt.Errorf("decode row %d of the hdr picture: %w", y, noEOF(err))
		}
	}
	return structured(width, height), nil
}

// hdrSize reads lines of text up to an empty one, and the one with the size.
func hdrSize(in *bufio.Reader) (width, height int, err error) {
	for range 1000 {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		if len(line) > 1 {
			continue
		}
		if line, err = in.ReadSlice('\n'); err != nil {
			return 0, 0, err
		}
		_, err = fmt.Sscanf(string(line), "-Y %d +X %d\n", &height, &width)
		return width, height, err
	}
	return 0, 0, errors.New("it does not end")
}

// hdrRow reads a row: runs of each of four values, where the row begins by saying so, or
// plain pixels.
func hdrRow(in *bufio.Reader, width int) error {
	mark, err := in.Peek(4)
	if err != nil {
		return err
	}
	if width < 8 || width > 0x7fff || mark[0] != 2 || mark[1] != 2 || mark[2] >= 0x80 {
		return rest(in, 4*int64(width))
	}
	if int(binary.BigEndian.Uint16(mark[2:])) != width {
		return errors.New("it has another width")
	}
	_, _ = in.Discard(4)
	for range 4 {
		for left := width; left > 0; {
			n, err := in.ReadByte()
			if err != nil {
				return err
			}
			bytes, run := 1, int(n)-128
			if n <= 128 {
				bytes, run = int(n), int(n)
			}
			if left -= run; run == 0 || left < 0 {
				return errors.New("its runs have another length")
			}
			if _, err := in.Discard(bytes); err != nil {
				return err
			}
		}
	}
	return nil
}
