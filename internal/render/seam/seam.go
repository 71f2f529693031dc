// Package seam compares two rows of a picture as two renderings show them: at a cut of a picture
// that is rendered in strips, and of the scene by which machines are compared.
//
// What always holds: a seam is a text, the hash of the rows and, where a GPU rendered them, a blank
// and a sketch. Seams without sketches agree only if they are equal.
//
// Package strips makes seams of files. Start reading at Agree.
package seam

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
)

// A GPU adds up what its threads find in whatever order they end, so the last bits of what it
// renders differ from one time to the next. Of 39 scenes on an H200, 62 of 117 seams were not equal
// to the bit, by 0.000002 at most; a seam of other noise differs by a hundredth nearly everywhere. So the seam of a strip that a GPU rendered has a sketch besides its hash: the
// averages of some pixels each, of light pressed into -1 to 1.
const (
	// sketchValues is how many averages a seam has at most, over all channels of both rows.
	sketchValues = 4096
	// sketchCells is how many it has of a channel of a row, at most.
	sketchCells = 128
	// sketchSteps is by how much averages may differ that count as the same: 0.00024 of light.
	sketchSteps = 8
	// sketchStrays is which part of the averages may differ by more: a path that ends elsewhere
	// changes a pixel visibly, about one in 15,000.
	sketchStrays = 0.01
	// mostSeam bounds the text of a seam.
	mostSeam = sha256.Size*2 + 1 + 8 + (2*sketchValues+2)/3*4
)

// Agree reports whether two seams are of the same rows: to the bit, or within the noise of GPUs.
func Agree(upper, lower string) bool {
	if upper == lower {
		return true
	}
	_, a, _ := strings.Cut(upper, " ")
	_, b, _ := strings.Cut(lower, " ")
	if len(a) != len(b) || len(a) < 8 || a[:8] != b[:8] { // other channels, or another width
		return false
	}
	values, err1 := base64.RawURLEncoding.DecodeString(a[8:])
	others, err2 := base64.RawURLEncoding.DecodeString(b[8:])
	if err1 != nil || err2 != nil || len(values) < 2 {
		return false
	}
	strays, n := 0, len(values)/2
	for i := range n {
		one, other := int(binary.LittleEndian.Uint16(values[2*i:])), int(binary.LittleEndian.Uint16(others[2*i:]))
		if one-other > sketchSteps || other-one > sketchSteps {
			strays++
		}
	}
	return float64(strays) <= sketchStrays*float64(n)
}

// Hash is the hash of a seam, without its sketch.
func Hash(seam string) string {
	sum, _, _ := strings.Cut(seam, " ")
	return sum
}

// Is reports whether a text, of a worker, can be a seam.
func Is(text string) bool {
	sum, sketched, has := strings.Cut(text, " ")
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size || sum != strings.ToLower(sum) || len(text) > mostSeam {
		return false
	}
	if !has {
		return true
	}
	if len(sketched) < 8 {
		return false
	}
	_, err := base64.RawURLEncoding.DecodeString(sketched[8:])
	return err == nil
}

// Sketch collects the averages of the rows at a cut.
type Sketch struct {
	kind   string // the same for equal widths and channels
	cell   int    // pixels that are averaged
	values []byte
}

// NewSketch begins one of rows with so many pixels and channels; kind is equal for equal channels.
func NewSketch(width, channels int, kind string) *Sketch {
	cells := min(sketchCells, max(1, sketchValues/2/max(1, channels)))
	sum := sha256.Sum256(fmt.Appendf(nil, "svc-sketch-v1 %d %d\n%s", width, channels, kind))
	return &Sketch{kind: hex.EncodeToString(sum[:4]), cell: max(1, (width+cells-1)/cells)}
}

// Add takes the values of a channel of a row, of 32 bits each. What is beyond the bound is left out.
func (s *Sketch) Add(row []byte) {
	for size := 4 * s.cell; len(row) >= 4 && len(s.values) < 2*sketchValues; row = row[min(size, len(row)):] {
		cell := row[:min(size, len(row))]
		sum := 0.0
		for at := 0; at+4 <= len(cell); at += 4 {
			sum += pressed(float64(math.Float32frombits(binary.LittleEndian.Uint32(cell[at:]))))
		}
		mean := sum / float64(len(cell)/4)
		s.values = binary.LittleEndian.AppendUint16(s.values, uint16(math.Round((mean+1)/2*math.MaxUint16)))
	}
}

// pressed brings light of any brightness between -1 and 1; what is not a number is -1.
func pressed(v float64) float64 {
	switch {
	case math.IsNaN(v):
		return -1
	case math.IsInf(v, 0):
		return math.Copysign(1, v)
	}
	return v / (1 + math.Abs(v))
}

// String is the sketch as a seam has it.
func (s *Sketch) String() string {
	return s.kind + base64.RawURLEncoding.EncodeToString(s.values)
}
