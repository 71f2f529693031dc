package blendfile

// Facts is what a .blend contains. All of it is read from the file; the rules by
// which Blender fills in what an older file does not store are applied to the
// scene's settings, and each such field says so. Texts are valid UTF-8. Lists are
// never nil.
type Facts struct {
	FileVersion    int    `json:"file_version"`    // as in the header: 277, 401, 502
	FileSubversion int    `json:"file_subversion"` // 0 where the file has none
	BuildHash      string `json:"build_hash"`      // of the Blender that saved it, "" where the file has none
	PointerBits    int    `json:"pointer_bits"`    // 32 or 64
	BigEndian      bool   `json:"big_endian"`
	Compression    string `json:"compression"` // "none", "gzip" or "zstd"
	Unpacked       int64  `json:"unpacked"`    // bytes read of the unpacked stream

	SceneCount int        `json:"scene_count"` // linked scenes included
	Scenes     []string   `json:"scenes"`      // of the file itself
	Cameras    []string   `json:"cameras"`     // objects of the file itself
	Scene      *Scene     `json:"scene"`       // the active one; nil when the file has none
	Rendering  *Rendering `json:"rendering"`   // nil when the file has no scene

	LinkedLibraries []Library     `json:"linked_libraries"`
	Externals       []External    `json:"externals"`
	MissingFiles    []MissingFile `json:"missing_files"`
	MissingData     []MissingData `json:"missing_data"` // of libraries that were read: see package scenefiles
	Packed          []PackedFile  `json:"-"`            // those that the picture needs
	Texts           []Text        `json:"texts"`
	PythonDrivers   int           `json:"python_drivers"` // drivers of type script, anywhere in the file
	Scripted        []Script      `json:"scripted"`       // what can be missing in the picture when no script runs
	WorldVolume     bool          `json:"world_volume"`   // the picture shows a world that has a volume
	EmptyImages     []EmptyImage  `json:"empty_images"`   // of what the picture comes from
	Simulations     []Simulation  `json:"simulations"`    // of what the picture is computed from
	Thumbnail       *Thumbnail    `json:"thumbnail"`      // nil when the file carries none

	// Partial names the lists that are not whole because the file holds more
	// than the memory bound lets Inspect keep or answer: "externals",
	// "cameras", "linked_libraries", "python_drivers", "scenes", "simulations", "texts". Each entry that is there is right. Scene is never partial.
	// Package scenefiles adds "packed_libraries".
	Partial []string `json:"partial,omitempty"`
}

// Scene is the active scene: the one Blender shows, and renders from, on load.
type Scene struct {
	Name   string `json:"name"`
	Engine string `json:"engine"` // as stored; "" before 2.50, which stored none

	FrameStart   int `json:"frame_start"`
	FrameEnd     int `json:"frame_end"`
	FrameStep    int `json:"frame_step"` // 1 where the file stores none or 0
	FrameCurrent int `json:"frame_current"`

	ResolutionX          int     `json:"resolution_x"`          // pixels, before the percentage
	ResolutionY          int     `json:"resolution_y"`          // pixels, before the percentage
	ResolutionPercentage int     `json:"resolution_percentage"` // 100 = full size
	Border               *Border `json:"border"`                // nil when the whole picture is rendered
	FPS                  float64 `json:"fps"`                   // frames a second: rate over base

	// Cycles settings, as Blender has them after load: where the file stores
	// none, the default of the version that saved it.
	Samples          int    `json:"samples"`
	SizeChanges      bool   `json:"size_changes"`   // a driver or keyframes set the resolution or the border
	SamplesDriven    bool   `json:"samples_driven"` // a driver or keyframes set them: nothing set from outside holds
	AdaptiveSampling bool   `json:"adaptive_sampling"`
	Denoise          bool   `json:"denoise"`  // of final renders
	Denoiser         string `json:"denoiser"` // "OPENIMAGEDENOISE", "OPTIX" or "NLM"; what would run were Denoise on

	Camera          string           `json:"camera"`        // object name; "" = none
	OutputPath      string           `json:"output_path"`   // as written
	OutputFormat    string           `json:"output_format"` // Blender's name: "PNG", "JPEG", "OPEN_EXR", "FFMPEG", ...
	MovieOutput     bool             `json:"movie_output"`  // the format is one file for all frames
	ViewLayers      []string         `json:"view_layers"`   // in the file's order; render layers before 2.80
	FileOutputNodes []FileOutputNode `json:"file_output_nodes"`
	Multiview       bool             `json:"multiview"`       // several views, such as two eyes
	Views           []string         `json:"views"`           // those that are rendered; empty where it is the camera's alone
	StrayView       string           `json:"stray_view"`      // the first view whose suffix leads to another folder; "" for none
	Stereo          Stereo           `json:"stereo"`          // how a picture has two of them; zero where it has one
	EXRPreviews     bool             `json:"exr_previews"`    // a JPEG is written next to each picture
	StampNames      bool             `json:"stamp_names"`     // the picture shows the file's or the computer's name
	DrivenSettings  []string         `json:"driven_settings"` // RNA paths of the scene's own settings that a driver sets
	Colors          *Colors          `json:"colors"`          // nil where the file has no colour management (before 2.64)
}

