package blendfile

import (
	"bytes"
	"iter"
	"math"
	"strings"

	"svc.example/internal/ground/blendfile/dna"
)

// record is one struct of the file, with its members by name. A member that the
// file's version does not have reads as zero, and has reports that it is so.
type record struct {
	f     *file
	l     *dna.Layout
	kept  kept
	bytes []byte
}

// member is the raw bytes of a member, nil when there is none.
func (r record) member(path string) (dna.Field, []byte) {
	if r.l == nil {
		return dna.Field{}, nil
	}
	f, ok, err := r.f.dna.Find(r.l, path)
	if err != nil {
		r.f.fail(&DamagedError{Block: "DNA1", What: err.Error()})
	}
	if !ok || f.Offset+f.Size > len(r.bytes) {
		return dna.Field{}, nil
	}
	return f, r.bytes[f.Offset : f.Offset+f.Size]
}

// has reports whether the file's version has a member.
func (r record) has(path string) bool {
	_, b := r.member(path)
	return b != nil
}

// int reads a member of any whole-number type; of an array, the first element.
func (r record) int(path string) int {
	f, b := r.member(path)
	if b == nil || f.Count == 0 || f.Pointer {
		return 0
	}
	order := r.f.header.order
	unsigned := strings.HasPrefix(f.Type, "u")
	switch len(b) / f.Count {
	case 1:
		if unsigned {
			return int(b[0])
		}
		return int(int8(b[0]))
	case 2:
		if unsigned {
			return int(order.Uint16(b))
		}
		return int(int16(order.Uint16(b)))
	case 4:
		if unsigned {
			return int(order.Uint32(b))
		}
		return int(int32(order.Uint32(b)))
	case 8:
		return int(order.Uint64(b))
	}
	return 0
}

// float reads a member of type float or double. Facts hold finite numbers only:
// what is no number in the file is 0.
func (r record) float(path string) float64 {
	f, b := r.member(path)
	v := 0.0
	switch {
	case f.Type == "float" && len(b) >= 4:
		v = float64(math.Float32frombits(r.f.header.order.Uint32(b)))
	case f.Type == "double" && len(b) >= 8:
		v = math.Float64frombits(r.f.header.order.Uint64(b))
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// text reads a member that is an array of characters, up to its NUL.
func (r record) text(path string) string {
	f, b := r.member(path)
	if b == nil || f.Pointer {
		return ""
	}
	return cString(b)
}

// cString reads up to the NUL. Files before 2.5 may hold any 8-bit encoding.
func cString(b []byte) string {
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// ptr reads a member that is an address; 0 is unset.
func (r record) ptr(path string) uint64 {
	f, b := r.member(path)
	if b == nil || !f.Pointer || len(b) < r.f.header.pointer {
		return 0
	}
	return r.f.header.address(b)
}

// name is a data-block's name without its code.
func (r record) name() string {
	if n := r.text("id.name"); len(n) >= 2 {
		return n[2:]
	}
	if n := r.text("name"); len(n) >= 2 && r.l != nil && r.l.Name == "ID" {
		return n[2:]
	}
	return ""
}

// follow reads the struct that a pointer member of r stands for, within the
// same data-block. It is empty when the pointer is unset or stands for nothing.
func (r record) follow(path, as string) record {
	if r.l == nil {
		return record{}
	}
	return r.f.at(r, r.ptr(path), as)
}

// list walks a linked list from the member path (a ListBase), through next. A
// list that is longer than there are blocks runs in a circle.
func (r record) list(path, as string) iter.Seq[record] {
	return func(yield func(record) bool) {
		at := r.follow(path+".first", as)
		if at.l == nil {
			return
		}
		for left := r.f.blocks(r); at.l != nil; left-- {
			if left == 0 {
				r.f.fail(&DamagedError{Offset: r.kept.offset, What: "the list " + path + " of a " + r.l.Name + " runs in a circle"})
				return
			}
			if !yield(at) {
				return
			}
			at = at.follow("next", as)
		}
	}
}
