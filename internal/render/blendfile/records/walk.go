package records

import (
	"encoding/binary"
	"fmt"
	"io"

	"svc.example/internal/render/blendfile/dna"
)

// Shape says how the bytes of a file's blocks are read.
type Shape struct {
	Version int // as File.Version
	Pointer int // bytes of an address
	Order   binary.ByteOrder
	DNA     *dna.DNA
	header  header
}

// Address reads an address.
func (s *Shape) Address(b []byte) uint64 { return s.header.address(b) }

// Block is the head of one block of a file.
type Block struct {
	Code  string // "DATA", or that of a data-block
	Index int    // of its struct
	Addr  uint64
	Size  int64 // bytes of its data
	Count int64 // structs in it
}

// Walk reads r forward and shows each block except the DNA, in the order of the file, with
// a reader of its data. It keeps nothing of them: read a file twice to know the DNA, which
// comes last, before the blocks. Errors are those of Open, and that of visit.
func Walk(r io.Reader, o Options, visit func(Block, io.Reader) error) (*Shape, error) {
	stream, err := openStream(r, o.withDefaults())
	if err != nil {
		return nil, err
	}
	defer stream.close()
	h, err := readHeader(stream)
	if err != nil {
		return nil, err
	}
	s := newScan(stream, h, o.Memory)
	err = s.each(func(b block) error {
		if b.code == "DNA1" {
			return s.takeDNA(b)
		}
		body := &blockData{s.stream, b.size}
		if err := visit(Block{b.code, b.index, b.addr, b.size, b.count}, body); err != nil {
			return s.fault(err, b.code, fmt.Sprintf("block %q", b.code))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Shape{h.version, h.pointer, h.order, s.dna, h}, nil
}

// blockData reads the data of a block.
type blockData struct {
	*stream
	left int64
}

// Read reads what is left of the data.
func (d *blockData) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	n, err := d.br.Read(p[:min(int64(len(p)), d.left)])
	d.pos += int64(n)
	d.left -= int64(n)
	return n, err
}