// Colors is what the scene's picture needs of Blender's colour management, by the names of
// the OpenColorIO configuration that the file was made with. What does not change the
// picture is "".
type Colors struct {
	Display     string       `json:"display"` // "" for linear formats, as view and look are
	View        string       `json:"view"`
	Look        string       `json:"look"`         // "" for none
	OutputSpace string       `json:"output_space"` // of a linear format, where it is not the scene's
	Sequencer   string       `json:"sequencer"`    // where strips make the picture
	Images      []ImageSpace `json:"images"`       // each space of images that the picture needs, with the first of them
	Others      []UsedSpace  `json:"others"`       // the spaces of movie clips, strips, compositor nodes and images of libraries that the picture needs
}

// UsedSpace is a colour space and what is in it, or converts from or to it, such as "strip
// Plate".
type UsedSpace struct {
	UsedBy string `json:"used_by"`
	Space  string `json:"space"`
}

// ImageSpace is the colour space of an image.
type ImageSpace struct {
	Image string `json:"image"`
	Space string `json:"space"`
}

// Rendering is what is rendered for a frame of the active scene: the scene itself, the
// scenes that its compositor takes in, or the strips of its sequencer.
type Rendering struct {
	Sequenced  bool     `json:"sequenced"`   // strips make the picture, and the scene itself is not seen
	Shots      []Shot   `json:"shots"`       // scenes that strips show
	NoCamera   string   `json:"no_camera"`   // a scene that cannot be rendered for want of a camera; "" for none
	NoLayer    string   `json:"no_layer"`    // a scene that is rendered and has no view layer to render; "" for none
	Denoising  []string `json:"denoising"`   // what denoises: "scene NAME", "compositor"
	Work       Work     `json:"work"`        // of the scene itself
	OtherWork  int64    `json:"other_work"`  // pixels × samples of the other scenes that a frame shows, at most
	SampleKeys []Span   `json:"sample_keys"` // the most samples that keyframes set, all along the timeline; empty where that is not known
	Division   Division `json:"-"`           // of the active scene
}

// Shot is a scene whose objects are rendered.
type Shot struct {
	Strip  string `json:"strip"` // that shows it; "" where it is no strip
	Scene  string `json:"scene"`
	Engine string `json:"engine"`
	First  int    `json:"first"` // frames in which it may be seen; 0 where it is no strip
	Last   int    `json:"last"`
}

// Work is what a pixel of a scene takes: so many times the scene's samples, and so many
// more. Both are 0 where a frame does not show the scene itself.
type Work struct {
	Layers  int `json:"layers"`  // view layers that have the scene's samples
	Samples int `json:"samples"` // of the other view layers together
}

// Span is the most samples that keyframes set in a part of the timeline.
type Span struct {
	From float64 `json:"from"` // frames; the first span begins, and the last one ends, beyond all frames
	To   float64 `json:"to"`
	Most int     `json:"most"`
}

// FrameSize is the size of the scene's pictures in pixels: the percentage taken,
// and the border where they are cut to it. Blender multiplies in single precision
// and truncates each edge; in double precision 0.7 of 100 pixels ends at 69.
func (s *Scene) FrameSize() (width, height int) {
	width, height = s.ResolutionX*s.ResolutionPercentage/100, s.ResolutionY*s.ResolutionPercentage/100
	b := s.Border
	if b == nil || !b.Crop {
		return width, height
	}
	return b.size(width, height)
}

// FileSize is the size of the scene's pictures where one can have two views next to each other.
func (s *Scene) FileSize() (width, height int) {
	width, height = s.FrameSize()
	return width * max(1, s.Stereo.Across), height * max(1, s.Stereo.Down)
}

// Stereo is how many times as wide and as high as a view a picture is.
type Stereo struct {
	Across int `json:"across"`
	Down   int `json:"down"`
}

// RenderedSize is the size of the part of the scene's pictures that is rendered, in pixels.
// Blender renders nothing where a side has less than one.
func (s *Scene) RenderedSize() (width, height int) {
	width, height = s.ResolutionX*s.ResolutionPercentage/100, s.ResolutionY*s.ResolutionPercentage/100
	if s.Border == nil {
		return width, height
	}
	return s.Border.size(width, height)
}

// size is that of the border in a picture of a size, in pixels.
func (b *Border) size(width, height int) (int, int) {
	edge := func(share float64, of int) int { return int(float32(share) * float32(of)) }
	return edge(b.MaxX, width) - edge(b.MinX, width), edge(b.MaxY, height) - edge(b.MinY, height)
}

