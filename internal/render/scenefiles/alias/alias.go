// Package alias says where else a file may be than at its place in the tree: at paths
// where Blender looks, and that a worker can provide.
//
// Start reading at Alias and Placeable.
package alias

import (
	"slices"
	"strings"
)

// Alias is a further name of a file: Blender looks at At for what the tree has at Path. At is
// Placeable.
type Alias struct {
	Path string
	// At is in the tree ("Tex/A.PNG"), above it ("../a.png") or absolute ("/home/anna/a.png").
	// Of a Windows path it is what Blender makes of it on Linux: "/c/tex/a.png" of
	// `C:\tex\a.png`.
	At string
}

// Roots are the first names of absolute paths at which a worker can put files: where people
// keep projects, and the letters of Windows' drives. The system's own folders are not among
// them, for those belong to Blender's sandbox.
var Roots = append(strings.Fields("Projects Users Volumes data export home jobs mnt media nas net nfs private prod proj project projects render root run scratch server share shared shows srv storage var vol volume work workspace"),
	strings.Split("abcdefghijklmnopqrstuvwxyz", "")...)

// MaxAbove bounds the ".." at the beginning of an alias.
const MaxAbove = 16

// Placeable reports whether a worker can put a file where Blender looks for it: at File.Wanted
// or at Alias.At.
func Placeable(place string) bool {
	at, ok := LookedFor(place)
	if !ok {
		return false
	}
	if rest, absolute := strings.CutPrefix(at, "/"); absolute {
		root, rest, _ := strings.Cut(rest, "/")
		return rest != "" && slices.Contains(Roots, root)
	}
	return at != "." && strings.Count(at, "../") <= MaxAbove
}

// maxPath is the most bytes of an alias: what Blender keeps of a path.
const maxPath = 1024

// LookedFor is the place as Blender on Linux looks for it; ok is false of a network path,
// which leads nowhere there.
func LookedFor(place string) (at string, ok bool) {
	if HasDrive(place) {
		place = "/" + strings.ToLower(place[:1]) + place[2:]
	}
	return place, !strings.HasPrefix(place, `\\`) && len(place) <= maxPath
}

// HasDrive reports whether a path begins with a drive of Windows, such as C:.
func HasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0] >= 'a' && p[0] <= 'z' || p[0] >= 'A' && p[0] <= 'Z')
}
