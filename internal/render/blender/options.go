package blender

import (
	"time"

	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/render/colour"
	"svc.example/internal/render/pixels"
)

// Device is the kind of device that Cycles renders on.
type Device string

// Devices. GPU is the first of OptiX, CUDA, HIP, Metal and oneAPI with a device; it
// never falls back to the CPU.
const (
	GPU Device = "gpu"
	CPU Device = "cpu"
)

// Denoise selects what happens to a scene's own denoising.
type Denoise string

// Keep renders as the scene says, and refuses a scene whose denoiser this Blender
// does not have (denoiser_unavailable). Off disables denoising and reports it.
const (
	Keep Denoise = "keep"
	Off  Denoise = "off"
)

// Options of a process.
type Options struct {
	Path    string  // the blender executable, see Find
	Temp    string  // an existing folder; the process's own folder is created in it and removed by Close
	Out     string  // an existing folder for the pictures, named frame_0001.png
	Device  Device  // GPU when empty
	Denoise Denoise // Keep when empty
	Threads int     // of Cycles and the rest of Blender; 0 means one per core
	CPUs    []int   // the processors that it runs on; nil for those of this process
	// Card is the UUID of the only NVIDIA GPU that it sees; "" for those that this process's
	// environment shows.
	Card string
	// Sandbox starts the process; nil starts it without one.
	Sandbox *sandbox.Sandbox
	// Kernels is the folder of compiled GPU kernels, shared by all processes of one
	// Blender on a machine; "" for none. With MakeKernels the process may write
	// there. Only a process that opens no customer's file should: the kernels run for
	// every later job.
	Kernels     string
	MakeKernels bool
	Patience    Patience // zero fields take the defaults
	// KeepData keeps the scene inside Cycles between frames (Blender's persistent
	// data), where that is proven not to change pixels. Geometry and textures are
	// then loaded once instead of once per frame.
	KeepData bool
	// Uncompressed has Blender write large PNGs without compression, which it would do on
	// one core while the device waits. Opened.Compression says what the scene asks for; to
	// pack them is the caller's duty (pngrows.Compress).
	Uncompressed bool
	// Whole is how many bytes a picture with its passes may take to be rendered whole although
	// the scene has tiles, where that is known to give the same pixels; 0 for none. Cycles
	// writes tiles through a file, which takes longer than the samples of a light frame.
	// Opened.Whole says whether that is so.
	Whole int64
	// Colours, when set, is what Open takes, with an OpenColorIO configuration in its settings:
	// Blender reads that as it starts. Without it Blender uses its own.
	Colours *Input
	// attack is Python that tests have the driver run, as if a file had found a way in.
	attack string
}

// Info describes a process that is ready.
type Info struct {
	Version   string       `json:"version"`    // "4.1.1"
	BuildHash string       `json:"build_hash"` // "unknown" where the build has none
	Devices   []DeviceInfo `json:"devices"`    // GPUs first
	Denoiser  bool         `json:"denoiser"`   // built with OpenImageDenoise
	Colors    colour.Offer `json:"colors"`     // for colour management
	// Lacks is what scenes may need that this Blender was built without.
	Lacks []buildoption.Option `json:"lacks"`
	// Guarded reports that Blender's Python has refused code that is not its own.
	Guarded bool   `json:"guarded"`
	Sandbox string `json:"-"` // the sandbox layers in force, in one line
	// Synthetic reports that this is not Blender; only package synthetic sets it.
	Synthetic bool `json:"-"`
}

// DeviceInfo is one device that Cycles sees. A GPU may be listed once for each
// backend, for example as OPTIX and as CUDA.
type DeviceInfo struct {
	Type string `json:"type"` // "OPTIX", "CUDA", "HIP", "METAL", "ONEAPI" or "CPU"
	Name string `json:"name"`
}

// Choose returns the kind ("GPU" or "CPU") and name of the device that a process with
// these Options would render on; ok is false without one.
func (i Info) Choose(d Device) (kind, name string, ok bool) {
	if d == CPU {
		for _, dev := range i.Devices {
			if dev.Type == "CPU" {
				return "CPU", dev.Name, true
			}
		}
		return "CPU", "CPU", true
	}
	for _, dev := range i.Devices {
		if dev.Type != "CPU" {
			return "GPU", dev.Name, true
		}
	}
	return "", "", false
}

