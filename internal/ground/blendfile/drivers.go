package blendfile

const (
	driverPython  = 1 // ChannelDriver.type: the expression is a script
	curveMuted    = 1 << 4
	curveDisabled = 1 << 10 // the path leads nowhere
)

// sceneDrivers lists the scene's settings that drivers set. Such a setting has
// another value when the frame is rendered than the one that is stored.
func (f *file) sceneDrivers(r record, s *Scene) {
	s.DrivenSettings = []string{}
	seen := map[string]bool{}
	adt := r.follow("adt", "AnimData")
	for c := range adt.list("drivers", "FCurve") {
		if c.int("flag")&(curveMuted|curveDisabled) != 0 {
			continue
		}
		path := cString(f.raw(c, c.ptr("rna_path")))
		if path == "" || seen[path] {
			continue
		}
		seen[path] = true
		s.DrivenSettings = append(s.DrivenSettings, path)
		if path == "cycles.samples" || path == `["cycles"]["samples"]` {
			s.SamplesDriven = true
		}
	}
}

// pythonDrivers counts the drivers that are scripts, in all data-blocks. They do
// not run where scripts are switched off, so the picture may differ.
func (f *file) pythonDrivers() int {
	n := 0
	for d := range f.everywhere("ChannelDriver") {
		if d.int("type") == driverPython {
			n++
		}
	}
	return n
}
