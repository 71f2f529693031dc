package scenefiles

import (
	"cmp"
	"slices"
	"strings"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/colour/ocio"
	"svc.example/internal/render/scenefiles/alias"
	"svc.example/internal/render/sequence"
)

// Found is what a search found.
type Found struct {
	Main  string `json:"main"` // path of the .blend in the tree
	Files []File `json:"files"`
	// Simulations run from frame to frame in libraries, in objects that the picture comes
	// from. Those of the main file itself are facts of it: see blendfile.Facts.
	Simulations []blendfile.Simulation `json:"simulations"`
	// Scripted is Python of libraries that the picture can depend on; likewise.
	Scripted []blendfile.Script `json:"scripted"`
	// Spaces are the colour spaces of images, movie clips and nodes of libraries; likewise.
	// Each is named once.
	Spaces []blendfile.UsedSpace `json:"-"`
	// Gone are data-blocks that the picture needs and that are not in their libraries, though
	// these were read.
	Gone []blendfile.MissingData `json:"missing_data"`
	// WorldVolume says that the world of a library has a volume, and is shown.
	WorldVolume bool `json:"-"`
	// Packed is what is packed in libraries and the picture needs; likewise.
	Packed []blendfile.PackedFile `json:"-"`
	// Partial says that a bound cut the list short, or that a .blend holds more than the
	// reader keeps. What is listed is right.
	Partial bool `json:"partial"`
	// Aliases are the names under which Blender looks for files that the tree has elsewhere,
	// sorted by At. Two are never at one place.
	Aliases []alias.Alias `json:"-"`
	// Links are the libraries that were found as files of the tree, as each .blend names them,
	// sorted by From and Stored. Packed and missing ones are not among them.
	Links []Link `json:"-"`
	// Colours is the configuration that the settings name; nil without one. It and its files are
	// among Files.
	Colours *ocio.Found `json:"-"`
}

// Link is a library as a .blend names it.
type Link struct {
	From   string // path of that .blend in the tree
	Stored string // the library's path as the .blend has it
	Path   string // where it is in the tree
}

// File is what a .blend says of one other file, or of files that belong together.
type File struct {
	Kind Kind `json:"kind"`
	// Path is where it is in the tree. For a set it is the pattern with its folder, such as
	// "tex/wall.<UDIM>.png" or the first picture of a sequence; for a cache the folder. For a
	// file that is not in the tree it is where Blender looks for it: "../a.png" lies above the
	// tree, and an absolute path is in the form of blendfile.NormalisePath.
	Path   string `json:"path"`
	Stored string `json:"stored"` // the path as the .blend has it
	// Wanted is where Blender looks, in the form of Path, for a file that is Remapped;
	// otherwise "".
	Wanted string `json:"wanted,omitempty"`
	From   string `json:"from"`    // the .blend that names it: its path in the tree
	Owner  string `json:"owner"`   // the data-block that wants it, without code prefix
	UsedBy string `json:"used_by"` // what uses the data-block, such as "material Floor"; "" when it is not known
	Status Status `json:"status"`
	Reach  Reach  `json:"reach"`
	// Names are the files that it stands for, sorted.
	Names []Name `json:"names"`
	// Lacking are the paths of a set's files that are missing while others exist.
	Lacking []string `json:"lacking,omitempty"`
	// Unreadable are those of Names that Blender cannot read, as far as their first bytes tell.
	Unreadable []Unreadable `json:"unreadable,omitempty"`
	// Problem says why an existing library could not be read; "" for none. Unreadable has it
	// too where Blender cannot read it either.
	Problem string `json:"problem,omitempty"`

	// Sequence says which numbers a sequence lacks; nil where it lacks none, or it is not known.
	Sequence *Sequence `json:"sequence,omitempty"`

	as       []string // of Names: see in.as
	counted  string   // the place of the .blend that Stored counts from, where that is not From
	numbers  []int    // of Names, where they are numbered
	uses     []sequence.Use
	of       blendfile.Kind
	packedIn bool // what names it is packed in another .blend
}

// Sequence says which numbers of a sequence are not there, though one of its users can show
// them.
type Sequence struct {
	Uses  []sequence.Use     `json:"uses"`
	Lacks []sequence.Numbers `json:"lacks"`
}

