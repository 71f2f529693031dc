package blendfile

import (
	"slices"
	"strings"

	"svc.example/internal/render/blendfile/reach"
	"svc.example/internal/render/blendfile/records"
)

// Values of ImageFormatData.color_management and Image.source.
const (
	colorsOverride = 1 // the output has settings of its own; otherwise the scene's apply
	imageViewer    = 5 // a render's result
)

// mostSpaces bounds the colour spaces that are named of images, and of all others together.
// Blender's own configurations have some twenty.
const mostSpaces = 64

// colors reads what the picture of the active scene needs of Blender's colour management.
func (f *file) colors(r records.Record, sequenced bool) *Colors {
	if !r.Has("view_settings.view_transform") {
		return nil
	}
	c := &Colors{Images: f.imageSpaces(), Others: f.otherSpaces(r)}
	override := r.Int("r.im_format.color_management") == colorsOverride
	from := ""
	if override {
		from = "r.im_format."
	}
	format, _ := outputFormat(r)
	if linear(format) {
		if override {
			c.OutputSpace = r.Text(from + "linear_colorspace_settings.name")
		}
	} else {
		c.Display = r.Text(from + "display_settings.display_device")
		c.View = r.Text(from + "view_settings.view_transform")
		c.Look = r.Text(from + "view_settings.look")
	}
	if sequenced {
		c.Sequencer = r.Text("sequencer_colorspace_settings.name")
	}
	if f.Version < 280 {
		c.rename()
	}
	if c.Look == "None" {
		c.Look = ""
	}
	return c
}

// linear reports whether a format holds the picture as it was computed, without a view.
func linear(format string) bool {
	return slices.Contains([]string{"OPEN_EXR", "OPEN_EXR_MULTILAYER", "HDR", "CINEON", "DPX"}, format)
}

// rename gives what Blender has called differently since 2.80 its new name, as Blender does
// when it opens the file.
func (c *Colors) rename() {
	switch c.View {
	case "Default":
		c.View = "Standard"
	case "RRT", "Film":
		c.View = "Filmic"
	case "Log":
		c.View = "Filmic Log"
	}
	c.Look = strings.TrimPrefix(c.Look, "Filmic - ")
}

// imageSpaces lists the colour spaces of the images that the picture needs.
func (f *file) imageSpaces() []ImageSpace {
	all := []ImageSpace{}
	for r := range f.Facts("IM", "Image") {
		space := r.Text("colorspace_settings.name")
		if space == "" || r.Int("source") == imageViewer || !f.reach.Rendered(r) {
			continue
		}
		if slices.ContainsFunc(all, func(i ImageSpace) bool { return i.Space == space }) {
			continue
		}
		name := r.Name()
		if len(all) == mostSpaces || !f.spend(len(name)+len(space)) {
			break
		}
		all = append(all, ImageSpace{name, space})
	}
	return all
}

// otherSpaces lists the colour spaces of the picture's other sources: movie clips, the
// strips of the sequencer, and nodes that convert between two spaces.
func (f *file) otherSpaces(scene records.Record) []UsedSpace {
	all := usedSpaces{f, []UsedSpace{}}
	f.clipAndNodeSpaces(&all)
	strips, _ := reach.Sequenced(f.File, scene)
	f.stripSpaces(strips, &all, 0)
	return all.list
}

// librarySpaces lists the colour spaces of what the picture of another file comes from.
func (f *file) librarySpaces() []UsedSpace {
	all := usedSpaces{f, []UsedSpace{}}
	for _, i := range f.imageSpaces() {
		all.add("image", i.Image, i.Space)
	}
	f.clipAndNodeSpaces(&all)
	return all.list
}

// usedSpaces is a list of colour spaces, each named once for what is in it.
type usedSpaces struct {
	f    *file
	list []UsedSpace
}

func (a *usedSpaces) add(used, name, space string) {
	u := UsedSpace{used + " " + name, space}
	if space == "" || slices.Contains(a.list, u) || len(a.list) == mostSpaces || !a.f.spend(len(u.UsedBy)+len(space)) {
		return
	}
	a.list = append(a.list, u)
}

// clipAndNodeSpaces adds the spaces of movie clips, and of nodes that convert.
func (f *file) clipAndNodeSpaces(all *usedSpaces) {
	for r := range f.Facts("MC", "MovieClip") {
		if f.reach.Rendered(r) {
			all.add("movie clip", r.Name(), r.Text("colorspace_settings.name"))
		}
	}
	for r := range f.Everywhere("NodeConvertColorSpace") {
		if f.reach.Uses(r) {
			all.add("node", "Convert Colorspace", r.Text("from_color_space"))
			all.add("node", "Convert Colorspace", r.Text("to_color_space"))
		}
	}
}

// stripSpaces adds the spaces of strips, those of meta strips and of edits that strips show
// included.
func (f *file) stripSpaces(strips []reach.Strip, all *usedSpaces, depth int) {
	if depth > reach.MaxNesting {
		return
	}
	for _, s := range strips {
		all.add("strip", stripName(s.Record), s.Follow("strip", "Strip").Text("colorspace_settings.name"))
		f.stripSpaces(s.Inner, all, depth+1)
		if s.OfStrips {
			inner, _ := reach.Sequenced(f.File, s.Scene)
			f.stripSpaces(inner, all, depth+1)
		}
	}
}
