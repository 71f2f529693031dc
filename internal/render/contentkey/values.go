package contentkey

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A file stores the value of an animated property at the frame in which it was saved. Where a
// curve sets the property in every frame, that value does not count.

// values are members that curves set, by the names that paths give them.
func values() map[string]map[string]string {
	return map[string]map[string]string{
		"Object":       {"location": "loc", "rotation_euler": "rot", "rotation_quaternion": "quat", "scale": "size", "delta_location": "dloc"},
		"bPoseChannel": {"location": "loc", "rotation_euler": "eul", "rotation_quaternion": "quat", "scale": "size"},
		"KeyBlock":     {"value": "curval"},
		"Lamp":         {"energy": "energy"},
		"Camera": {
			"lens": "lens", "ortho_scale": "ortho_scale", "shift_x": "shiftx", "shift_y": "shifty", "sensor_width": "sensor_x", "sensor_height": "sensor_y",
			"dof.focus_distance": "dof.focus_distance", "dof.aperture_fstop": "dof.aperture_fstop",
		},
		"Scene": {"view_settings.exposure": "view_settings.exposure", "view_settings.gamma": "view_settings.gamma"},

		"IDProperty":             {customValue: "data.val", customValue + " rest": "data.val2"},
		"bNodeSocketValueFloat":  {"default_value": "value"},
		"bNodeSocketValueRGBA":   {"default_value": "value"},
		"bNodeSocketValueVector": {"default_value": "value"},
	}
}

// isValue reports whether a member of a struct is one of values.
func isValue(of, member string) bool {
	for _, name := range values()[of] {
		if name == member {
			return true
		}
	}
	return false
}

// Paths that lead from a data-block, or the nodes in it, to a struct of values.
var (
	ownPath    = regexp.MustCompile(`^((dof\.|view_settings\.)?\w+)$`)
	customPath = regexp.MustCompile(`^(?:\["([^"\\]*)"\]|(cycles|cycles_visibility)\.(\w+)|modifiers\["([^"\\]*)"\]\["([^"\\]*)"\])$`)
	namedPath  = regexp.MustCompile(`^(pose\.bones|key_blocks)\["([^"\\]*)"\]\.(\w+)$`)
	socketPath = regexp.MustCompile(`^nodes\["([^"\\]*)"\]\.inputs\[(\d+)\]\.(default_value)$`)
)

// target finds the block and the member that a curve of an animation sets. base has the
// animation.
func (f *file) target(base int32, path string) (b int32, property string) {
	if m := ownPath.FindStringSubmatch(path); m != nil {
		return base, m[1]
	}
	if m := customPath.FindStringSubmatch(path); m != nil {
		return f.custom(base, m), customValue
	}
	if m := namedPath.FindStringSubmatch(path); m != nil {
		first := f.pointer(base, "block.first")
		if m[1] == "pose.bones" {
			first = f.pointer(f.pointer(base, "pose"), "chanbase.first")
		}
		return f.named(first, m[2]), m[3]
	}
	if m := socketPath.FindStringSubmatch(path); m != nil {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return nowhere, ""
		}
		for s := range f.list(f.pointer(f.named(f.pointer(base, "nodes.first"), m[1]), "inputs.first")) {
			if n == 0 {
				return f.pointer(s, "default_value"), m[3]
			}
			n--
		}
	}
	return nowhere, ""
}

// customValue is the value of a custom property that is one number.
const customValue = "value"

// custom finds a custom property, a setting of Cycles, or an input of geometry nodes, which a
// path names.
func (f *file) custom(base int32, m []string) int32 {
	own := f.pointer(f.pointer(base, "id.properties"), "data.group.first")
	var found int32
	switch {
	case m[1] != "":
		found = f.named(own, m[1])
	case m[2] != "":
		found = f.named(f.pointer(f.named(own, m[2]), "data.group.first"), m[3])
	default:
		modifier := f.named(f.pointer(base, "modifiers.first"), m[4])
		found = f.named(f.pointer(f.pointer(modifier, "settings.properties"), "data.group.first"), m[5])
	}
	if found == nowhere {
		return nowhere
	}
	switch f.extras[found].property {
	case propertyInt, propertyFloat, propertyDouble, propertyBoolean:
		return found
	}
	return nowhere
}

// named finds an item of a list; nowhere where none or several have the name.
func (f *file) named(first int32, name string) int32 {
	found := int32(nowhere)
	for b := range f.list(first) {
		if x := f.extras[b]; x != nil && x.name == name {
			if found != nowhere {
				return nowhere
			}
			found = b
		}
	}
	return found
}

// forget leaves the bytes of a value out of what counts, that one curve sets.
func (f *file) forget(b int32, property string, index int64) {
	if b == nowhere || f.extras[b] == nil {
		return
	}
	l := f.byIndex[int(f.blocks[b].index)]
	if l.name == "IDProperty" {
		f.extras[b].forgotten = make([]byte, len(f.extras[b].values)) // they have no index
		return
	}
	at := 0
	for _, m := range l.members {
		if m.kind != value {
			continue
		}
		if m.path == values()[l.name][property] {
			if i := int(index); i >= 0 && 4*i+4 <= m.size {
				x := f.extras[b]
				if x.forgotten == nil {
					x.forgotten = slices.Clone(x.values)
				}
				clear(x.forgotten[at+4*i:][:4])
			}
			return
		}
		at += m.size
	}
}

// unset are the values that no curve sets.
func (x *extra) unset() []byte {
	if x.forgotten != nil {
		return x.forgotten
	}
	return x.values
}

// valueName is how curves are named in answers, such as location[0].
func valueName(path string, index int64) string {
	return strings.TrimSpace(path) + "[" + strconv.FormatInt(index, 10) + "]"
}
