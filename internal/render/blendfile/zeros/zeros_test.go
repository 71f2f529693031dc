package zeros_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/render/blendfile/zeros"
)

func TestPackingZerosLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sometimesZero := rapid.OneOf(rapid.Just(byte(0)), rapid.Byte())
		b := rapid.SliceOfN(sometimesZero, 0, 200).Draw(t, "bytes")
		packed := zeros.Pack(nil, b)
		if got := zeros.Unpack(packed, len(b)); !bytes.Equal(got, b) {
			t.Errorf("%x came back as %x", b, got)
		}
	})
}

func TestPackedStructsAreMuchSmaller(t *testing.T) {
	t.Parallel()
	b := make([]byte, 1500)
	copy(b[40:], "OBCamera")
	copy(b[800:], "//textures/wood.png")
	if n := len(zeros.Pack(nil, b)); n > 40 {
		t.Errorf("1500 bytes with 27 of text take %d", n)
	}
}
