package contentkey

import "regexp"

// Drivers and attribute nodes read properties by their names, even those of the user
// interface. Where they read others than those below, every byte of the file counts.

// plainPaths are paths of properties that count anyway: custom properties, transforms, values
// of sockets, shape keys and constraints, and the frame.
var plainPaths = regexp.MustCompile(`(^|[.\]])(\["[^"]*"\]|(location|rotation_euler|rotation_quaternion|scale|value|default_value|influence|eval_time|energy|lens|frame_current)(\[\d+\])?|(matrix_world|matrix_local)\[\d+\]\[\d+\])$`)

// customProperty is how an attribute node names a custom property and nothing else.
var customProperty = regexp.MustCompile(`^\["[^"]*"\]$`)

// watched reports whether something reads a property that irrelevant.go may leave out.
func (w *reached) watched() bool {
	const geometry = 0 // NodeShaderAttribute.type: data of points and faces
	for _, b := range w.order {
		switch w.structOf(b) {
		case "NodeShaderAttribute":
			if w.number(b, "type") != geometry && !customProperty.MatchString(w.textIn(b, "name")) {
				return true
			}
		case "DriverVar":
			for _, to := range w.pointers[w.blocks[b].first:w.blocks[b].last] {
				if to == nowhere || w.isHead(to) || w.blocks[to].index != rawData {
					continue
				}
				if path, ok := w.textAt(to); !ok || !plainPaths.MatchString(path) {
					return true
				}
			}
		}
	}
	return false
}
