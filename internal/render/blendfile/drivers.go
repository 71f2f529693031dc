package blendfile

import (
	"fmt"
	"strings"

	"svc.example/internal/render/blendfile/expression"
	"svc.example/internal/render/blendfile/records"
)

const (
	driverPython  = 1 // ChannelDriver.type: the expression is a script
	curveMuted    = 1 << 4
	curveDisabled = 1 << 10 // the path leads nowhere
)

// sceneDrivers lists the scene's settings that drivers set. Such a setting has
// another value when the frame is rendered than the one that is stored.
func (f *file) sceneDrivers(r records.Record, s *Scene) {
	s.DrivenSettings = []string{}
	seen := map[string]bool{}
	adt := r.Follow("adt", "AnimData")
	for c := range adt.List("drivers", "FCurve") {
		if c.Int("flag")&(curveMuted|curveDisabled) != 0 {
			continue
		}
		path := records.CString(f.Raw(c, c.Ptr("rna_path")))
		if path == "" || seen[path] {
			continue
		}
		seen[path] = true
		s.DrivenSettings = append(s.DrivenSettings, path)
		if setsSamples(path) {
			s.SamplesDriven = true
		}
	}
}

// pythonDrivers counts the drivers that are scripts, in all data-blocks. They do
// not run where scripts are switched off, so the picture may differ.
func (f *file) pythonDrivers() int {
	n := 0
	for d := range f.Everywhere("ChannelDriver") {
		if d.Int("type") == driverPython {
			n++
		}
	}
	return n
}

// scripted lists the Python that the picture can depend on: texts that run on load, style
// modules of Freestyle, and drivers that Blender cannot compute without it, of data that the
// picture comes from.
func (f *file) scripted() []Script {
	all := []Script{}
	add := func(s Script) bool {
		if !f.spend(len(s.Owner) + len(s.Property) + len(s.Expression)) {
			f.Lost["ChannelDriver"] = true
			return false
		}
		all = append(all, s)
		return true
	}
	for r := range f.Facts("TX", "Text") {
		// Blender runs no other names, and of a library what it loads of it.
		if r.Int("flags")&textRegisters != 0 && f.reach.LevelOf(r) > None && strings.HasSuffix(r.Name(), ".py") && !add(Script{Owner: "text " + r.Name()}) {
			return all
		}
	}
	for s := range f.styleModules {
		if !add(s) {
			return all
		}
	}
	for c := range f.Everywhere("FCurve") {
		if f.Gone(c, "ChannelDriver", "DriverVar") {
			continue
		}
		d := c.Follow("driver", "ChannelDriver")
		if !d.OK() || c.Int("flag")&(curveMuted|curveDisabled) != 0 || !f.reach.Shown(c) {
			continue
		}
		path := records.CString(f.Raw(c, c.Ptr("rna_path")))
		if !f.python(d) || path == "" || unseen(path) || !f.reach.NodeUsed(c, nodeName(path)) {
			continue
		}
		if i := c.Int("array_index"); i > 0 {
			path = fmt.Sprintf("%s[%d]", path, i)
		}
		if !add(Script{Owner: f.driven(c), Property: path, Expression: d.Text("expression")}) {
			return all
		}
	}
	return all
}

const (
	modeFreestyle   = 1 << 25 // RenderData.mode
	layerFreestyle  = 1 << 2  // ViewLayer.flag
	freestyleScript = 1       // FreestyleConfig.mode: style modules draw the lines
	moduleUsed      = 1 << 0  // FreestyleModuleConfig.is_displayed
)

// styleModules yields the style modules of Freestyle that would draw lines in scenes that
// are rendered. Files of before 2.80, which had render layers, are not looked through.
func (f *file) styleModules(yield func(Script) bool) {
	for scene := range f.Facts("SC", "Scene") {
		if scene.Int("r.mode")&modeFreestyle == 0 || f.reach.LevelOf(scene) == None {
			continue
		}
		for l := range scene.List("view_layers", "ViewLayer") {
			if flag := l.Int("flag"); !f.chosen.Renders(scene, l) || flag&layerFreestyle == 0 || l.Int("freestyle_config.mode") != freestyleScript {
				continue
			}
			for m := range l.List("freestyle_config.modules", "FreestyleModuleConfig") {
				text := f.DataBlockName("TX", m.Ptr("script"))
				if text != "" && m.Int("is_displayed")&moduleUsed != 0 && !yield(Script{Owner: "view layer " + l.Text("name"), Property: "Freestyle module " + text}) {
					return
				}
			}
		}
	}
}

// python reports whether a driver needs Python. Without an expression it gives 0 in any
// case.
func (f *file) python(d records.Record) bool {
	text := d.Text("expression")
	if d.Int("type") != driverPython || text == "" {
		return false
	}
	var names []string
	for v := range d.List("variables", "DriverVar") {
		names = append(names, v.Text("name"))
	}
	return expression.NeedsScripts(text, names)
}

// nodeName is the name of the node that a property is of, such as Mix of
// nodes["Mix"].inputs[0].default_value; "" for a property of something else.
func nodeName(path string) string {
	rest, ok := strings.CutPrefix(path, `nodes["`)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, `"]`)
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(name)
}

// unseen reports whether a property shows in the viewport only.
func unseen(path string) bool {
	last := path[strings.LastIndexByte(path, '.')+1:]
	return last == "hide_viewport" || last == "hide_select" || last == "show_viewport" || last == "display_type"
}

// driven names the data-block of a driver.
func (f *file) driven(c records.Record) string {
	if f.reach == nil {
		return f.OwnerName(c)
	}
	return f.called(c.Owner())
}
