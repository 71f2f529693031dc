package blender

import (
	"time"

	"svc.example/internal/ground/sandbox"
)

// Device says what Cycles renders on.
type Device string

// The two devices that can be asked for. GPU is the first of OptiX, CUDA, HIP,
// Metal and oneAPI that has a device; it never falls back to the CPU.
const (
	GPU Device = "gpu"
	CPU Device = "cpu"
)

// Denoise says what is done with a scene's own denoising.
type Denoise string

// Keep renders as the scene says and refuses a scene whose denoiser is not in
// this Blender (denoiser_unavailable); Off switches denoising off and reports it.
const (
	Keep Denoise = "keep"
	Off  Denoise = "off"
)

// Options of a process.
type Options struct {
	Path    string  // the blender executable, see Find
	Temp    string  // a folder that is there; the process's own is made in it and removed by Close
	Out     string  // a folder that is there; pictures are written here, named frame_0001.png
	Device  Device  // GPU when empty
	Denoise Denoise // Keep when empty
	Threads int     // of Cycles and the rest of Blender; 0: one a core
	// Sandbox starts the process; nil starts it without one.
	Sandbox *sandbox.Sandbox
	// Kernels, where not "", is the folder that compiled GPU kernels are kept in, for
	// all processes of one Blender on one machine. With MakeKernels the process may
	// write there: only one that opens no stranger's file should, since what lies
	// there runs on the GPU for every later job.
	Kernels     string
	MakeKernels bool
	Patience    Patience // the defaults where zero
	// KeepData keeps the scene inside Cycles from one frame to the next (Blender's
	// persistent data), except where that is known to change pixels. Geometry and
	// textures are then taken over once instead of once a frame.
	KeepData bool
}

// Info is what a process says of itself when it is ready.
type Info struct {
	Version   string       `json:"version"`    // "4.1.1"
	BuildHash string       `json:"build_hash"` // "unknown" where the build has none
	Devices   []DeviceInfo `json:"devices"`    // GPUs first
	Denoiser  bool         `json:"denoiser"`   // built with OpenImageDenoise
	Sandbox   string       `json:"-"`          // what is in force around it, one line
	// Synthetic says that this is no Blender at all; only package synthetic
	// sets it.
	Synthetic bool `json:"-"`
}

// DeviceInfo is one device that Cycles sees. A GPU may be listed once for each
// backend, for example as OPTIX and as CUDA.
type DeviceInfo struct {
	Type string `json:"type"` // "OPTIX", "CUDA", "HIP", "METAL", "ONEAPI" or "CPU"
	Name string `json:"name"`
}

// Choose returns the kind ("GPU" or "CPU") and name of the device that a process
// of these Options would render on; ok is false where there is none.
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

// Opened tells of a file that was opened.
type Opened struct {
	Scene  string `json:"scene"`
	Format string `json:"format"` // Blender's name of the still format: "PNG", "OPEN_EXR"
	Width  int    `json:"width"`  // pixels of a picture, where no animation changes it
	Height int    `json:"height"`
	// Switched names what is rendered otherwise than the file says, sorted:
	// denoise_off, file_output_muted, movie_output_as_png, multiview_off
	// (the scene's camera alone), stamp_names_off (no file or host name burnt in).
	Switched []string `json:"switched"`
	// KeepsData says whether data is kept over frames: Options.KeepData, and
	// nothing in the scene that is known to go unnoticed then.
	KeepsData bool `json:"keeps_data"`
	// Doubtful says that the scene simulates something, whose kept data may
	// differ from a fresh frame's.
	Doubtful bool `json:"doubtful"`
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
	Device  string    `json:"device"`  // "GPU" or "CPU"
	// DeviceName is the device's name as in DeviceInfo, several joined by " + ", and
	// of a GPU the backend that rendered: "NVIDIA RTX A6000 (OptiX)".
	DeviceName string `json:"device_name"`
	// PixelSHA256 is set for formats that internal/ground/pixels cannot decode: then
	// Blender has read its own file back, found it of the right size and hashed
	// it in the float form which that package describes.
	PixelSHA256 string `json:"pixel_sha256"`
	Log         string `json:"-"` // Blender's lines for this frame, without paths, at most FrameLogBytes
}
