package blendfile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// synth writes .blend files byte by byte, in the forms that no Blender at hand
// writes any more or yet. It shares no code with the reader.
type synth struct {
	form    form
	structs map[string]*synthStruct
	order   []string
	body    bytes.Buffer
}

type form struct {
	version int
	bits    int
	big     bool
	large   bool // 17-byte header, 32-byte block heads
}

type synthStruct struct {
	index  int
	size   int
	fields []synthField
}

type synthField struct {
	typ, decl, name string
	offset, unit    int
}

// values are members by dotted path: int, float64, string, or addr for pointers.
type values map[string]any

type addr uint64

var declaration = regexp.MustCompile(`^(\**)(\w+)((?:\[\d+\])*)$`)

// newSynth takes the structs of the file's era, one a line:
// "ListBase: void *first; void *last".
func newSynth(f form, defs string) *synth {
	s := &synth{form: f, structs: map[string]*synthStruct{}}
	for line := range strings.Lines(defs) {
		if line = strings.TrimSpace(line); line != "" {
			s.define(line)
		}
	}
	return s
}

func (s *synth) define(line string) {
	name, fields, _ := strings.Cut(line, ":")
	d := &synthStruct{index: len(s.order)}
	for decl := range strings.SplitSeq(fields, ";") {
		typ, member, _ := strings.Cut(strings.TrimSpace(decl), " ")
		m := declaration.FindStringSubmatch(member)
		unit := s.sizeOf(typ)
		if m[1] != "" {
			unit = s.form.bits / 8
		}
		d.fields = append(d.fields, synthField{typ: typ, decl: member, name: m[2], offset: d.size, unit: unit})
		n := 1
		for dim := range strings.SplitSeq(strings.Trim(m[3], "[]"), "][") {
			if dim != "" {
				k, _ := strconv.Atoi(dim)
				n *= k
			}
		}
		d.size += n * unit
	}
	s.structs[name] = d
	s.order = append(s.order, name)
}

func (s *synth) sizeOf(typ string) int {
	if d := s.structs[typ]; d != nil {
		return d.size
	}
	return map[string]int{"char": 1, "short": 2, "int": 4, "float": 4, "double": 8, "uint64_t": 8}[typ]
}

