package exr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zlib"
)

// Writer writes an OpenEXR picture row by row, packed by ZIP.
type Writer struct {
	out      io.WriteSeeker
	rowBytes int
	height   int
	rows     []byte // of the chunk that is being filled
	sorted   []byte
	packed   bytes.Buffer
	zlib     *zlib.Writer
	done     int   // rows that were taken
	table    int64 // where the offsets of the chunks lie
	at       int64 // where the next chunk goes
	offsets  []byte
}

// NewWriter begins a picture that has the channels and remarks of another one, and so many rows.
func NewWriter(out io.WriteSeeker, like *Reader, height int) (*Writer, error) {
	head := like.header(height)
	chunks := (height + rowsPerChunk[zip] - 1) / rowsPerChunk[zip]
	w := &Writer{out: out, rowBytes: like.RowBytes, height: height, table: int64(len(head)), offsets: make([]byte, 0, 8*chunks)}
	w.at = w.table + 8*int64(chunks)
	var err error
	// The rows are read once, soon, on the same machine.
	if w.zlib, err = zlib.NewWriterLevel(&w.packed, zlib.BestSpeed); err != nil {
		return nil, err
	}
	if _, err = out.Write(head); err == nil {
		_, err = out.Write(make([]byte, 8*chunks))
	}
	return w, err
}

// Row adds the next row from the top, as Reader.Rows gives it.
func (w *Writer) Row(values []byte) error {
	if len(values) != w.rowBytes || w.done == w.height {
		return errors.New("the OpenEXR picture takes no such row")
	}
	w.rows = append(w.rows, values...)
	if w.done++; w.done%rowsPerChunk[zip] != 0 && w.done != w.height {
		return nil
	}
	return w.chunk()
}

// chunk writes the rows that were collected.
func (w *Writer) chunk() error {
	w.sorted = grown(w.sorted, len(w.rows))
	resort(w.sorted, w.rows)
	w.packed.Reset()
	w.zlib.Reset(&w.packed)
	if _, err := w.zlib.Write(w.sorted); err != nil {
		return err
	}
	if err := w.zlib.Close(); err != nil {
		return err
	}
	stored := w.packed.Bytes()
	if len(stored) >= len(w.rows) {
		stored = w.rows
	}
	first := (w.done - 1) / rowsPerChunk[zip] * rowsPerChunk[zip]
	w.offsets = binary.LittleEndian.AppendUint64(w.offsets, uint64(w.at))
	w.at += chunkHead + int64(len(stored))
	for _, part := range [][]byte{le32(first), le32(len(stored)), stored} {
		if _, err := w.out.Write(part); err != nil {
			return err
		}
	}
	w.rows = w.rows[:0]
	return nil
}

// Close completes the file. It does not close what it was written to. Error: rows are missing.
func (w *Writer) Close() error {
	if w.done != w.height {
		return errors.New("the OpenEXR picture lacks rows")
	}
	if _, err := w.out.Seek(w.table, io.SeekStart); err != nil {
		return err
	}
	_, err := w.out.Write(w.offsets)
	return err
}

// resort does what unsort undoes.
func resort(sorted, rows []byte) {
	half := (len(rows) + 1) / 2
	for i, b := range rows {
		if i%2 == 0 {
			sorted[i/2] = b
		} else {
			sorted[half+i/2] = b
		}
	}
	for i := len(sorted) - 1; i > 0; i-- {
		sorted[i] = sorted[i] - sorted[i-1] + 128
	}
}

func le32(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }
