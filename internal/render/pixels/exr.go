package pixels

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// The facts used here of the OpenEXR file layout, all little-endian: magic number,
// version field, header (attributes of name\0 type\0 size value, ended by an
// empty name), a table of one 8-byte offset for each chunk, the chunks. A chunk of
// a scan-line file is its first row (int32), its size (int32) and that many bytes.

// exrMagic is the magic number, the first four bytes of every OpenEXR file.
var exrMagic = [4]byte{0x76, 0x2f, 0x31, 0x01}

// Flags of the version field that mean other layouts: tiles, deep pixels and
// several parts. Blender writes none of them for a multi-layer picture.
const exrOtherLayouts = 0x200 | 0x800 | 0x1000

const (
	// maxEXRHeader bounds the bytes of all attributes; those of a thousand layers
	// take a tenth of it.
	maxEXRHeader = 1 << 20
	// maxEXRChunk bounds one chunk, which is held in memory: 1 GiB.
	maxEXRChunk = 1 << 30
)

// exrRows is how many rows a chunk holds, by compression: none, RLE, ZIPS, ZIP,
// PIZ, PXR24, B44, B44A, DWAA, DWAB.
var exrRows = [...]int{1, 1, 1, 16, 32, 16, 32, 32, 32, 256}

// exrMeaning names the attributes that are hashed, in this order. The others are
// remarks, among them the date and time of the render, which differ between equal
// pictures.
var exrMeaning = []string{"channels", "compression", "dataWindow", "displayWindow", "lineOrder"}

// readEXR hashes a file as it is stored and looks for defects in the chunks on the
// way. The table of offsets is skipped: the chunks of such a file follow each
// other.
func readEXR(r *bufio.Reader, most int64) (Picture, error) {
	attributes, err := readEXRHeader(r)
	if err != nil {
		return Picture{}, err
	}
	p, rows, err := exrSize(attributes, most)
	if err != nil {
		return Picture{}, err
	}
	chunks := (p.Height + rows - 1) / rows
	if _, err := io.CopyN(io.Discard, r, 8*int64(chunks)); err != nil {
		return Picture{}, fmt.Errorf("read the OpenEXR offsets: %w", noEOF(err))
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "svc-exr-v1 %d %d\n", p.Width, p.Height)
	for _, name := range exrMeaning {
		fmt.Fprintf(sum, "%s %d\n", name, len(attributes[name]))
		sum.Write(attributes[name])
	}
	detector, chunk := newEXRDetector(attributes, p, rows), bytes.Buffer{}
	for i := range chunks {
		chunk.Reset()
		err := copyEXRChunk(io.MultiWriter(sum, &chunk), r)
		if err == nil {
			err = detector.chunk(chunk.Bytes()[exrChunkHead:])
		}
		if err != nil {
			return Picture{}, fmt.Errorf("read OpenEXR chunk %d of %d: %w", i+1, chunks, noEOF(err))
		}
	}
	p.Defects = detector.defects()
	p.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return p, nil
}

// readEXRHeader returns the attributes' values by name. All of them together are
// bounded by maxEXRHeader, since each is kept.
func readEXRHeader(r *bufio.Reader) (map[string][]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("read the OpenEXR version: %w", noEOF(err))
	}
	if binary.LittleEndian.Uint32(head[4:])&exrOtherLayouts != 0 {
		return nil, fmt.Errorf("the OpenEXR file has tiles, deep pixels or several parts: %w", ErrUnsupported)
	}
	attributes := make(map[string][]byte)
	for left := maxEXRHeader; ; {
		name, value, err := readEXRAttribute(r, left)
		if err != nil {
			return nil, fmt.Errorf("read the OpenEXR header: %w", noEOF(err))
		}
		if name == "" {
			return attributes, nil
		}
		left -= len(name) + len(value)
		attributes[name] = value
	}
}

// readEXRAttribute reads one attribute, of at most left bytes. It returns an empty
// name at the header's end.
func readEXRAttribute(r *bufio.Reader, left int) (name string, value []byte, err error) {
	if name, err = readEXRName(r); err != nil || name == "" {
		return "", nil, err
	}
	if _, err = readEXRName(r); err != nil {
		return "", nil, err
	}
	var size [4]byte
	if _, err = io.ReadFull(r, size[:]); err != nil {
		return "", nil, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if int64(n)+int64(len(name)) > int64(left) {
		return "", nil, errors.New("its attributes are too long")
	}
	value = make([]byte, n)
	_, err = io.ReadFull(r, value)
	return name, value, err
}

// readEXRName reads a text that ends with a zero byte, of at most 255 bytes.
func readEXRName(r *bufio.Reader) (string, error) {
	var name []byte
	for len(name) < 256 {
		c, err := r.ReadByte()
		if err != nil {
			return "", err
		}
		if c == 0 {
			return string(name), nil
		}
		name = append(name, c)
	}
	return "", errors.New("a name is too long")
}

// exrSize reads the picture's size and how many rows a chunk holds. It computes in
// 64 bits, because the corners of a hostile window may be as far apart as 32 bits
// allow.
func exrSize(attributes map[string][]byte, most int64) (p Picture, rows int, err error) {
	for _, name := range exrMeaning {
		if attributes[name] == nil {
			return Picture{}, 0, fmt.Errorf("the OpenEXR header has no %s", name)
		}
	}
	var window [4]int32 // least x and y, greatest x and y
	compression := attributes["compression"]
	if err := binary.Read(bytes.NewReader(attributes["dataWindow"]), binary.LittleEndian, &window); err != nil {
		return Picture{}, 0, fmt.Errorf("read the OpenEXR data window: %w", noEOF(err))
	}
	if len(compression) != 1 || int(compression[0]) >= len(exrRows) {
		return Picture{}, 0, fmt.Errorf("OpenEXR compression %v: %w", compression, ErrUnsupported)
	}
	width, height := int64(window[2])-int64(window[0])+1, int64(window[3])-int64(window[1])+1
	if width < 1 || height < 1 || width > MaxPixels || height > MaxPixels || width*height > most {
		return Picture{}, 0, fmt.Errorf("the OpenEXR picture is %dx%d: not between 1 and %d pixels", width, height, most)
	}
	return Picture{Format: "exr", Width: int(width), Height: int(height)}, exrRows[compression[0]], nil
}

// exrChunkHead is how many bytes precede a chunk's own: its first row and its size.
const exrChunkHead = 8

// copyEXRChunk copies one chunk, its row and size included. CopyN grows the buffer
// with what really arrives, so a claimed size costs nothing.
func copyEXRChunk(w io.Writer, r io.Reader) error {
	var head [exrChunkHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > maxEXRChunk {
		return fmt.Errorf("it claims %d bytes", size)
	}
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := io.CopyN(w, r, int64(size))
	return err
}
