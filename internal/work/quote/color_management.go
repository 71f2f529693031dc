package quote

import (
	"slices"
	"strings"

	"svc.example/internal/render/colour"
)

// ColorManagement is what a scene asks of Blender's colour management for its picture, as
// far as it changes the picture. A member that is "" asks for nothing.
type ColorManagement struct {
	Display     string       `json:"display,omitempty" doc:"Display device; absent where the output is linear."`
	View        string       `json:"view,omitempty" doc:"View transform; absent where the output is linear."`
	Look        string       `json:"look,omitempty" doc:"Absent where there is none or the output is linear."`
	OutputSpace string       `json:"output_space,omitempty" doc:"Colour space of a linear output that has one of its own."`
	Sequencer   string       `json:"sequencer_space,omitempty" doc:"Colour space of the sequencer, where it makes the picture."`
	Images      []ImageSpace `json:"images,omitempty" doc:"Each colour space of images that the picture needs, with one of them."`
	Others      []UsedSpace  `json:"others,omitempty" doc:"The colour spaces of movie clips, strips, compositor nodes and images of libraries that the picture needs."`
	// Config is nil where Blender's own is used.
	Config *ColorConfig `json:"config,omitempty" doc:"The project's OpenColorIO configuration, with which the scene is rendered; absent where Blender's own is used."`
}

// ColorConfig is an OpenColorIO configuration of a project.
type ColorConfig struct {
	Path    string      `json:"path"`
	SHA256  string      `json:"sha256"`
	Version string      `json:"version" doc:"Format version, such as 2.1."`
	Display string      `json:"display" doc:"The default display."`
	View    string      `json:"view" doc:"The default view of that display."`
	Lacks   []ColorLack `json:"lacks,omitempty" doc:"What the scene asks for and the configuration does not have."`
}

// mostLacks bounds what is kept of a configuration that lacks names.
const mostLacks = 100

// Configure notes that the scene is rendered with the configuration at a path, and what of the
// scene's colour management that does not have.
func (s *Scene) Configure(path, sha256, version string, o colour.Offer) {
	if s.ColorManagement == nil { // older files than 2.64
		s.ColorManagement = &ColorManagement{}
	}
	c := s.ColorManagement
	c.Config = &ColorConfig{Path: path, SHA256: sha256, Version: version, Display: o.Displays[0].Name, View: o.Displays[0].Views[0], Lacks: first(c.lacks(o), mostLacks)}
}

// UsedSpace is a colour space, and what is in it or converts from or to it. Images that are
// in libraries are among those.
type UsedSpace struct {
	UsedBy string `json:"used_by"` // such as "strip Plate"
	Space  string `json:"space"`
}

// ImageSpace is a colour space, and one image that is in it.
type ImageSpace struct {
	Image string `json:"image"`
	Space string `json:"space"`
}

// ColorLack is a name of the colour management that a Blender does not have.
type ColorLack struct {
	Kind    string `json:"kind"` // display, view, look or color_space
	Name    string `json:"name"`
	UsedBy  string `json:"used_by,omitempty"` // scene, output, sequencer, an image, a movie clip, a strip or a node
	Instead string `json:"instead"`           // what Blender renders
	// Workers is how many online workers do not have it; 0 if that is judged by the
	// version.
	Workers int `json:"workers,omitempty"`
}

// What is done with an unknown colour space: Blender converts an image by none, and a clip
// or a strip by the one of its kind of file. Workers mute a node.
const (
	asRead     = "no conversion"
	asItsFiles = "the default of its files"
)

// lacks compares with what a Blender has. It says what is rendered instead, as Blender
// 3.4.1 does it.
func (c ColorManagement) lacks(o colour.Offer) (all []ColorLack) {
	display, ok := o.Display(c.Display)
	if !ok && c.Display != "" {
		all = append(all, ColorLack{Kind: "display", Name: c.Display, UsedBy: "scene", Instead: display.Name})
	}
	if c.View != "" && !slices.Contains(display.Views, c.View) {
		all = append(all, ColorLack{Kind: "view", Name: c.View, UsedBy: "scene", Instead: display.Views[0]})
	}
	if c.Look != "" && !o.HasLook(c.Look) {
		all = append(all, ColorLack{Kind: "look", Name: c.Look, UsedBy: "scene", Instead: "None"})
	}
	spaces := []ColorLack{{Name: c.OutputSpace, UsedBy: "output", Instead: "the scene's own linear space"}, {Name: c.Sequencer, UsedBy: "sequencer", Instead: "sRGB"}}
	for _, i := range c.Images {
		spaces = append(spaces, ColorLack{Name: i.Space, UsedBy: "image " + i.Image, Instead: asRead})
	}
	for _, u := range c.Others {
		instead := asItsFiles
		if strings.HasPrefix(u.UsedBy, "node ") || strings.HasPrefix(u.UsedBy, "image ") {
			instead = asRead
		}
		spaces = append(spaces, ColorLack{Name: u.Space, UsedBy: u.UsedBy, Instead: instead})
	}
	for _, s := range spaces {
		if s.Name != "" && !o.HasSpace(s.Name) {
			s.Kind = "color_space"
			all = append(all, s)
		}
	}
	return all
}

// colorLacks lists what the Blender that will render does not have: by the project's own
// configuration, by any of the workers' that reported what theirs have, or otherwise by the
// renderer's version.
func (f Farm) colorLacks(c *ColorManagement) (all []ColorLack) {
	if c == nil {
		return nil
	}
	if c.Config != nil {
		return c.Config.Lacks
	}
	for _, of := range f.Colors {
		for _, lack := range c.lacks(of.Offer) {
			same := func(other ColorLack) bool {
				return other.Kind == lack.Kind && other.Name == lack.Name && other.UsedBy == lack.UsedBy
			}
			at := slices.IndexFunc(all, same)
			if at < 0 {
				at, all = len(all), append(all, lack)
			}
			all[at].Workers += of.Workers
		}
	}
	if _, version := f.Renderer(); len(f.Colors) == 0 && colour.Of(version).Known() {
		return c.lacks(colour.Of(version))
	}
	return all
}

func lackText(l ColorLack) string {
	kind := l.Kind
	if kind == "color_space" {
		kind = "colour space"
	}
	return kind + " " + l.Name + " of the " + l.UsedBy + ", rendered with " + l.Instead
}