// Border is the part of the picture that is rendered, as fractions of it, with
// the origin at the lower left.
type Border struct {
	MinX float64 `json:"min_x"`
	MinY float64 `json:"min_y"`
	MaxX float64 `json:"max_x"`
	MaxY float64 `json:"max_y"`
	Crop bool    `json:"crop"` // the picture is cut to the border
}

// FileOutputNode is a compositor node that writes files of its own, wherever
// the render's output goes.
type FileOutputNode struct {
	Name  string `json:"name"`  // of the node
	Path  string `json:"path"`  // base path as written
	Muted bool   `json:"muted"` // it stands in the tree but writes nothing

	Files int `json:"-"` // that it writes for a frame: one for each linked slot and view, or one of all
}

// Library is another .blend that this one links from.
type Library struct {
	Name       string `json:"name"`       // data-block name, without code prefix
	Path       string `json:"path"`       // as written
	Normalised string `json:"normalised"` // see [NormalisePath]
	Packed     bool   `json:"packed"`
	Needed     bool   `json:"needed"` // the active scene's picture comes from its data

	UsedBy string `json:"-"` // what uses its data, such as "collection Props"; "" when it is not known
	Parent int    `json:"-"` // number of the library that links this one, -1 for a .blend's own
	// Where the bytes of a packed library begin in the unpacked file, and how many there
	// are; both 0 when they are not known. See [Section].
	PackedAt   int64 `json:"-"`
	PackedSize int64 `json:"-"`

	addrs []uint64 // of its data-blocks: Blender takes several of one path for one
}

// Kind says what an external file is to Blender.
type Kind string

// The kinds of external files.
const (
	KindImage         Kind = "image"          // one picture
	KindImageSequence Kind = "image_sequence" // numbered pictures
	KindMovie         Kind = "movie"          // a film as a texture, a clip or a strip
	KindImageTiles    Kind = "image_tiles"    // a UDIM set
	KindFont          Kind = "font"
	KindSound         Kind = "sound"
	KindCache         Kind = "cache"      // Alembic, USD, mesh and ocean caches
	KindSimulation    Kind = "simulation" // what a simulation was baked to: a folder
	KindVolume        Kind = "volume"
	KindScript        Kind = "script" // a shader in Open Shading Language
	KindLight         Kind = "light"  // an IES profile
	KindLibrary       Kind = "library"
)

// External is a file that the scene's data draws on.
type External struct {
	Kind       Kind   `json:"kind"`
	Path       string `json:"path"`       // as written; "" for data that lies in a library
	Normalised string `json:"normalised"` // see [NormalisePath]
	Packed     bool   `json:"packed"`     // the bytes are inside the .blend
	Owner      string `json:"owner"`      // name of the data-block that wants it, without code prefix
	Linked     bool   `json:"linked"`     // the data-block lies in a linked library
	needed     bool
	usedBy     string
}

// MissingFile is a file that the active scene's picture needs and that an upload of the
// .blend alone cannot contain.
type MissingFile struct {
	Kind   Kind   `json:"kind"`
	Path   string `json:"path"`    // as written
	Owner  string `json:"owner"`   // name of the data-block that wants it, without code prefix
	UsedBy string `json:"used_by"` // what uses that data-block, such as "material Floor"; "" when it is not known
	// From is the path of the packed library that names it, from which its path counts; ""
	// for the file itself.
	From string `json:"from,omitempty"`
}

// MissingData is a data-block that the picture needs and that is not in the library from
// which it is linked.
type MissingData struct {
	Kind    string `json:"kind"` // such as "object"; "" for one that has no name here
	Name    string `json:"name"`
	Library string `json:"library"` // its path in the project
	UsedBy  string `json:"used_by"` // what shows it, such as "collection Props"; "" where that is not known
	From    string `json:"from"`    // the .blend that links it
}

// PackedFile is what the .blend has in it of a file that Blender reads: its bytes, or a
// shader in Open Shading Language that was compiled. Libraries are none.
type PackedFile struct {
	Kind  Kind
	Path  string // as written; "" for a shader
	Owner string // name of the data-block that has it, without code prefix
	// From is the path of the library that has it; "" for the file itself.
	From string
}

// EmptyImage is an image texture node of a shader that has no image. Cycles shows magenta.
type EmptyImage struct {
	Node  string `json:"node"`
	Owner string `json:"owner"` // what has the node, such as "material Floor"
}

// Script is Python that Blender does not run for an untrusted file, and without which
// the picture can be another.
type Script struct {
	Owner      string `json:"owner"`      // what has it, such as "object Door", or "text startup.py"
	Property   string `json:"property"`   // that a driver sets, as Blender writes it; "" for a text
	Expression string `json:"expression"` // of the driver
	// From is the path of the library that has it; "" for the file itself.
	From string `json:"from,omitempty"`
}

// Text is a text data-block.
type Text struct {
	Name      string `json:"name"`
	Registers bool   `json:"registers"` // run as a script on load where scripts are allowed
}
