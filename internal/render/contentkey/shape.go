package contentkey

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"svc.example/internal/render/blendfile/dna"
	"svc.example/internal/render/blendfile/records"
)

// layout is how a struct is taken apart: its members in their order, those of structs within
// it among them, without the irrelevant ones.
type layout struct {
	name     string
	size     int // bytes; 0 for raw data
	members  []member
	pointers map[string]int // places among the pointers of a struct, by path: "inputs.first"
	schema   [sha256.Size]byte
	fields   func(path string) (dna.Field, bool)
	adt      int // where its animation is; nowhere for none
	// constraint says that it is the data of a constraint of one kind.
	constraint bool
}

// member is a part of a struct.
type member struct {
	kind         memberKind
	offset, size int
	path         string
	mask         uint32 // bits of a flag that do not count
}

type memberKind uint8

const (
	plain memberKind = iota
	pointer
	matrix // see matrices
	span   // see times
	value  // a curve can set it: see values.go
	path   // a text: what follows its end does not count
	shown  // the flag of a base: see visibility
)

// shapes makes layouts of the structs of a file, each once.
type shapes struct {
	*records.Shape
	byIndex    map[int]*layout
	irrelevant map[string]map[string]bool
	bits       map[string]uint32
}

func newShapes(shape *records.Shape) *shapes {
	s := &shapes{Shape: shape, byIndex: map[int]*layout{}, irrelevant: map[string]map[string]bool{}, bits: irrelevantBits()}
	for _, structs := range []map[string]map[reason]string{irrelevantInScenes(), irrelevantInData()} {
		for of, reasons := range structs {
			s.irrelevant[of] = words(reasons)
		}
	}
	return s
}

// words splits lists of names.
func words[K comparable](lists map[K]string) map[string]bool {
	all := map[string]bool{}
	for _, names := range lists {
		for name := range strings.FieldsSeq(names) {
			all[name] = true
		}
	}
	return all
}

// rawData is the number of the struct of blocks that are none: texts, arrays of numbers or of
// addresses.
const rawData = 0

// of is the layout of the struct that blocks name by a number. Blocks of no known struct are
// raw data.
func (s *shapes) of(index int) (*layout, error) {
	if l, ok := s.byIndex[index]; ok {
		return l, nil
	}
	l := &layout{name: s.DNA.StructName(index), pointers: map[string]int{}, adt: nowhere}
	if index != rawData && l.name != "" {
		d, err := s.DNA.Layout(l.name)
		if err != nil {
			return nil, fmt.Errorf("read the file's structs: %w", err)
		}
		l.size = d.Size
		l.fields = func(path string) (dna.Field, bool) {
			f, ok, err := s.DNA.Find(d, path)
			return f, ok && err == nil
		}
		if err := s.flatten(l, d, 0, "", 0); err != nil {
			return nil, err
		}
	}
	l.constraint = constraintData.MatchString(l.name)
	h := sha256.New()
	_, _ = fmt.Fprintln(h, l.name)
	for _, m := range l.members {
		_, _ = fmt.Fprintln(h, m.kind, m.path, m.size)
	}
	h.Sum(l.schema[:0])
	s.byIndex[index] = l
	return l, nil
}

// maxNesting bounds structs in structs, and maxMembers the members of one with those within:
// a hostile file may nest them without end.
const (
	maxNesting = 16
	maxMembers = 1 << 16
)

// flatten adds the members of a struct that begins at an offset.
func (s *shapes) flatten(l *layout, of *dna.Layout, base int, prefix string, depth int) error {
	for _, f := range of.Fields() {
		if padding.MatchString(f.Name) || s.irrelevant[of.Name][f.Name] || of.Name == "ID" && f.Name == "name" {
			continue
		}
		if depth > maxNesting || len(l.members)+f.Count > maxMembers {
			return fmt.Errorf("the file's struct %s has too many members", l.name)
		}
		m := member{offset: base + f.Offset, size: f.Size, path: prefix + f.Name, mask: s.bits[of.Name+"."+f.Name]}
		if f.Pointer {
			s.addPointers(l, m, f.Count)
			continue
		}
		m.kind = kindOf(l.name, of.Name, f.Name, m.path)
		inner, err := s.DNA.Layout(f.Type)
		if err != nil {
			return fmt.Errorf("read the file's structs: %w", err)
		}
		if m.kind != plain || inner == nil || inner.Size == 0 || inner.Size*f.Count != f.Size {
			l.members = append(l.members, m)
			continue
		}
		for i := range f.Count {
			if err := s.flatten(l, inner, m.offset+i*inner.Size, m.path+".", depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// addPointers adds an array of pointers.
func (s *shapes) addPointers(l *layout, m member, count int) {
	m.kind, m.size = pointer, s.Pointer
	if _, twice := l.pointers[m.path]; !twice {
		l.pointers[m.path] = l.count(pointer)
	}
	if m.path == "adt" {
		l.adt = m.offset
	}
	for range count {
		l.members = append(l.members, m)
		m.offset += s.Pointer
	}
}

// kindOf is the kind of a member that is no pointer: of a block's struct, or of one within it.
func kindOf(block, of, name, at string) memberKind {
	switch {
	case among(name, matrices()[of]):
		return matrix
	case among(name, times()[of]):
		return span
	case isValue(block, at):
		return value
	case of == "Library" && name == "name":
		return path
	case block == "Base" && at == "flag":
		return shown
	}
	return plain
}

// count is how many members of a kind there are.
func (l *layout) count(kind memberKind) int {
	n := 0
	for _, m := range l.members {
		if m.kind == kind {
			n++
		}
	}
	return n
}

// integer reads a whole number of a struct; 0 where it has no such member.
func (s *shapes) integer(l *layout, b []byte, path string) int64 {
	f, ok := l.fields(path)
	if !ok || f.Offset+f.Size > len(b) {
		return 0
	}
	b = b[f.Offset:]
	switch f.Size / f.Count {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(s.Order.Uint16(b)))
	case 4:
		return int64(int32(s.Order.Uint32(b)))
	}
	return 0
}

// text reads a text in a struct.
func text(l *layout, b []byte, path string) string {
	f, ok := l.fields(path)
	if !ok || f.Pointer || f.Offset+f.Size > len(b) {
		return ""
	}
	t, _, _ := strings.Cut(string(b[f.Offset:f.Offset+f.Size]), "\x00")
	return t
}
