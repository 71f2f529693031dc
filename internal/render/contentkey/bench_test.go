package contentkey

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/framelist"
	"svc.example/internal/test/packed"
)

// BenchmarkRead100MiB reads a scene of 100 MiB, half of which are blocks of 256 KiB, and the
// other half 256,000 blocks of 200 bytes.
func BenchmarkRead100MiB(b *testing.B) {
	file := grown(b, 100<<20)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }, blendfile.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkKeysOf10000Frames makes the keys of 10,000 frames of a scene with 500 curves of
// 1,000 keys each.
func BenchmarkKeysOf10000Frames(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	s := &Scene{}
	for i := range 500 {
		c := curve{action: fmt.Sprint(i), path: "location[0]"}
		for at := range 1000 {
			y := r.Float32()
			c.keys = append(c.keys, key{left: [2]float32{float32(10*at) - 3, y}, point: [2]float32{float32(10 * at), y}, right: [2]float32{float32(10*at) + 3, y}, how: bezier})
		}
		s.curves = append(s.curves, c)
	}
	frames := framelist.Range{First: 1, Last: 10_000, Step: 1}.List()
	b.ReportAllocs()
	for b.Loop() {
		s.Keys(frames)
	}
}

// grown is the scene of testdata with more data in its mesh, up to a size.
func grown(b *testing.B, size int) []byte {
	file := packed.Read(b, "testdata/scene.blend")
	const headSize = 24
	at := 12
	for string(file[at:at+4]) != "ME\x00\x00" {
		at += headSize + int(binary.LittleEndian.Uint32(file[at+4:]))
	}
	at += headSize + int(binary.LittleEndian.Uint32(file[at+4:])) // after the head of the mesh
	var more bytes.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	for n := 0; more.Len() < size; n++ {
		length := 200
		if more.Len() > size/2 {
			length = 256 << 10
		}
		head := binary.LittleEndian.AppendUint32([]byte("DATA"), uint32(length))
		head = binary.LittleEndian.AppendUint64(head, 0x7000_0000_0000+uint64(n)*1<<20)
		more.Write(append(head, 0, 0, 0, 0, 1, 0, 0, 0))
		data := make([]byte, length)
		for i := 0; i+8 <= length; i += 24 {
			binary.LittleEndian.PutUint64(data[i:], r.Uint64())
		}
		more.Write(data)
	}
	return append(append(bytes.Clone(file[:at]), more.Bytes()...), file[at:]...)
}
