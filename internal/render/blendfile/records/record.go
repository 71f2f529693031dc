package records

import (
	"bytes"
	"iter"
	"math"
	"strings"

	"svc.example/internal/render/blendfile/dna"
)

// Record is one struct of the file, with its members by name. A member that the
// file's version does not have reads as zero, and Has reports that it is so. The zero
// Record is empty: all its members read as zero.
type Record struct {
	f     *File
	l     *dna.Layout
	kept  kept
	bytes []byte
}

// OK reports whether the record is a struct of the file, and not empty.
func (r Record) OK() bool { return r.l != nil }

// Struct is the struct's name, "" of an empty record.
func (r Record) Struct() string {
	if r.l == nil {
		return ""
	}
	return r.l.Name
}

// Owner is the ordinal of the data-block that the struct belongs to, from 1 in the file's
// order; 0 for none.
func (r Record) Owner() uint32 { return uint32(r.kept.owner) }

// Addr is the address of the struct's block, which is unique in a data-block only.
func (r Record) Addr() uint64 { return r.kept.addr }

// Offset is where the struct's block begins, in bytes of the unpacked file.
func (r Record) Offset() int64 { return r.kept.offset }

// Count is how many structs the block has; the record is the first.
func (r Record) Count() int64 { return r.kept.count }

// All yields the structs of the block, which the record is the first of, as far as they were
// kept.
func (r Record) All() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		if r.l == nil || r.l.Size == 0 {
			return
		}
		data := r.kept.data()
		for n := int64(0); n < r.kept.count && len(data) >= r.l.Size; n++ {
			next := r
			next.bytes, data = data[:r.l.Size], data[r.l.Size:]
			if !yield(next) {
				return
			}
		}
	}
}

// Each yields all structs of the record's block, as far as they were kept.
func (r Record) Each() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		if r.l == nil || r.l.Size == 0 {
			return
		}
		data := r.kept.data()
		for n := r.kept.count; n > 0 && len(data) >= r.l.Size; n-- {
			one := r
			one.bytes = data[:r.l.Size]
			if !yield(one) {
				return
			}
			data = data[r.l.Size:]
		}
	}
}

// member is the raw bytes of a member, nil when there is none.
func (r Record) member(path string) (dna.Field, []byte) {
	if r.l == nil {
		return dna.Field{}, nil
	}
	f, ok, err := r.f.dna.Find(r.l, path)
	if err != nil {
		r.f.Fail(&DamagedError{Block: "DNA1", What: err.Error()})
	}
	if !ok || f.Offset+f.Size > len(r.bytes) {
		return dna.Field{}, nil
	}
	return f, r.bytes[f.Offset : f.Offset+f.Size]
}

// Has reports whether the file's version has a member.
func (r Record) Has(path string) bool {
	_, b := r.member(path)
	return b != nil
}

// Int reads a member of any whole-number type; of an array, the first element.
func (r Record) Int(path string) int {
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

// Float reads a member of type float or double. Facts hold finite numbers only:
// what is no number in the file is 0.
func (r Record) Float(path string) float64 {
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

// Floats reads a member that is an array of floats. What is no finite number in the file is
// 0.
func (r Record) Floats(path string) []float64 {
	f, b := r.member(path)
	if f.Type != "float" {
		return nil
	}
	all := make([]float64, 0, f.Count)
	for ; len(b) >= 4; b = b[4:] {
		v := float64(math.Float32frombits(r.f.header.order.Uint32(b)))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			v = 0
		}
		all = append(all, v)
	}
	return all
}

// Text reads a member that is an array of characters, up to its NUL.
func (r Record) Text(path string) string {
	f, b := r.member(path)
	if b == nil || f.Pointer {
		return ""
	}
	return CString(b)
}

// CString reads up to the NUL. Files before 2.5 may hold any 8-bit encoding.
func CString(b []byte) string {
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// Ptr reads a member that is an address; 0 is unset.
func (r Record) Ptr(path string) uint64 {
	f, b := r.member(path)
	if b == nil || !f.Pointer || len(b) < r.f.header.pointer {
		return 0
	}
	return r.f.header.address(b)
}

// Ptrs reads a member that is an array of addresses.
func (r Record) Ptrs(path string) []uint64 {
	f, b := r.member(path)
	if !f.Pointer {
		return nil
	}
	var all []uint64
	for size := r.f.header.pointer; len(b) >= size; b = b[size:] {
		all = append(all, r.f.header.address(b))
	}
	return all
}

// Name is a data-block's name without its code.
func (r Record) Name() string {
	if n := r.Text("id.name"); len(n) >= 2 {
		return n[2:]
	}
	if n := r.Text("name"); len(n) >= 2 && r.l != nil && r.l.Name == "ID" {
		return n[2:]
	}
	return ""
}

// Follow reads the struct that a pointer member of r stands for, within the
// same data-block. It is empty when the pointer is unset or leads nowhere.
func (r Record) Follow(path, as string) Record {
	if r.l == nil {
		return Record{}
	}
	return r.f.At(r, r.Ptr(path), as)
}

// List walks a linked list from the member path (a ListBase), through next. A
// List that is longer than there are blocks runs in a circle.
func (r Record) List(path, as string) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		at := r.Follow(path+".first", as)
		if !at.OK() {
			return
		}
		for left := r.f.blocks(r); at.OK(); left-- {
			if left == 0 {
				r.f.Fail(&DamagedError{Offset: r.kept.offset, What: "the list " + path + " of a " + r.l.Name + " runs in a circle"})
				return
			}
			if !yield(at) {
				return
			}
			at = at.Follow("next", as)
		}
	}
}
