package contentkey

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/framelist"
)

// Comparison is what differs between two revisions of a scene.
type Comparison struct {
	Changed   framelist.List // frames whose pictures may differ
	Unchanged framelist.List // frames whose pictures are equal
	Causes    []Cause        // empty where no frame changed
}

// Cause is something that differs, and the frames that it can change.
type Cause struct {
	What   string         // such as "material Floor", or "action CubeAction"
	How    string         // "changed", "added", "removed" or "perhaps changed"
	Frames framelist.List // of those compared; nil for all
	Keys   int            // of an action: how many differ; 0 for others
}

// Compare says which of the frames changed from one revision to another, and why.
func Compare(before, after *Scene, frames framelist.List) Comparison {
	c := Comparison{Changed: framelist.List{}, Unchanged: framelist.List{}, Causes: []Cause{}}
	old := before.Keys(frames)
	for i, k := range after.Keys(frames) {
		if k == old[i] {
			c.Unchanged = append(c.Unchanged, frames[i])
		} else {
			c.Changed = append(c.Changed, frames[i])
		}
	}
	if len(c.Changed) == 0 {
		return c
	}
	c.Causes = append(everywhere(before, after), around(before, after, c.Changed)...)
	if !bytes.Equal(before.bytes, after.bytes) {
		c.Causes = append(c.Causes, Cause{What: "a property that a driver or an attribute node reads by its name", How: "perhaps changed"})
	}
	if len(c.Causes) == 0 {
		c.Causes = append(c.Causes, Cause{What: "the order or the saved state of the scene's parts", How: "changed"})
	}
	return c
}

// everywhere lists the data-blocks and files that differ, which every frame counts.
func everywhere(before, after *Scene) (causes []Cause) {
	names := map[string]bool{}
	for name := range maps.Keys(before.named) {
		names[name] = true
	}
	for name := range maps.Keys(after.named) {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, was := before.named[name]
		revised, is := after.named[name]
		switch {
		case !was:
			causes = append(causes, Cause{What: called(name), How: "added"})
		case !is:
			causes = append(causes, Cause{What: called(name), How: "removed"})
		case old != revised:
			causes = append(causes, Cause{What: called(name), How: "changed"})
		}
	}
	return causes
}

// around lists the actions whose keys differ, with the frames that those keys determine.
func around(before, after *Scene, changed framelist.List) (causes []Cause) {
	type action struct {
		frames map[int]bool
		keys   int
	}
	actions := map[string]*action{}
	revised := after.byName()
	for name, a := range before.byName() {
		b, ok := revised[name]
		if !ok {
			continue // the action differs everywhere
		}
		keys := differing(a.keys, b.keys)
		if keys == 0 && a.extend == b.extend {
			continue
		}
		if actions[a.action] == nil {
			actions[a.action] = &action{frames: map[int]bool{}}
		}
		actions[a.action].keys += keys
		for _, frame := range changed {
			from, to := float64(frame)-after.shutter, float64(frame)+after.shutter
			if !bytes.Equal(a.append(nil, from, to), b.append(nil, from, to)) {
				actions[a.action].frames[frame] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(actions)) {
		c := Cause{What: called(name), How: "changed", Keys: actions[name].keys}
		if before.Whole == "" && after.Whole == "" {
			if c.Frames = framelist.Of(slices.Collect(maps.Keys(actions[name].frames))); len(c.Frames) == 0 {
				continue // keys that no frame shows
			}
		}
		causes = append(causes, c)
	}
	return causes
}

// byName are the curves by action and path. If several have one name, the last counts, as in
// Blender.
func (s *Scene) byName() map[string]*curve {
	all := map[string]*curve{}
	for i := range s.curves {
		all[s.curves[i].action+"\x00"+s.curves[i].path] = &s.curves[i]
	}
	return all
}

// differing counts the keys that are in one list and not in the other, a key that moved as
// one. Keys of which only handles differ follow others, and count only where there are none.
func differing(old, revised []key) int {
	count := func(of func(key) key) int {
		was, kept := map[key]int{}, 0
		for _, k := range old {
			was[of(k)]++
		}
		for _, k := range revised {
			if was[of(k)] > 0 {
				was[of(k)]--
				kept++
			}
		}
		return max(len(old), len(revised)) - kept
	}
	points := count(func(k key) key {
		k.left, k.right = [2]float32{}, [2]float32{}
		return k
	})
	if points > 0 {
		return points
	}
	return count(func(k key) key { return k })
}

// called is what a person calls a data-block or a file, by its name with code.
func called(name string) string {
	if strings.HasPrefix(name, "file ") || len(name) < 2 {
		return name
	}
	kind := blendfile.KindName(name[:2])
	if kind == "" {
		return name
	}
	return kind + " " + name[2:]
}
