// Package dna reads the description that a .blend file has of its own structs
// (SDNA, block DNA1).
//
// What always holds: a member is found by its name, never by an offset that one
// version of Blender happens to have, so one reader serves every version. What
// does not hold together (a member of unknown type, members of more bytes than
// their struct) is an error, and never a wrong offset.
//
// It leaves to others where the block lies and what members mean. Start reading at
// Parse, then DNA.Find.
package dna

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// DNA is the file's own description of its structs. Fields are found through it by
// name, never by a known offset, so one reader serves every version. It caches
// layouts, so it is not safe for concurrent use.
type DNA struct {
	order   binary.ByteOrder
	address int      // bytes of an address: 4 or 8
	names   []string // of fields, as declared: "*next", "name[64]", "(*func)()"
	types   []string
	lengths []uint16 // of the types, in bytes
	structs []structDef
	index   map[string]int // struct by type name
	layouts map[int]*Layout
}

// structDef is a struct as the DNA has it. fields holds pairs of 16-bit numbers, of
// a type and of a name, which Layout decodes when the struct is needed: most never
// are.
type structDef struct {
	typ    int
	fields []byte
}

// Field is a member of a struct. Offset counts in bytes from the start of the
// struct that was asked, also for a member of a member.
type Field struct {
	Name    string // bare
	Type    string
	Offset  int
	Size    int // bytes of the whole member
	Count   int // elements, 1 when it is no array
	Pointer bool
}

// Layout is a struct with its offsets worked out. It never changes.
type Layout struct {
	Name   string
	Size   int // bytes
	fields map[string]Field
}

// Bounds for hostile files.
const (
	maxIdent   = 256     // bytes of a name in the DNA
	maxMembers = 1 << 10 // of a struct that is read; the widest of Blender's has 227
)

// Parse reads the four parts of the DNA: NAME, TYPE, TLEN and STRC, each at a
// multiple of four bytes. Addresses in the file have that many bytes, 4 or 8. The
// error says what contradicts itself. The DNA refers to raw, which must not change.
func Parse(raw []byte, order binary.ByteOrder, address int) (*DNA, error) {
	c := &cursor{b: raw, order: order}
	d := &DNA{order: order, address: address, index: map[string]int{}, layouts: map[int]*Layout{}}
	c.tag("SDNA")
	c.tag("NAME")
	d.names = c.idents()
	c.tag("TYPE")
	d.types = c.idents()
	c.tag("TLEN")
	for range d.types {
		d.lengths = append(d.lengths, c.u16())
	}
	c.align()
	c.tag("STRC")
	n := c.count()
	for range n {
		typ, members := int(c.u16()), int(c.u16())
		fields := c.take(4 * members)
		if c.err != nil {
			break
		}
		if typ >= len(d.types) {
			return nil, fmt.Errorf("the DNA has a struct of type %d and %d types", typ, len(d.types))
		}
		d.index[d.types[typ]] = len(d.structs)
		d.structs = append(d.structs, structDef{typ: typ, fields: fields})
	}
	return d, c.err
}

// cursor reads the DNA. After the first fault every read gives zero values, so that
// Parse checks for one only where a table would be used.
type cursor struct {
	b     []byte
	at    int
	order binary.ByteOrder
	err   error
}

// take returns the next n bytes without copying them, nil after a fault.
func (c *cursor) take(n int) []byte {
	if c.err == nil && n > len(c.b)-c.at {
		c.err = errors.New("the DNA ends inside its tables")
	}
	if c.err != nil {
		return nil
	}
	c.at += n
	return c.b[c.at-n : c.at]
}

