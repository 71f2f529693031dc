package blendfile

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// dna is the file's own description of its structs. Fields are found through it
// by name, never by a known offset, so one reader serves every version.
type dna struct {
	header  header
	names   []string // of fields, as declared: "*next", "name[64]", "(*func)()"
	types   []string
	lengths []uint16 // of the types, in bytes
	structs []structDef
	index   map[string]int // struct by type name
	layouts map[int]*layout
}

// structDef is a struct as the DNA has it: pairs of type and name numbers.
type structDef struct {
	typ    int
	fields []byte
}

// field is a member of a struct.
type field struct {
	name    string // bare
	typ     string
	offset  int
	size    int // bytes of the whole member
	count   int // elements, 1 when it is no array
	pointer bool
}

// layout is a struct with its offsets worked out.
type layout struct {
	name   string
	size   int
	fields map[string]field
}

const (
	maxIdent   = 256     // bytes of a name in the DNA
	maxMembers = 1 << 10 // of a struct that is read; the widest of Blender's has 227
)

// parseDNA reads the four parts of the DNA: NAME, TYPE, TLEN and STRC, each on
// an address that four divides.
func parseDNA(raw []byte, h header) (*dna, error) {
	c := &cursor{b: raw, h: h}
	d := &dna{header: h, index: map[string]int{}, layouts: map[int]*layout{}}
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

// cursor reads the DNA; the first fault stays.
type cursor struct {
	b   []byte
	at  int
	h   header
	err error
}

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

func (c *cursor) tag(want string) {
	if got := c.take(4); c.err == nil && string(got) != want {
		c.err = fmt.Errorf("the DNA has %q where %s belongs", got, want)
	}
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return c.h.order.Uint16(b)
	}
	return 0
}

// count reads the length of a table. Its entries are numbered by 16 bits.
func (c *cursor) count() int {
	b := c.take(4)
	if b == nil {
		return 0
	}
	n := int(int32(c.h.order.Uint32(b)))
	if n < 0 || n > 1<<16 {
		c.err = fmt.Errorf("the DNA has a table of %d entries", n)
		return 0
	}
	return n
}

func (c *cursor) align() { c.take(-c.at & 3) }

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

// structName is the name of the struct that a block's index stands for.
func (d *dna) structName(index int) string {
	if index >= len(d.structs) {
		return ""
	}
	return d.types[d.structs[index].typ]
}

// layout works out the offsets of a struct, once. It is nil when the file's
// version knows no such struct.
func (d *dna) layout(name string) (*layout, error) {
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
	l := &layout{name: name, size: int(d.lengths[def.typ]), fields: map[string]field{}}
	at := 0
	for f := def.fields; len(f) > 0; f = f[4:] {
		typ, name := int(d.header.order.Uint16(f)), int(d.header.order.Uint16(f[2:]))
		if typ >= len(d.types) || name >= len(d.names) {
			return nil, fmt.Errorf("the DNA's struct %s has a member of unknown type or name", l.name)
		}
		m := declared(d.names[name])
		m.typ, m.offset = d.types[typ], at
		unit := int(d.lengths[typ])
		if m.pointer {
			unit = d.header.pointer
		}
		m.size = unit * m.count
		at += m.size
		if at > l.size {
			return nil, fmt.Errorf("the DNA's struct %s has members of more than its %d bytes", l.name, l.size)
		}
		l.fields[m.name] = m
	}
	d.layouts[i] = l
	return l, nil
}

// declared takes a member's declaration apart: "*adt", "name[64]",
// "mat[4][4]", "(*free)()".
func declared(s string) field {
	f := field{count: 1}
	if strings.HasPrefix(s, "(") {
		f.pointer = true
		f.name, _, _ = strings.Cut(strings.TrimLeft(s, "(*"), ")")
		return f
	}
	f.name = strings.TrimLeft(s, "*")
	f.pointer = len(f.name) < len(s)
	name, dims, _ := strings.Cut(f.name, "[")
	f.name = name
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
		f.count = min(f.count*int(v), 1<<24)
	}
	return f
}

// find resolves a dotted path of members, "r.im_format.imtype", to one field
// with its offset in the outer struct. ok is false when the file's version has
// no such member.
func (d *dna) find(l *layout, path string) (field, bool, error) {
	base := 0
	for {
		name, rest, more := strings.Cut(path, ".")
		f, ok := l.fields[name]
		if !ok {
			return field{}, false, nil
		}
		f.offset += base
		if !more {
			return f, true, nil
		}
		if f.pointer {
			return field{}, false, nil
		}
		inner, err := d.layout(f.typ)
		if inner == nil || err != nil {
			return field{}, false, err
		}
		l, path, base = inner, rest, f.offset
	}
}
