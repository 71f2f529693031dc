package exr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// chunkHead is how many bytes precede a chunk's own: its first row and its size.
const chunkHead = 8

// ChunkBytes is the size of a decoded chunk.
func (f *File) ChunkBytes() int64 {
	return int64(f.rowBytes) * int64(min(f.perChunk, f.Height))
}

// ViewMemory is what the rows of a picture take that is shown: a chunk and the steps before it. Those
// of DWA have whole blocks, and up to two more steps.
func (f *File) ViewMemory() int64 {
	if !f.DWA() {
		return 3 * f.ChunkBytes()
	}
	rows := (min(f.perChunk, f.Height) + dwaBlock - 1) / dwaBlock * dwaBlock
	return 5 * int64(f.rowBytes) * int64(rows)
}

// Memory is what reading takes: a chunk as rows and in the steps before that, and the codec's
// tables.
func (f *File) Memory() int64 {
	switch f.compression {
	case none:
		return f.ChunkBytes() + tables
	case zips, zip:
		return 2*f.ChunkBytes() + tables
	}
	return 3*f.ChunkBytes() + tables
}

// Chunks reads all chunks, once, and the end of the file. stored takes each as it is, with its
// head; rows takes each row of it, top to bottom, with its place in the picture. Errors: those of
// a file that is cut or damaged, or that has bytes after the picture.
func (f *File) Chunks(stored io.Writer, rows func(y int, row []byte)) error {
	if err := f.walk(stored, func(int) (func(int, []byte), bool) { return rows, true }); err != nil {
		return err
	}
	return f.atEnd()
}

// atEnd refuses bytes that follow the picture.
func (f *File) atEnd() error {
	if _, err := f.in.ReadByte(); err == nil {
		return errors.New("bytes follow the picture")
	} else if err != io.EOF {
		return err
	}
	return nil
}

// walk reads chunk after chunk as they lie in the file. of is asked before each, by its first row:
// what takes its rows, nil to pass over them, and whether any more are wanted. The table of offsets is
// skipped: the chunks of such a file follow each other.
func (f *File) walk(stored io.Writer, of func(first int) (rows func(y int, row []byte), on bool)) error {
	count := (f.Height + f.perChunk - 1) / f.perChunk
	if _, err := io.CopyN(io.Discard, f.in, 8*int64(count)); err != nil {
		return fmt.Errorf("read the OpenEXR offsets: %w", noEOF(err))
	}
	for i := range count {
		at := i
		if f.Upwards {
			at = count - 1 - i
		}
		rows, on := of(at * f.perChunk)
		if !on {
			return nil
		}
		if err := f.chunk(at*f.perChunk, stored, rows); err != nil {
			return fmt.Errorf("read OpenEXR chunk %d of %d: %w", i+1, count, noEOF(err))
		}
	}
	return nil
}

// chunk reads the chunk that must begin at row y.
func (f *File) chunk(y int, stored io.Writer, rows func(y int, row []byte)) error {
	var head [chunkHead]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return err
	}
	first, size := int32(binary.LittleEndian.Uint32(head[:])), int64(binary.LittleEndian.Uint32(head[4:]))
	if int64(first) != int64(f.firstY)+int64(y) {
		return fmt.Errorf("it begins at row %d instead of %d", first, int64(f.firstY)+int64(y))
	}
	n := min(f.perChunk, f.Height-y)
	if size > int64(n)*int64(f.rowBytes) {
		return fmt.Errorf("it claims %d bytes, and its rows have %d", size, int64(n)*int64(f.rowBytes))
	}
	if _, err := stored.Write(head[:]); err != nil {
		return err
	}
	if rows == nil { // only what is stored is wanted
		_, err := io.CopyN(stored, f.in, size)
		return err
	}
	raw, err := f.codec.unpack(io.TeeReader(io.LimitReader(f.in, size), stored), size, n)
	if err != nil {
		return err
	}
	for i := 0; raw != nil && i < n; i++ { // nil: only the structure is known
		rows(y+i, raw[i*f.rowBytes:][:f.rowBytes])
	}
	return nil
}

// Row reads one row of the picture, from the top, and no chunk that follows its own.
func (f *File) Row(y int, take func(row []byte)) error {
	done := false
	return f.walk(io.Discard, func(first int) (func(int, []byte), bool) {
		if done || y < first || y >= first+f.perChunk {
			return nil, !done
		}
		done = true
		return func(n int, row []byte) {
			if n == y {
				take(row)
			}
		}, true
	})
}
