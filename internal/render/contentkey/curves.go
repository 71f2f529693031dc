package contentkey

import (
	"encoding/binary"
	"math"
	"slices"
)

// key is a key of an F-curve: its point and its two handles, each a time and a value, and how
// the curve runs to the next key.
type key struct {
	left, point, right      [2]float32
	how, easing             byte
	back, amplitude, period float32
}

const keySize = 40

// Values of BezTriple.ipo and FCurve.
const (
	constant = 0
	linear   = 1
	bezier   = 2

	extendConstant = 0       // FCurve.extend
	curveMuted     = 1 << 4  // FCurve.flag
	curveDisabled  = 1 << 10 // FCurve.flag: Blender did not find what it sets
	curveDiscrete  = 1 << 12 // FCurve.flag: it keeps each value up to the next key
)

// key reads a BezTriple.
func (f *file) key(l *layout, b []byte) key {
	float := func(path string, i int) float32 {
		m, ok := l.fields(path)
		if !ok {
			return 0
		}
		return math.Float32frombits(f.Order.Uint32(b[m.Offset+4*i:]))
	}
	point := func(i int) [2]float32 { return [2]float32{float("vec", 3*i), float("vec", 3*i+1)} }
	return key{
		left: point(0), point: point(1), right: point(2),
		how: byte(f.integer(l, b, "ipo")), easing: byte(f.integer(l, b, "easing")),
		back: float("back", 0), amplitude: float("amplitude", 0), period: float("period", 0),
	}
}

// curve is an F-curve of which a frame needs only the keys around it.
type curve struct {
	action   string
	path     string // with its index, such as "location[0]"
	keys     []key  // by time
	extend   int64
	discrete bool
	looks    []look
}

// look is a modifier that has a curve show a time as another one is. Its influence can be
// anything between that and none.
type look struct {
	cycles      bool    // it repeats the keys: between the first and the last one it does nothing
	step        float64 // it shows a time that is at most so far away
	least, most float64 // it shows these in place of earlier and later ones
}

// looked are the times that the curve is computed from to show those from one to another: all
// times where it is not ok.
func (c *curve) looked(from, to float64) (float64, float64, bool) {
	for _, l := range c.looks {
		if l.cycles {
			if from < float64(c.keys[0].point[0]) || to > float64(c.keys[len(c.keys)-1].point[0]) {
				return from, to, false
			}
			continue
		}
		from, to = min(from-l.step, l.limit(from)), max(to+l.step, l.limit(to))
	}
	return from, to, true
}

func (l *look) limit(t float64) float64 {
	switch {
	case t < l.least:
		return l.least
	case t > l.most:
		return l.most
	}
	return t
}

// near is how far from a key Blender still takes the key's value, with room to spare.
const near = 0.001

// append adds what determines the values of the curve from one time to another: the parts
// between keys that the span touches. Blender computes a value from the keys before and
// after it, and beyond the ends from the last two; see fcurve_eval_keyframes.
func (c *curve) append(b []byte, from, to float64) []byte {
	from, to, ok := c.looked(from, to)
	if !ok {
		return c.all(b)
	}
	if from == to {
		if i := c.at(from); i >= 0 {
			kind := byte('k')
			if c.level(i) && (i > 0 || c.levelBeyond(i)) {
				kind = 'v'
			}
			return floats(append(b, kind), c.keys[i].point[1])
		}
	}
	from, to = from-near, to+near
	if v, ok := c.steady(from, to); ok {
		return floats(append(b, 'v'), v)
	}
	n := len(c.keys)
	if n == 0 {
		return b
	}
	// The first part that counts begins at the last key before the span.
	first, _ := slices.BinarySearchFunc(c.keys, from, keyTime)
	if first == 0 {
		b = c.beyond(b, 0, 1)
	} else {
		first--
	}
	for i := first; i < n && float64(c.keys[i].point[0]) <= to; i++ {
		if i == n-1 {
			b = c.beyond(b, n-1, n-2)
		} else {
			b = c.between(b, &c.keys[i], &c.keys[i+1])
		}
	}
	return b
}

