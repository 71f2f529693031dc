package blendfile

import (
	"strings"

	"svc.example/internal/render/blendfile/records"
)

// Division is what decides whether a picture may be rendered in strips: see package strips.
type Division struct {
	// Known is false if the file holds more than the memory bound lets Inspect look through.
	Known bool
	// Curves are RNA paths of settings of the render or of Cycles that keyframes or drivers
	// set, and of those that drivers read. One that a driver reads has "read " before it.
	Curves []string
	Tiled  bool // the picture is larger than a tile of Cycles'
	// Cycles stops by the clock; guides its paths by what it has seen; shades by scripts.
	TimeLimit, Guiding, Scripts bool
	Freestyle                   bool
	SampleCounts                bool // a view layer has the pass
	// ObjectTypes are the types of the objects that are rendered, by Blender's numbers, each once.
	ObjectTypes map[int]bool
}

// division reads it of the active scene.
func (f *file) division(active records.Record, s *Scene) Division {
	c := f.cycles(active)
	width, height := s.ResolutionX*s.ResolutionPercentage/100, s.ResolutionY*s.ResolutionPercentage/100
	d := Division{
		Tiled:       c.tile > 0 && max(width, height) > c.tile,
		TimeLimit:   c.limited,
		Guiding:     c.guiding,
		Scripts:     c.scripts || f.scripts,
		Freestyle:   f.freestyle(active),
		ObjectTypes: map[int]bool{},
	}
	for l := range active.List("view_layers", "ViewLayer") {
		pass := storedIn(cyclesGroup(l, "system_properties", "id_properties"))["pass_debug_sample_count"]
		d.SampleCounts = d.SampleCounts || f.chosen.Renders(active, l) && pass.some
	}
	objects, whole := f.Heads("OB", "Object")
	for r := range objects {
		if f.reach.Rendered(r) {
			d.ObjectTypes[r.Int("type")] = true
		}
	}
	d.Curves = f.settingCurves()
	d.Known = whole && !f.Lost["FCurve"] && !f.Lost["DriverVar"]
	return d
}

// freestyle reports whether Freestyle draws lines in a view layer that is rendered.
func (f *file) freestyle(scene records.Record) bool {
	if scene.Int("r.mode")&modeFreestyle == 0 {
		return false
	}
	for l := range scene.List("view_layers", "ViewLayer") {
		if f.chosen.Renders(scene, l) && l.Int("flag")&layerFreestyle != 0 {
			return true
		}
	}
	return false
}

// settingCurves lists the settings of the render that curves set or drivers read, of all
// scenes: few files have any.
func (f *file) settingCurves() (paths []string) {
	add := func(before, path string) {
		stopped := strings.HasPrefix(path, "render.resolution") && f.chosen.stops(path)
		if isRenderSetting(path) && !stopped && f.spend(len(path)) {
			paths = append(paths, before+path)
		}
	}
	for c := range f.Everywhere("FCurve") {
		if c.Int("flag")&curveMuted == 0 {
			add("", records.CString(f.Raw(c, c.Ptr("rna_path"))))
		}
	}
	for v := range f.Everywhere("DriverVar") {
		// Of an array of targets only the first can be a property.
		if path := v.Ptr("targets.rna_path"); path != 0 {
			add("read ", records.CString(f.Raw(v, path)))
		}
	}
	return paths
}

// isRenderSetting reports whether a path is of how a scene or a view layer is rendered.
func isRenderSetting(path string) bool {
	for _, of := range []string{"render.", "cycles", `["cycles"]`, "view_layers", "use_nodes"} {
		if strings.HasPrefix(path, of) {
			return true
		}
	}
	return false
}
