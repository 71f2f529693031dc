package pixels

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math"
	"slices"

	"svc.example/internal/render/pixels/exr"
)

// openEXR reads the header of an OpenEXR picture. Errors: ErrUnsupported, for kinds that Blender
// does not write, and those of a damaged header.
func openEXR(in *bufio.Reader) (*exr.File, error) {
	f, err := exr.Open(in)
	if errors.Is(err, exr.ErrUnsupported) {
		err = fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return f, err
}

// readEXR hashes a file as it is stored and looks for defects in the rows on the way. Of
// a picture with red, green and blue, or grey, and no other layers, it also makes the
// float form.
func readEXR(in *bufio.Reader, l *Limits) (Picture, error) {
	f, err := openEXR(in)
	if err != nil {
		return Picture{}, err
	}
	if err := l.claims("exr", f.Width, f.Height); err != nil {
		return Picture{}, err
	}
	// Only the chunk itself says how much of a DWA chunk must be unpacked.
	memory := f.Memory() + floatMemory(f)
	if f.DWA() && l.Memory > 0 {
		memory = min(memory, l.Memory)
		f.BoundDWA(l.Memory)
	}
	if !l.fits(memory) {
		return Picture{}, fmt.Errorf("the OpenEXR picture takes %d bytes to decode: too much for a file of its size", memory)
	}
	if err := l.takes(memory); err != nil {
		return Picture{}, err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "svc-exr-v1 %d %d\n", f.Width, f.Height)
	for name, value := range f.Meaning() {
		fmt.Fprintf(sum, "%s %d\n", name, len(value))
		sum.Write(value)
	}
	p := structured(f.Width, f.Height)
	rows := func(int, []byte) {} // the structure of its packing is looked at
	var detector *exrDetector
	var floats *floatForm
	if p.Decoded = !f.DWA(); p.Decoded {
		detector, floats = newEXRDetector(f), newFloatForm(f)
		rows = func(y int, row []byte) {
			detector.values(row)
			floats.row(y, row)
		}
	}
	if err := f.Chunks(sum, rows); err != nil {
		return Picture{}, err
	}
	p.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if p.Decoded {
		p.Defects, p.FloatSHA256 = detector.defects(), floats.sum()
	}
	// Blender shows no pixels of layers, so they are known by what is stored.
	p.Comparable = p.FloatSHA256 != "" || slices.ContainsFunc(f.Channels, func(c exr.Channel) bool { return c.Layer() != "" })
	return p, nil
}

// floatForm makes the form svc-pixels-f32-v1 of an OpenEXR picture as Blender reads it: four
// channels, grey as three equal colours, a missing alpha as opaque. Depth is left out. A
// picture with layers, or without colours, has none.
type floatForm struct {
	f      *exr.File
	colour [4]*exr.Channel // red, green, blue and alpha; nil is opaque
	hash   hash.Hash
	line   []byte
	turned []byte // rows of a picture that comes bottom first
}

// floatMemory is what the float form takes: a row, or all of them where they run upwards.
func floatMemory(f *exr.File) int64 {
	line := 16 * int64(f.Width)
	if f.Upwards {
		line *= int64(f.Height)
	}
	return line
}

func newFloatForm(f *exr.File) *floatForm {
	form := &floatForm{f: f}
	byName := map[string]*exr.Channel{}
	for i, c := range f.Channels {
		byName[c.Name] = &f.Channels[i]
	}
	layers := slices.ContainsFunc(f.Channels, func(c exr.Channel) bool { return c.Layer() != "" })
	switch y := byName["Y"]; {
	case layers:
		return nil
	case byName["R"] != nil && byName["G"] != nil && byName["B"] != nil:
		form.colour = [4]*exr.Channel{byName["R"], byName["G"], byName["B"], byName["A"]}
	case y != nil && byName["RY"] == nil && byName["BY"] == nil:
		form.colour = [4]*exr.Channel{y, y, y, byName["A"]}
	default:
		return nil
	}
	for _, c := range form.colour {
		if c != nil && !c.Float {
			return nil
		}
	}
	form.hash, form.line = sha256.New(), make([]byte, 16*f.Width)
	fmt.Fprintf(form.hash, "svc-pixels-f32-v1 %d %d 4\n", f.Width, f.Height)
	return form
}

// row adds a row, which comes before all of those below it, or above it where the file's
// rows run upwards.
func (m *floatForm) row(y int, row []byte) {
	if m == nil {
		return
	}
	line := m.line
	if m.f.Upwards {
		if m.turned == nil {
			m.turned = make([]byte, len(m.line)*m.f.Height)
		}
		line = m.turned[len(m.line)*y:][:len(m.line)]
	}
	for i, c := range m.colour {
		for x := range m.f.Width {
			v := float32(1)
			if c != nil {
				v = c.Of(row).At(x)
			}
			binary.BigEndian.PutUint32(line[16*x+4*i:], math.Float32bits(v))
		}
	}
	if !m.f.Upwards {
		m.hash.Write(line)
	}
}

// sum ends the hash; "" where there is none.
func (m *floatForm) sum() string {
	if m == nil {
		return ""
	}
	m.hash.Write(m.turned)
	return hex.EncodeToString(m.hash.Sum(nil))
}