// Opened describes an opened file.
type Opened struct {
	Scene  string `json:"scene"`
	Format string `json:"format"` // Blender's name of the still format: "PNG", "OPEN_EXR"
	Width  int    `json:"width"`  // pixels of a picture's file, unless an animation changes it
	Height int    `json:"height"`
	// Switched lists what is rendered differently from the file's settings, sorted:
	// color_conversions_off (compositor nodes that convert from or to a colour space that this
	// Blender does not have), denoise_off, file_output_muted (Input.Outputs is not set), movie_output_as_png, exr_preview_off
	// (no JPEG next to an OpenEXR picture: OutputLimits.Views is not set), multiview_off (the
	// scene's camera alone: likewise),
	// output_colors_off (the scene's colour management, because Blender does not have what the
	// output's own settings name), special_files_dropped (paths to devices and the like count as
	// missing files), stamp_names_off (no file or host name burnt in), style_modules_off (Python
	// that would draw Freestyle's lines).
	Switched []string `json:"switched"`
	// KeepsData reports whether data is kept between frames: Options.KeepData is set,
	// and everything in the scene is of a kind that is proven to be safe (kept.py).
	KeepsData bool `json:"keeps_data"`
	// NotKept names the first thing in the scene that is not; "" where data is kept, or
	// would not be anyway.
	NotKept string `json:"not_kept"`
	// Plays reports that frames depend on earlier ones. The process then renders
	// frames only in rising order, and computes the skipped ones: see Play. It keeps
	// data between frames as the file says.
	Plays bool `json:"plays"`
	// Full is what a frame takes by the scene's own settings; nil unless Input.Preview is
	// set.
	Full *Full `json:"full"`
	// Whole reports whether pictures are rendered whole that would be in tiles: see
	// Options.Whole. It takes memory on the device; RenderFresh goes by the scene.
	Whole bool `json:"whole"`
	// Compression is the zlib level, 1 to 9, that the scene's PNGs still have to be
	// compressed with; 0 if they already are as the scene asks. See Options.Uncompressed.
	Compression int `json:"compression"`
	// Rows is how many rows are rendered: those of the picture, or of its border. Channels is how
	// many numbers Blender has of each pixel of the passes.
	Rows     int `json:"rows"`
	Channels int `json:"channels"`
	// Strips is in how many strips, one after the other, a picture has to be rendered to fit into
	// the memory that Blender may have; 0 for one piece. See Strip.
	Strips int `json:"-"`
}

// Full is the work of a frame.
type Full struct {
	Width        int `json:"width"` // pixels
	Height       int `json:"height"`
	Samples      int `json:"samples"`       // of a pixel in all views together, at most
	LeastSamples int `json:"least_samples"` // of a pixel in all views together: fewer than Samples where adaptive sampling may end earlier
}

// Frame is a rendered frame.
type Frame struct {
	Number  int       `json:"frame"`
	Started time.Time `json:"-"`      // when Blender began it
	Path    string    `json:"-"`      // the picture, absolute
	Format  string    `json:"format"` // as in Opened
	Width   int       `json:"width"`  // pixels the scene's settings ask for
	Height  int       `json:"height"`
	Seconds float64   `json:"seconds"` // of rendering and writing
	// Sampling is the part of Seconds in which Cycles took samples; the rest grows with the
	// scene or with the picture, and not with the samples.
	Sampling time.Duration `json:"-"`
	// Load, before Seconds begins, is the time for which Blender loaded the file again.
	// Sync and Encode are parts of Seconds: until the first sample, and what Blender says
	// that it took to save the picture, its colours included.
	Load   time.Duration `json:"-"`
	Sync   time.Duration `json:"-"`
	Encode time.Duration `json:"-"`
	// Memory is the most, in bytes, that the process has had in memory so far, and
	// DeviceMemory what Cycles says that it had on its device for this frame.
	Memory       int64  `json:"memory"`
	DeviceMemory int64  `json:"-"`
	Device       string `json:"device"` // "GPU" or "CPU"
	// DeviceName is the device's name as in DeviceInfo; several are joined by " + ".
	// For a GPU it includes the backend: "NVIDIA RTX A6000 (OptiX)".
	DeviceName string `json:"device_name"`
	// PixelSHA256 is set for formats other than PNG, JPEG, IRIS and layered OpenEXR.
	// Blender has then read its own file back, checked its size and hashed it in the
	// float form that package pixels describes.
	PixelSHA256 string `json:"pixel_sha256"`
	// Defects are what Blender has seen in the pixels that it hashed; else nil.
	Defects *pixels.Defects `json:"defects"`
	// Outputs are what Blender wrote for the frame besides its picture, in OutputDir, a folder in
	// Options.Out that belongs to the caller as the picture does; "" without any. The picture is
	// the first of several views, or both eyes where the scene has them in one file.
	Outputs   []Output `json:"-"`
	OutputDir string   `json:"-"`
	Log       string   `json:"-"` // Blender's lines for this frame, without paths, at most FrameLogBytes
}