func (s *synth) endian() interface {
	binary.ByteOrder
	binary.AppendByteOrder
} {
	if s.form.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// head writes a block head.
func (s *synth) head(code string, index, size, count int, at addr) {
	o, b := s.endian(), make([]byte, 0, 32)
	c := make([]byte, 4)
	copy(c, code)
	if len(code) == 2 && s.form.big {
		c = []byte{0, 0, code[0], code[1]}
	}
	b = append(b, c...)
	if s.form.large {
		b = o.AppendUint32(b, uint32(index))
		b = o.AppendUint64(b, uint64(at))
		b = o.AppendUint64(b, uint64(size))
		b = o.AppendUint64(b, uint64(count))
	} else {
		b = o.AppendUint32(b, uint32(size))
		b = s.pointer(b, at)
		b = o.AppendUint32(b, uint32(index))
		b = o.AppendUint32(b, uint32(count))
	}
	s.body.Write(b)
}

func (s *synth) pointer(b []byte, at addr) []byte {
	if s.form.bits == 32 {
		return s.endian().AppendUint32(b, uint32(at))
	}
	return s.endian().AppendUint64(b, uint64(at))
}

// block writes one struct with the members given, all others zero.
func (s *synth) block(code, name string, at addr, v values) {
	d := s.structs[name]
	b := make([]byte, d.size)
	for path, value := range v {
		s.set(b, d, path, value)
	}
	s.head(code, d.index, len(b), 1, at)
	s.body.Write(b)
}

func (s *synth) set(b []byte, d *synthStruct, path string, value any) {
	name, rest, nested := strings.Cut(path, ".")
	for _, f := range d.fields {
		if f.name != name {
			continue
		}
		b = b[f.offset:]
		if nested {
			s.set(b, s.structs[f.typ], rest, value)
			return
		}
		s.put(b, f, value)
		return
	}
	panic(fmt.Sprintf("no member %s", path))
}

func (s *synth) put(b []byte, f synthField, value any) {
	o := s.endian()
	switch v := value.(type) {
	case string:
		copy(b, v)
	case addr:
		copy(b, s.pointer(nil, v))
	case float64:
		o.PutUint32(b, math.Float32bits(float32(v)))
	case int:
		switch f.unit {
		case 1:
			b[0] = byte(v)
		case 2:
			o.PutUint16(b, uint16(v))
		case 4:
			o.PutUint32(b, uint32(v))
		}
	}
}

// raw writes bytes that are declared to be nothing: text, pictures.
func (s *synth) raw(code string, at addr, data []byte) {
	s.head(code, 0, len(data), 1, at)
	s.body.Write(data)
}

// array writes the bytes of several structs in one block.
func (s *synth) array(code, name string, at addr, n int, data []byte) {
	s.head(code, s.structs[name].index, len(data), n, at)
	s.body.Write(data)
}

// dna writes the structs' descriptions.
func (s *synth) dna() {
	var names, types []string
	nameOf, typeOf := map[string]int{}, map[string]int{}
	number := func(list *[]string, of map[string]int, v string) uint16 {
		if _, ok := of[v]; !ok {
			of[v] = len(*list)
			*list = append(*list, v)
		}
		return uint16(of[v])
	}
	o := s.endian()
	var table []byte
	for _, name := range s.order {
		d := s.structs[name]
		table = o.AppendUint16(table, number(&types, typeOf, name))
		table = o.AppendUint16(table, uint16(len(d.fields)))
		for _, f := range d.fields {
			table = o.AppendUint16(table, number(&types, typeOf, f.typ))
			table = o.AppendUint16(table, number(&names, nameOf, f.decl))
		}
	}
	align := func(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }
	list := func(b []byte, tag string, l []string) []byte {
		b = o.AppendUint32(append(b, tag...), uint32(len(l)))
		return align(append(b, strings.Join(l, "\x00")+"\x00"...))
	}
	b := list([]byte("SDNA"), "NAME", names)
	b = append(list(b, "TYPE", types), "TLEN"...)
	for _, t := range types {
		b = o.AppendUint16(b, uint16(s.sizeOf(t)))
	}
	b = o.AppendUint32(append(align(b), "STRC"...), uint32(len(s.order)))
	s.raw("DNA1", 0, append(b, table...))
}

// bytes is the whole file. The end mark is a head alone.
func (s *synth) bytes() []byte {
	end := *s
	end.body = bytes.Buffer{}
	end.dna()
	end.head("ENDB", 0, 0, 0, 0)
	return append(s.start(), end.body.Bytes()...)
}

// start is the file without DNA and end mark.
func (s *synth) start() []byte {
	var h string
	if s.form.large {
		h = fmt.Sprintf("BLENDER17-01v%04d", s.form.version)
	} else {
		size, order := "-", "v"
		if s.form.bits == 32 {
			size = "_"
		}
		if s.form.big {
			order = "V"
		}
		h = fmt.Sprintf("BLENDER%s%s%03d", size, order, s.form.version)
	}
	return append([]byte(h), s.body.Bytes()...)
}

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// framed packs b as Blender does: zstd frames of a fixed length, and when asked
// a table of their places in a frame that decoders skip.
func framed(t testing.TB, b []byte, frame int, table bool) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var out, seek []byte
	frames := 0
	for len(b) > 0 {
		n := min(frame, len(b))
		packed := w.EncodeAll(b[:n], nil)
		out, b = append(out, packed...), b[n:]
		seek = binary.LittleEndian.AppendUint32(seek, uint32(len(packed)))
		seek = binary.LittleEndian.AppendUint32(seek, uint32(n))
		frames++
	}
	if table {
		seek = binary.LittleEndian.AppendUint32(seek, uint32(frames))
		seek = append(seek, 0)
		seek = binary.LittleEndian.AppendUint32(seek, 0x8F92EAB1)
		out = binary.LittleEndian.AppendUint32(out, 0x184D2A5E)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(seek)))
		out = append(out, seek...)
	}
	return out
}
