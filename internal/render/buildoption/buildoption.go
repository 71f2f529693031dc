// Package buildoption names the parts that a Blender can be built without and that the
// picture of a scene can need: a distribution's Blender often comes without some of them.
// Blender opens such a scene anyway, and leaves out what it cannot read.
//
// A Set is stored as a number, so that a database can tell with one operation whether a
// worker is missing what a job needs. The package does not know which of them a scene
// needs and which a Blender has. Start reading at Set.
package buildoption

import (
	"slices"
	"strings"
)

// Option is a part of Blender.
type Option string

// The options.
const (
	Alembic Option = "alembic" // reads Alembic caches
	USD     Option = "usd"     // reads USD caches
	OSL     Option = "osl"     // shades with Open Shading Language
	OpenVDB Option = "openvdb" // reads volumes
	Movies  Option = "movies"  // reads films, by FFmpeg
	// FileOutputs is no part of Blender: its worker delivers what File Output nodes write.
	// Workers of versions before that do not.
	FileOutputs Option = "file_outputs"
	// Views is no part of Blender either: its worker delivers the views of a scene with several,
	// and the JPEG previews of OpenEXR.
	Views Option = "views"
	// Encoders is about no scene: it writes films, by FFmpeg.
	Encoders Option = "encoders"
)

// inOrder are the options in the order of their bits: rows have the numbers, so a new one
// comes last.
var inOrder = []Option{Alembic, USD, OSL, OpenVDB, Movies, FileOutputs, Views, Encoders}

// Title is the option's name for people; what is no option has its own word.
func (o Option) Title() string {
	title, known := map[Option]string{
		Alembic: "Alembic", USD: "USD", OSL: "Open Shading Language", OpenVDB: "OpenVDB", Movies: "FFmpeg", FileOutputs: "delivery of File Output nodes", Views: "delivery of views and previews", Encoders: "FFmpeg's encoders",
	}[o]
	if !known {
		return string(o)
	}
	return title
}

// List names some options for people, as in "Alembic, USD".
func List(options []Option) string {
	titles := make([]string, 0, len(options))
	for _, o := range options {
		titles = append(titles, o.Title())
	}
	return strings.Join(titles, ", ")
}

// Set is some of the options, as a number: a bit for each. 0 is none.
type Set int64

// Of returns the set of some options. Unknown options are left out, as a newer worker
// may report some.
func Of(options ...Option) (s Set) {
	for _, o := range options {
		if at := slices.Index(inOrder, o); at >= 0 {
			s |= 1 << at
		}
	}
	return s
}

// Options lists those of the set; nil for none.
func (s Set) Options() (all []Option) {
	for at, o := range inOrder {
		if s&(1<<at) != 0 {
			all = append(all, o)
		}
	}
	return all
}

// Has reports whether an option is in the set.
func (s Set) Has(o Option) bool { return s&Of(o) != 0 }
