package pngrows

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
)

const (
	compressBlock = 1 << 20  // bytes of rows that one core packs at a time
	deflateWindow = 32 << 10 // bytes to which a stream of deflate can look back
)

// deflateLevels are the levels of the deflate used here for those of zlib, which Blender
// packs with. On a rendered and on a noisy picture, files of 1 to 4 are no larger than
// zlib's and take less time; those of 6 and 9 are up to 4 % larger.
var deflateLevels = [...]int{1: 4, 2: 4, 3: 4, 4: 4, 5: 6, 6: 6, 7: 9, 8: 9, 9: 9}

// Compress copies a PNG and compresses its rows again, at a level of zlib's from 1 (fast) to
// 9 (small), on so many cores. Pixels, filters and all other chunks stay as they are. Memory
// is bounded by a few MiB for each core. Errors: ErrUnsupported for a PNG of a kind that
// Blender does not write, and those of a file that is cut, damaged or of more than MaxPixels.
func Compress(to io.Writer, from io.Reader, level, cores int) error {
	if level < 1 || level >= len(deflateLevels) || cores < 1 {
		return fmt.Errorf("compress a PNG at level %d on %d cores: both are 1 or more, and 9 is the highest level", level, cores)
	}
	in := bufio.NewReader(from)
	head, _ := in.Peek(headBytes) // a shorter file is of no kind
	k, ok := plain(head)
	switch {
	case !ok:
		return ErrUnsupported
	case int64(k.Width)*int64(k.Height) > MaxPixels:
		return fmt.Errorf("the png picture is %dx%d: more than %d pixels", k.Width, k.Height, MaxPixels)
	}
	f := file{in: in}
	_, err := in.Discard(len(signature))
	if err == nil {
		_, err = io.WriteString(to, signature)
	}
	for packed := false; err == nil; {
		if err = f.next(); err != nil {
			break
		}
		switch {
		case f.kind() != "IDAT":
			last := f.kind() == "IEND"
			if err = f.copyTo(to); err == nil && last {
				if !packed {
					err = errTooFew
				}
				return damaged(err)
			}
		case packed:
			err = errOrder
		default:
			packed = true
			err = f.compress(to, k, level, cores)
		}
	}
	return damaged(err)
}

// copyTo copies the chunk that is being read.
func (f *file) copyTo(to io.Writer) error {
	if _, err := to.Write(f.head[:]); err != nil {
		return err
	}
	buffer := make([]byte, min(f.left, 4096))
	for f.left > 0 {
		n, err := f.take(buffer)
		if err != nil {
			return err
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return err
		}
	}
	if err := f.end(); err != nil {
		return err
	}
	_, err := to.Write(binary.BigEndian.AppendUint32(nil, f.sum))
	return err
}

// compress reads the image's chunks and writes them compressed again. It leaves the file at
// the end of the last of them.
//
// Cores compress blocks of rows in parallel. A block may look back into the one before it,
// and each but the last ends at a whole byte, so they make one stream.
func (f *file) compress(to io.Writer, k Kind, level, cores int) error {
	rows, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return err
	}
	defer rows.Close()
	r := rowReader{rows: rows, left: int64(k.Height) * int64(1+k.channels*k.Bits/8*k.Width), sum: adler32.New()}
	for start := true; r.left > 0; start = false {
		blocks, err := r.blocks(cores)
		if err != nil {
			return err
		}
		if start {
			blocks[0].packed.Write(zlibHead(level))
		}
		if err := packBlocks(blocks, level); err != nil {
			return err
		}
		if r.left == 0 {
			blocks[len(blocks)-1].packed.Write(r.sum.Sum(nil))
		}
		for _, b := range blocks {
			if err := writeChunk(to, "IDAT", b.packed.Bytes()); err != nil {
				return err
			}
		}
	}
	// The end of the stream carries a checksum of all rows.
	if n, err := io.ReadFull(rows, make([]byte, 1)); n > 0 || f.left > 0 {
		return errTooMany
	} else if err != io.EOF {
		return err
	}
	return f.end()
}

// rowReader reads the rows of a picture in blocks.
type rowReader struct {
	rows   io.Reader
	left   int64       // bytes to come
	sum    hash.Hash32 // of what was read
	before []byte      // the end of the last block
}

// blocks reads the next blocks, at most n.
func (r *rowReader) blocks(n int) (blocks []*deflateBlock, err error) {
	for len(blocks) < n && r.left > 0 {
		b := &deflateBlock{rows: make([]byte, min(r.left, compressBlock)), before: r.before, last: r.left <= compressBlock}
		if _, err := io.ReadFull(r.rows, b.rows); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = errTooFew
			}
			return nil, err
		}
		_, _ = r.sum.Write(b.rows) // never fails
		r.left -= int64(len(b.rows))
		r.before = b.rows[max(0, len(b.rows)-deflateWindow):]
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// deflateBlock is a part of a stream of deflate.
type deflateBlock struct {
	rows, before []byte
	last         bool
	packed       bytes.Buffer
}

// packBlocks compresses blocks in parallel.
func packBlocks(blocks []*deflateBlock, level int) error {
	failed := make([]error, len(blocks))
	var packing sync.WaitGroup
	for i, b := range blocks {
		packing.Go(func() { failed[i] = b.pack(level) })
	}
	packing.Wait()
	return errors.Join(failed...)
}

func (b *deflateBlock) pack(level int) error {
	w, err := flate.NewWriterDict(&b.packed, deflateLevels[level], b.before)
	if err != nil {
		return err
	}
	if _, err := w.Write(b.rows); err != nil {
		return err
	}
	if b.last {
		return w.Close()
	}
	return w.Flush()
}

// zlibHead begins a stream of zlib's: its window, and in two bits how well it is packed
// (RFC 1950), as libpng writes it for the level.
func zlibHead(level int) []byte {
	switch {
	case level == 1:
		return []byte{0x78, 0x01}
	case level < 6:
		return []byte{0x78, 0x5e}
	case level == 6:
		return []byte{0x78, 0x9c}
	}
	return []byte{0x78, 0xda}
}

// writeChunk writes a chunk whole.
func writeChunk(to io.Writer, kind string, content []byte) error {
	head := append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), kind...)
	sum := crc32.Update(crc32.ChecksumIEEE([]byte(kind)), crc32.IEEETable, content)
	for _, part := range [][]byte{head, content, binary.BigEndian.AppendUint32(nil, sum)} {
		if _, err := to.Write(part); err != nil {
			return err
		}
	}
	return nil
}
