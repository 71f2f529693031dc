package strips_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"svc.example/internal/render/seam"
	"svc.example/internal/render/strips"
)

// changed is the picture with other values: change gets each value of the rows at the cut 10, with
// the pixel that it is of.
func (p picture) changed(change func(x int, v float32) float32) picture {
	rows := append([][]byte{}, p.rows...)
	for _, y := range []int{9, 10} {
		rows[y] = bytes.Clone(rows[y])
		for _, of := range p.like.Split(rows[y]) {
			for x := range len(of) / 4 {
				v := math.Float32frombits(binary.LittleEndian.Uint32(of[4*x:]))
				binary.LittleEndian.PutUint32(of[4*x:], math.Float32bits(change(x, v)))
			}
		}
	}
	return picture{p.like, rows}
}

// GPUs repeat a picture but for the last bits, and a pixel now and then; anything else at a cut is
// found.
func TestSeamsOfGPUsAgreeWithinTheirNoise(t *testing.T) {
	t.Parallel()
	p := readRows(t, rendered)
	chance := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		change func(x int, v float32) float32
		agree  bool
	}{
		"last bits":        {func(_ int, v float32) float32 { return v * (1 + 4e-6*(chance.Float32()-0.5)) }, true},
		"another seed":     {func(_ int, v float32) float32 { return v * (1 + 0.3*(chance.Float32()-0.5)) }, false},
		"a dark stretch":   {func(x int, v float32) float32 { return v * float32(min(1, x/4)) }, false},
		"a little lighter": {func(_ int, v float32) float32 { return v*1.01 + 0.001 }, false},
		"not a number":     {func(x int, v float32) float32 { return v + float32(math.NaN())*float32(max(0, 5-x)) }, false},
	} {
		upper, lower := p.strip(t, 0, 10, 1), p.changed(c.change).strip(t, 10, len(p.rows), 1)
		if err := strips.Seams(upper, lower); !errors.Is(err, strips.ErrSeam) {
			t.Errorf("%s, of processors: %v, though the bits differ", name, err)
		}
		upper.GPU, lower.GPU = true, true
		if err := strips.Seams(upper, lower); (err == nil) != c.agree || (err != nil && !errors.Is(err, strips.ErrSeam)) {
			t.Errorf("%s, of GPUs: %v, want agreement: %v", name, err, c.agree)
		}
		lower.GPU = false
		if err := strips.Seams(upper, lower); !errors.Is(err, strips.ErrSeam) {
			t.Errorf("%s, of a GPU and a processor: %v", name, err)
		}
	}
}

func TestSeamsOfWorkersAreOfTheirForm(t *testing.T) {
	t.Parallel()
	s := readRows(t, rendered).strip(t, 0, 10, 1)
	plain, err1 := s.Seam(10)
	s.GPU = true
	sketched, err2 := s.Seam(10)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if seam.Hash(sketched) != plain || seam.Hash(plain) != plain {
		t.Errorf("the hash of %q is not %q", sketched, plain)
	}
	for text, want := range map[string]bool{
		plain: true, sketched: true, "": false, plain[1:]: false, strings.ToUpper(plain): false, plain + " ": false, plain + " 1234567": false,
		plain + " 12345678!": false, plain + " 12345678" + strings.Repeat("A", 30_000): false,
	} {
		if seam.Is(text) != want {
			t.Errorf("Is(%.100q) is %v", text, !want)
		}
	}
	// The same rows with another hash, as a GPU renders them again.
	again := strings.Repeat("0", len(plain)) + sketched[len(plain):]
	if !seam.Agree(sketched, again) {
		t.Error("equal sketches do not agree")
	}
	for what, other := range map[string]string{
		"nothing": "", "a hash alone": plain, "other channels": sketched[:len(plain)+1] + "00000000" + sketched[len(plain)+9:], "more rows": sketched + "AAAA",
	} {
		if seam.Agree(again, other) || seam.Agree(other, again) {
			t.Errorf("a seam agrees with %s", what)
		}
	}
}