// tag reads the four letters that begin a part.
func (c *cursor) tag(want string) {
	if got := c.take(4); c.err == nil && string(got) != want {
		c.err = fmt.Errorf("the DNA has %q where %s belongs", got, want)
	}
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

// count reads the length of a table. Its entries are numbered by 16 bits.
func (c *cursor) count() int {
	b := c.take(4)
	if b == nil {
		return 0
	}
	n := int(int32(c.order.Uint32(b)))
	if n < 0 || n > 1<<16 {
		c.err = fmt.Errorf("the DNA has a table of %d entries", n)
		return 0
	}
	return n
}

// align goes to the next multiple of four bytes from the DNA's start.
func (c *cursor) align() { c.take(-c.at & 3) }

// idents reads a table of names, each ended by a zero byte.
func (c *cursor) idents() []string {
	n := c.count()
	list := make([]string, 0, n)
	for range n {
		if c.err != nil {
			break
		}
		end := bytes.IndexByte(c.b[c.at:min(len(c.b), c.at+maxIdent)], 0)
		if end < 0 {
			c.err = errors.New("the DNA has a name without end")
			break
		}
		list = append(list, string(c.take(end + 1)[:end]))
	}
	c.align()
	return list
}

// Index returns the number by which blocks name a struct; ok is false when the
// file's version has no such struct.
func (d *DNA) Index(name string) (index int, ok bool) {
	index, ok = d.index[name]
	return index, ok
}

// StructName returns the name of the struct that a block's index means, "" for an
// index that no struct has.
func (d *DNA) StructName(index int) string {
	if index >= len(d.structs) {
		return ""
	}
	return d.types[d.structs[index].typ]
}

// Layout works out the offsets of a struct, once. It is nil without an error when
// the file's version has no such struct. An error means that the members do not fit
// into the struct.
func (d *DNA) Layout(name string) (*Layout, error) {
	i, ok := d.index[name]
	if !ok {
		return nil, nil
	}
	if l := d.layouts[i]; l != nil {
		return l, nil
	}
	def := d.structs[i]
	if members := len(def.fields) / 4; members > maxMembers {
		return nil, fmt.Errorf("the DNA's struct %s has %d members, more than %d", name, members, maxMembers)
	}
	l := &Layout{Name: name, Size: int(d.lengths[def.typ]), fields: map[string]Field{}}
	at := 0
	for f := def.fields; len(f) > 0; f = f[4:] {
		typ, name := int(d.order.Uint16(f)), int(d.order.Uint16(f[2:]))
		if typ >= len(d.types) || name >= len(d.names) {
			return nil, fmt.Errorf("the DNA's struct %s has a member of unknown type or name", l.Name)
		}
		m := declared(d.names[name])
		m.Type, m.Offset = d.types[typ], at
		unit := int(d.lengths[typ])
		if m.Pointer {
			unit = d.address
		}
		m.Size = unit * m.Count
		at += m.Size
		// A reader would otherwise take bytes of the next struct for this one's.
		if at > l.Size {
			return nil, fmt.Errorf("the DNA's struct %s has members of more than its %d bytes", l.Name, l.Size)
		}
		l.fields[m.Name] = m
	}
	d.layouts[i] = l
	return l, nil
}

// declared splits a member's declaration: "*adt", "name[64]", "mat[4][4]",
// "(*free)()".
func declared(s string) Field {
	f := Field{Count: 1}
	if strings.HasPrefix(s, "(") {
		f.Pointer = true
		f.Name, _, _ = strings.Cut(strings.TrimLeft(s, "(*"), ")")
		return f
	}
	f.Name = strings.TrimLeft(s, "*")
	f.Pointer = len(f.Name) < len(s)
	name, dims, _ := strings.Cut(f.Name, "[")
	f.Name = name
	for dims != "" {
		var n string
		n, dims, _ = strings.Cut(dims, "]")
		dims = strings.TrimPrefix(dims, "[")
		// A size that is no small number makes the member larger than its
		// struct, which layout refuses.
		v, err := strconv.ParseUint(n, 10, 16)
		if err != nil {
			v = 1 << 16
		}
		f.Count = min(f.Count*int(v), 1<<24)
	}
	return f
}

// At returns the member that byte offset of the struct belongs to. ok is false after the
// last one.
func (l *Layout) At(offset int) (f Field, ok bool) {
	for _, f := range l.fields {
		if offset >= f.Offset && offset < f.Offset+f.Size {
			return f, true
		}
	}
	return Field{}, false
}

// Fields returns the members in the order of their offsets.
func (l *Layout) Fields() []Field {
	return slices.SortedFunc(maps.Values(l.fields), func(a, b Field) int { return cmp.Compare(a.Offset, b.Offset) })
}

// Find resolves a dotted path of members, "r.im_format.imtype", to one field
// with its offset in the outer struct. ok is false when the file's version has
// no such member.
func (d *DNA) Find(l *Layout, path string) (Field, bool, error) {
	base := 0
	for {
		name, rest, more := strings.Cut(path, ".")
		f, ok := l.fields[name]
		if !ok {
			return Field{}, false, nil
		}
		f.Offset += base
		if !more {
			return f, true, nil
		}
		// A pointer leads to another block, at no offset of this one.
		if f.Pointer {
			return Field{}, false, nil
		}
		inner, err := d.Layout(f.Type)
		if inner == nil || err != nil {
			return Field{}, false, err
		}
		l, path, base = inner, rest, f.Offset
	}
}