// all adds everything that the values of the curve come from.
func (c *curve) all(b []byte) []byte {
	b = append(b, 'a', byte(c.extend))
	for i := range c.keys {
		k := &c.keys[i]
		b = floats(append(b, k.how, k.easing), k.left[:]...)
		b = floats(b, k.point[:]...)
		b = floats(b, k.right[:]...)
		b = floats(b, k.back, k.amplitude, k.period)
	}
	return b
}

// steady is the one value that the curve has from one time to another, where no key is and
// Blender computes exactly that value. With a key there, Blender's choice of a part could
// depend on the key's time.
func (c *curve) steady(from, to float64) (v float32, ok bool) {
	n := len(c.keys)
	next, _ := slices.BinarySearchFunc(c.keys, from, keyTime)
	switch {
	case n == 0, next < n && float64(c.keys[next].point[0]) <= to:
		return 0, false
	case next == 0, next == n:
		end := min(next, n-1)
		return c.keys[end].point[1], c.levelBeyond(end)
	}
	return c.keys[next-1].point[1], c.level(next - 1)
}

// level reports whether the curve keeps the value of a key up to the next one, or beyond the
// last.
func (c *curve) level(i int) bool {
	if i == len(c.keys)-1 {
		return c.levelBeyond(i)
	}
	k, next := &c.keys[i], &c.keys[i+1]
	return k.how == constant || c.discrete || k.how == linear && k.point[1] == next.point[1] || k.how == bezier && k.flatTo(next)
}

// levelBeyond reports whether the curve keeps the value of its first or last key beyond it.
func (c *curve) levelBeyond(end int) bool {
	return c.extend == extendConstant || c.keys[end].how == constant || c.discrete
}

// flatTo reports whether Blender takes a part for a line without a slope.
func (k *key) flatTo(next *key) bool {
	return k.point[1] == k.right[1] && k.right[1] == next.left[1] && next.left[1] == next.point[1]
}

// at is the key at a time, if no other is so near that Blender could take it instead; -1 for
// none.
func (c *curve) at(t float64) int {
	const apart = 0.1
	first, _ := slices.BinarySearchFunc(c.keys, t-apart, keyTime)
	if first == len(c.keys) || float64(c.keys[first].point[0]) != t || first+1 < len(c.keys) && float64(c.keys[first+1].point[0]) <= t+apart {
		return -1
	}
	return first
}

// keyTime orders a key before all times after its own.
func keyTime(k key, t float64) int {
	if float64(k.point[0]) < t {
		return -1
	}
	return 1
}

// beyond adds what determines values before the first key, or after the last one.
func (c *curve) beyond(b []byte, end, next int) []byte {
	k := &c.keys[end]
	alone := next < 0 || next >= len(c.keys)
	if c.levelBeyond(end) || alone && k.how == linear {
		return floats(append(b, 'e'), k.point[1])
	}
	// A line continues in the direction of the handle, or of the next key.
	b = floats(append(b, 'l', k.how), k.left[:]...)
	b = floats(b, k.point[:]...)
	b = floats(b, k.right[:]...)
	if alone {
		return b
	}
	return floats(b, c.keys[next].point[:]...)
}

// between adds what determines values between two keys.
func (c *curve) between(b []byte, k, next *key) []byte {
	switch {
	case k.how == constant, c.discrete:
		b = floats(append(b, 'c'), k.point[1])
	case k.how == linear:
		b = floats(append(b, 'i'), k.point[:]...)
	case k.how == bezier && k.flatTo(next):
		return floats(append(b, 'f'), k.point[1])
	case k.how == bezier:
		b = floats(append(b, 'b'), k.point[:]...)
		b = floats(b, k.right[:]...)
		b = floats(b, next.left[:]...)
	default:
		b = floats(append(b, 'x', k.how, k.easing), k.point[:]...)
		b = floats(b, k.back, k.amplitude, k.period)
	}
	return floats(b, next.point[:]...)
}

func floats(b []byte, values ...float32) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}