// Name is a file of the tree.
type Name struct {
	Path  string `json:"path"`
	Bytes int64  `json:"size_bytes"`
}

// Kind says what a file is to the scene.
type Kind string

// The kinds of files.
const (
	KindImage      Kind = "image"
	KindSequence   Kind = "sequence" // numbered pictures
	KindTiles      Kind = "udim"
	KindMovie      Kind = "movie"
	KindVolume     Kind = "volume"
	KindFont       Kind = "font"
	KindSound      Kind = "sound"
	KindCache      Kind = "cache"      // Alembic, USD, meshes, oceans
	KindSimulation Kind = "simulation" // a folder that a simulation was baked to
	KindScript     Kind = "script"     // a shader in Open Shading Language
	KindLight      Kind = "light"      // an IES profile
	KindLibrary    Kind = "library"
	KindColours    Kind = "color_config" // an OpenColorIO configuration
	KindLUT        Kind = "lut"          // a file that such a one needs
)

// Status says whether a file is there.
type Status string

// The statuses.
const (
	StatusFound Status = "found"
	// StatusRemapped is a file that is there, but not where Blender looks: see File.Wanted.
	StatusRemapped Status = "remapped"
	StatusMissing  Status = "missing"
	// StatusOutside is a path that leads out of the tree, where the search did
	// not look.
	StatusOutside Status = "outside"
	StatusPacked  Status = "packed" // its bytes are in the .blend
	// StatusUnused is said by Words only, of a file that the picture does not need.
	StatusUnused Status = "unused"
)

// Reach says whether the picture comes from a file.
type Reach string

// The levels of reach.
const (
	ReachNeeded Reach = "needed"
	// ReachPerhaps is a file that Blender loads and the picture does not show, as far as is
	// known: of another scene, of unused data.
	ReachPerhaps  Reach = "perhaps"
	ReachUnneeded Reach = "unneeded" // what is packed, what Blender does not load, and sounds that no movie plays
)

func (r Reach) rank() int { return slices.Index([]Reach{ReachUnneeded, ReachPerhaps, ReachNeeded}, r) }

// There reports whether the tree has the file.
func (f *File) There() bool { return f.Status == StatusFound || f.Status == StatusRemapped }

// Gone reports whether the file is missing from the picture: it is needed, and neither in
// the tree nor packed.
func (f *File) Gone() bool {
	return f.Reach == ReachNeeded && (f.Status == StatusMissing || f.Status == StatusOutside)
}

// Words are the kind and the status in the words of the interface, which has fewer
// (decisions 16): a file that a shader node reads is an image; a file that the search may
// not look for is missing; only files that the picture needs are missing.
func (f *File) Words() (kind Kind, status Status) {
	kind, status = f.Kind, f.Status
	if kind == KindScript || kind == KindLight {
		kind = KindImage
	}
	switch {
	case f.Gone():
		status = StatusMissing
	case status == StatusPacked:
	case !f.There() || f.Reach == ReachUnneeded:
		status = StatusUnused
	}
	return kind, status
}

// Bytes is the size of all its files.
func (f *File) Bytes() (sum int64) {
	for _, n := range f.Names {
		sum += n.Bytes
	}
	return sum
}

// Taken lists the files of the tree that a render of the scene can need, the main one among
// them, each once and sorted by path.
func (f *Found) Taken(main int64) []Name {
	all := []Name{{f.Main, main}}
	for i := range f.Files {
		if f.Files[i].Reach != ReachUnneeded {
			all = append(all, f.Files[i].Names...)
		}
	}
	slices.SortFunc(all, func(a, b Name) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(all, func(a, b Name) bool { return a.Path == b.Path })
}

// sortFiles puts files in one order: by .blend, kind and path.
func sortFiles(files []File) {
	slices.SortFunc(files, func(a, b File) int {
		return cmp.Or(
			strings.Compare(a.From, b.From), strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Path, b.Path),
			strings.Compare(a.Stored, b.Stored), strings.Compare(a.Owner, b.Owner), strings.Compare(string(a.Status), string(b.Status)),
		)
	})
}
