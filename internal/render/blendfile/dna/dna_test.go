package dna_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"svc.example/internal/render/blendfile/dna"
)

// described is the DNA of a Scene with a pointer, an array and a struct inside.
func described(order binary.ByteOrder, address int) []byte {
	var b []byte
	align := func() {
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	u16 := func(values ...int) {
		for _, v := range values {
			b = binary.BigEndian.AppendUint16(b, uint16(v))
			if order == binary.LittleEndian {
				b[len(b)-2], b[len(b)-1] = b[len(b)-1], b[len(b)-2]
			}
		}
	}
	table := func(tag string, n int) {
		b = append(b, tag...)
		if order == binary.LittleEndian {
			u16(n, 0)
		} else {
			u16(0, n)
		}
	}
	texts := func(tag string, all ...string) {
		table(tag, len(all))
		b = append(b, strings.Join(all, "\x00")+"\x00"...)
		align()
	}
	b = append(b, "SDNA"...)
	texts("NAME", "*camera", "name[8]", "r", "frame[2]")
	texts("TYPE", "char", "int", "Object", "RenderData", "Scene")
	b = append(b, "TLEN"...)
	u16(1, 4, 0, 8, address+8+8)
	align()
	table("STRC", 2)
	u16(3, 1, 1, 3)             // RenderData: int frame[2]
	u16(4, 3, 2, 0, 0, 1, 3, 2) // Scene: Object *camera, char name[8], RenderData r
	return b
}

func TestMembersAreFoundByNameInEveryByteOrder(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, address := range []int{4, 8} {
			d, err := dna.Parse(described(order, address), order, address)
			if err != nil {
				t.Fatal(err)
			}
			scene, err := d.Layout("Scene")
			if err != nil || scene == nil {
				t.Fatalf("got %v, %v", scene, err)
			}
			want := map[string]dna.Field{
				"camera":  {Name: "camera", Type: "Object", Size: address, Count: 1, Pointer: true},
				"name":    {Name: "name", Type: "char", Offset: address, Size: 8, Count: 8},
				"r.frame": {Name: "frame", Type: "int", Offset: address + 8, Size: 8, Count: 2},
			}
			for path, field := range want {
				if got, ok, err := d.Find(scene, path); !ok || err != nil || got != field {
					t.Errorf("%s: got %+v, %v, %v; want %+v", path, got, ok, err, field)
				}
			}
			for _, path := range []string{"world", "r.samples", "camera.data"} {
				if got, ok, err := d.Find(scene, path); ok || err != nil {
					t.Errorf("%s: got %+v, %v; there is none", path, got, err)
				}
			}
		}
	}
}

func TestAStructThatTheVersionDoesNotHaveHasNoLayout(t *testing.T) {
	d, err := dna.Parse(described(binary.LittleEndian, 8), binary.LittleEndian, 8)
	if err != nil {
		t.Fatal(err)
	}
	if l, err := d.Layout("Volume"); l != nil || err != nil {
		t.Errorf("got %v, %v", l, err)
	}
	if index, ok := d.Index("Scene"); !ok || d.StructName(index) != "Scene" || d.StructName(index+1) != "" {
		t.Errorf("got %d, %v, %q, %q", index, ok, d.StructName(index), d.StructName(index+1))
	}
}

func TestTablesThatEndEarlyAreAnError(t *testing.T) {
	whole := described(binary.LittleEndian, 8)
	for n := range whole {
		if _, err := dna.Parse(whole[:n], binary.LittleEndian, 8); err == nil {
			t.Errorf("%d of %d bytes are taken for all of it", n, len(whole))
		}
	}
}
