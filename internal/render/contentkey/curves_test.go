package contentkey

import (
	"bytes"
	"testing"
)

// keyAt is a key at a time with a value, and handles that rise by a slope.
func keyAt(time, value, slope float32, how byte) key {
	return key{left: [2]float32{time - 1, value - slope}, point: [2]float32{time, value}, right: [2]float32{time + 1, value + slope}, how: how}
}

// Blender continues in the direction of the key's own handle.
func TestALineThroughOneKeyCountsItsHandles(t *testing.T) {
	t.Parallel()
	const rising = 1
	flat, steep := curve{keys: []key{keyAt(1, 0, 0, bezier)}, extend: rising}, curve{keys: []key{keyAt(1, 0, 1, bezier)}, extend: rising}
	for _, time := range []float64{-1, 5} {
		if bytes.Equal(flat.append(nil, time, time), steep.append(nil, time, time)) {
			t.Errorf("at %v the curves count as equal", time)
		}
	}
	straight, sloping := curve{keys: []key{keyAt(1, 0, 0, linear)}, extend: rising}, curve{keys: []key{keyAt(1, 0, 1, linear)}, extend: rising}
	if !bytes.Equal(straight.append(nil, 5, 5), sloping.append(nil, 5, 5)) {
		t.Error("a key without handles counts handles")
	}
}

// Each row is a curve in two revisions, and times where it has the same value in both.
func TestACurveThatKeepsOneValueCountsNothingElse(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		before, after   []key
		same, mayDiffer []float64
	}{
		"a key between others of its value": {
			[]key{keyAt(1, 2, 0, bezier), keyAt(9, 2, 0, bezier)}, []key{keyAt(1, 2, 0, bezier), keyAt(4, 2, 0, bezier), keyAt(9, 2, 0, bezier)},
			[]float64{2, 3, 4, 6, 8, 12}, []float64{4.0005},
		},
		"steps": {
			[]key{keyAt(1, 2, 0, constant), keyAt(9, 3, 0, constant)}, []key{keyAt(1, 2, 0, constant), keyAt(7, 3, 0, constant)},
			[]float64{1, 3, 6, 9, 12}, []float64{7, 8, 6.9995},
		},
		"a line without a slope": {
			[]key{keyAt(1, 2, 1, linear), keyAt(9, 2, 1, linear)}, []key{keyAt(1, 2, 0, linear), keyAt(8, 2, 0, linear)},
			[]float64{2, 5, 7}, nil,
		},
		"handles that rise": {
			[]key{keyAt(1, 2, 0, bezier), keyAt(9, 2, 0, bezier)}, []key{keyAt(1, 2, 0, bezier), keyAt(9, 2, 1, bezier)},
			[]float64{12}, []float64{2, 5, 8},
		},
		"a spring": {
			[]key{keyAt(1, 2, 0, bezier), keyAt(9, 2, 0, bezier)}, []key{keyAt(1, 2, 0, 12), keyAt(9, 2, 0, bezier)},
			[]float64{0, 12}, []float64{2, 5, 8},
		},
	} {
		before, after := curve{keys: row.before}, curve{keys: row.after}
		for _, time := range row.same {
			if !bytes.Equal(before.append(nil, time, time), after.append(nil, time, time)) {
				t.Errorf("%s: at %v the values count as different", name, time)
			}
		}
		for _, time := range row.mayDiffer {
			if bytes.Equal(before.append(nil, time, time), after.append(nil, time, time)) {
				t.Errorf("%s: at %v the values count as equal", name, time)
			}
		}
	}
}

// While the shutter is open, a key counts with its time.
func TestAShutterOverAKeyCountsTheKey(t *testing.T) {
	t.Parallel()
	before := curve{keys: []key{keyAt(1, 2, 0, bezier), keyAt(9, 2, 0, bezier)}}
	after := curve{keys: []key{keyAt(1, 2, 0, bezier), keyAt(4, 2, 0, bezier), keyAt(9, 2, 0, bezier)}}
	if bytes.Equal(before.append(nil, 3.5, 4.5), after.append(nil, 3.5, 4.5)) || !bytes.Equal(before.append(nil, 5, 8), after.append(nil, 5, 8)) {
		t.Error("a key inside the shutter counts nothing, or one outside counts")
	}
}
