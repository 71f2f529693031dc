// Package farmapi is the protocol of the workers' API: wire.go defines the
// messages, and client.go is the worker's half of it. The service's half is package
// internal/door/farm.
//
// What always holds: a worker is known by a node key and touches only what it has
// leased. Every report repeats worker and attempt, and a stale one is refused as
// lease_lost. What a worker receives never names a workspace.
//
// The protocol is private to the two halves, which are released together (decisions
// 14). It leaves to the worker when to call, and to package frames what a report
// does. Start reading at wire.go.
package farmapi

import (
	"svc.example/internal/render/buildoption"
	"svc.example/internal/render/colour"
	"svc.example/internal/render/settings"
)

// Version 1 of the workers' API: JSON bodies under /farm/v1. Two calls differ: a part of
// a file is answered as bytes, and a frame is delivered as multipart (part "meta" is
// FrameResult as JSON, part "file" the image's bytes, in that order, so that the server
// knows what to expect before the first byte; a part "output" follows for each of the frame's
// Outputs). If workers can reach the store, the bytes
// go there, unless the frame has outputs: a worker stages the frame, sends it to the given link, and delivers only the
// description. Replies carry ok=true; errors have the envelope of spec 7. Durations are
// seconds.
const (
	PathRegister  = "/farm/v1/register"
	PathLease     = "/farm/v1/lease"
	PathHeartbeat = "/farm/v1/heartbeat"
	PathDeliver   = "/farm/v1/frames"
	PathStage     = "/farm/v1/frames/stage"
	PathFail      = "/farm/v1/fail"
	PathRelease   = "/farm/v1/release"
	PathDemand    = "/farm/v1/demand"
	PathReference = "/farm/v1/reference-rows"
	PathBenchmark = "/farm/v1/benchmarks"
	PathChallenge = "/farm/v1/benchmark/challenges"
	// PathInput is followed by the job id and answers with the job's Project, or by
	// the job id, a slash and the SHA-256 of a part, and answers with its bytes. Only
	// a worker that holds a lease of that job may read either.
	PathInput = "/farm/v1/inputs/"
	// PathStrips is followed by the job id, a slash and the SHA-256 of a strip, and answers
	// with its bytes. Only the worker that finishes its frame may read it.
	PathStrips = "/farm/v1/strips/"
)

// What a worker does to scenes that ask for denoising.
const (
	DenoiseKeep = "keep" // what they ask for
	DenoiseOff  = "off"  // it renders them without
	DenoiseNone = "none" // it refuses them: its Blender has no denoiser
)

// RegisterRequest describes a worker. It is sent at start, and again whenever the
// server answers worker_not_registered.
type RegisterRequest struct {
	Name             string `json:"name"`
	Renderer         string `json:"renderer,omitempty"` // "blender", also when empty, or "synthetic"
	BlenderVersion   string `json:"blender_version"`    // "4.1.1"
	BlenderBuildHash string `json:"blender_build_hash"` // as Blender prints it; "unknown" where it prints none
	Device           string `json:"device"`             // "GPU" or "CPU"
	DeviceName       string `json:"device_name"`
	Denoise          string `json:"denoise"` // DenoiseKeep, DenoiseOff or DenoiseNone
	Sandbox          string `json:"sandbox"` // what is in force around its Blender, one line for the operator; "none"
	// Colors is what its Blender has for colour management. One that is too long, or that
	// no Blender can have, counts as not told.
	Colors colour.Offer `json:"colors"`
	// Lacks is what scenes may need that its Blender was built without. A worker that
	// does not send it has everything.
	Lacks []buildoption.Option `json:"lacks,omitempty"`
	// Strips says that it renders strips of frames, and finishes frames of strips.
	Strips bool `json:"strips,omitempty"`
	// Outputs says that it delivers the files of File Output nodes, and Views that it delivers
	// views and previews too.
	Outputs bool `json:"outputs,omitempty"`
	Views   bool `json:"views,omitempty"`
	// Tags are what its operator calls it by: a workspace can require some. At most tags.Most.
	Tags []string `json:"tags,omitempty"`
	// Reserved says that it takes nothing of workspaces that require no tag.
	Reserved bool `json:"reserved,omitempty"`
	// Rows is the hash of its reference rows, where its machine has rendered them.
	Rows string `json:"rows,omitempty"`
}

// ReferenceRequest asks for the reference rows of a kind of machine: of a Blender build on a device.
type ReferenceRequest struct {
	BlenderVersion   string `json:"blender_version"`
	BlenderBuildHash string `json:"blender_build_hash"`
	Device           string `json:"device"` // "GPU" or "CPU"
	DeviceName       string `json:"device_name"`
}

// ReferenceReply has the reference rows of a kind of machine.
type ReferenceReply struct {
	OK       bool   `json:"ok"`
	Rows     string `json:"rows"`     // their hash; "" where there is none, or machines do not agree
	Machines int    `json:"machines"` // how many delivered rows
}

// RegisterReply names the worker and the times that the server expects of it.
type RegisterReply struct {
	OK               bool    `json:"ok"`
	WorkerID         string  `json:"worker_id"`
	LeaseSeconds     float64 `json:"lease_seconds"`     // a lease without heartbeat lapses after this
	HeartbeatSeconds float64 `json:"heartbeat_seconds"` // send one at least this often while holding leases
	FrameSeconds     float64 `json:"frame_seconds"`     // a frame that takes longer fails, even if it makes progress
	PlaySeconds      float64 `json:"play_seconds"`      // so does one that needs more playing before it than fits into this
	// Links says that the store gives links: for parts, and for frames.
	Links bool `json:"links,omitempty"`
	// Outputs bounds the files that a frame has besides its picture; zero from a server that takes
	// none.
	Outputs OutputLimits `json:"outputs,omitzero"`
}

// MostOutputs is the most that OutputLimits.Files may be. The description of a delivery has all
// names.
const MostOutputs = 256

// OutputLimits bound the files that a frame may have besides its picture.
type OutputLimits struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`           // of all together
	Views bool  `json:"views,omitempty"` // views and previews are taken, and not only what File Output nodes write
}

// LeaseRequest asks for frames. The call is a long poll: it is answered as soon as
// there is work, and with no leases after WaitSeconds. A reply that is lost on the
// way costs nothing but time: its leases lapse without a heartbeat.
type LeaseRequest struct {
	WorkerID    string  `json:"worker_id"`
	JobID       string  `json:"job_id,omitempty"` // the job whose file the worker has open: its frames are preferred
	After       *int    `json:"after,omitempty"`  // the last frame of that job that the worker has, where frames depend on the frames before
	Max         int     `json:"max"`              // frames wanted, 1 or more; of another job than JobID only one comes
	WaitSeconds float64 `json:"wait_seconds"`
	// Previews says that an idle worker also takes free previews.
	Previews bool `json:"previews,omitempty"`
	// Movies says that an idle worker also encodes movies.
	Movies bool `json:"movies,omitempty"`
}

// LeaseReply hands out frames, all of one job; none when the wait ended.
type LeaseReply struct {
	OK     bool    `json:"ok"`
	Job    *Job    `json:"job,omitempty"`
	Leases []Lease `json:"leases"`
}

// Job is what a worker needs to know of a job. It never names the workspace: a
// worker must not learn whose scene it renders.
type Job struct {
	JobID         string `json:"job_id"`
	InputSHA256   string `json:"input_sha256"`   // of the main file
	FramesWaiting int    `json:"frames_waiting"` // frames of this job that are not held yet, after this reply
	// Frames are all of the job: First, First+Step and so on up to Last, though not each.
	Frames Frames `json:"frames"`
	// Plays says that frames depend on earlier ones, which the worker plays.
	Plays bool `json:"plays,omitempty"`
	// Scene is the name of the scene that was priced: the worker renders no other. "" where
	// the worker has the file open already.
	Scene string `json:"scene,omitempty"`
	// Settings are what the order chose of the file. A Blender that has the file open renders
	// another job of it only with the same ones.
	Settings settings.Settings `json:"settings,omitzero"`
	// Preview is set for a free preview, which is reported as a frame of a job is. The
	// worker ends it for a frame.
	Preview *Preview `json:"preview,omitempty"`
	// Reference is set for the reference render of a benchmark's challenge, which is
	// reported as a frame of a job is. The worker has the scene, and ends it for a frame.
	Reference *Challenge `json:"reference,omitempty"`
	// Again says that the job is complete, and that one of the frames that it has taken over is
	// rendered again to compare both. It is reported as a frame of a job is. The worker ends it
	// for a paid frame.
	Again bool `json:"again,omitempty"`
	// Movie is set for a movie of a job's frames, which is reported as a frame of a job is. Its
	// project is the ZIP alone. The worker ends it for a frame.
	Movie *Movie `json:"movie,omitempty"`
}

// Aside reports whether this is unpaid work, which is interrupted for a frame.
func (j Job) Aside() bool { return j.Preview != nil || j.Reference != nil || j.Movie != nil || j.Again }

// Challenge is a picture that the service drew: a scene of the benchmark with other noise
// and from a moved camera.
type Challenge struct {
	ChallengeID string     `json:"challenge_id"`
	Scene       string     `json:"scene"`
	Seed        int        `json:"seed"`         // of Cycles
	Frame       int        `json:"frame"`        // of the scene
	CameraShift [2]float64 `json:"camera_shift"` // added to the camera's: to the right, up
	Samples     int        `json:"samples"`      // of a pixel
}

// Movie is what a movie is made of: the frames that the manifest in the ZIP lists, in its order.
type Movie struct {
	Frames int     `json:"frames"`
	Width  int     `json:"width"` // pixels of each frame
	Height int     `json:"height"`
	FPS    float64 `json:"fps"` // frames per second
	// Main is the .blend among the files after the ZIP, and Scene the scene that was rendered, where
	// the movie has the scene's own settings and sound; otherwise "".
	Main  string `json:"main,omitempty"`
	Scene string `json:"scene,omitempty"`
}

// Frames is a range of frames.
type Frames struct {
	First int `json:"first"`
	Last  int `json:"last"`
	Step  int `json:"step"`
}

// Preview bounds a free preview.
type Preview struct {
	Side    int     `json:"side"`    // pixels of the longer side at most
	Samples int     `json:"samples"` // of a pixel at most
	Seconds float64 `json:"seconds"` // to open the file and render
	// BandsAbove is how many seconds a frame has to take, as the preview suggests, for the worker
	// to measure bands too (FrameResult.Bands); 0 measures none.
	BandsAbove float64 `json:"bands_above,omitempty"`
}

// Project lists the files of a job. A worker fetches it once for each job, because
// it may be long, while leases are frequent.
type Project struct {
	OK    bool   `json:"ok"`
	Main  string `json:"main"` // path of the .blend to render
	Files []File `json:"files"`
	// Scene is the same only for jobs of one workspace with the same files: a Blender that
	// has one open has the other. It does not identify the workspace; "" is unknown.
	Scene string `json:"scene,omitempty"`
	// Aliases are further names of files, where the .blend looks for them; nil for none. A
	// worker that can make one does.
	Aliases []Alias `json:"aliases,omitempty"`
}

// Alias is a further name of the file at Path. At is relative to the project ("Tex/A.PNG"),
// above it ("../a.png") or absolute ("/home/anna/a.png").
type Alias struct {
	Path string `json:"path"`
	At   string `json:"at"`
}

// File is one file of a project: its parts in order, whose concatenation has
// SHA256. Paths come from callers; a worker must not follow one out of its folder.
type File struct {
	Path      string `json:"path"` // relative, with "/" between folders
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"size_bytes"`
	// Parts are the SHA-256 of each; a file that came whole is one part.
	Parts []string `json:"parts"`
}

// Lease is the right to render one frame until it lapses. Attempt is the fencing
// number: every report must repeat it, and one with an older number is refused.
type Lease struct {
	LeaseID string `json:"lease_id"`
	Attempt int    `json:"attempt"` // 1 for the first try
	Frame   int    `json:"frame"`
	// Strip is set where the worker renders some rows of the frame only.
	Strip *Strip `json:"strip,omitempty"`
	// Finish is set where the worker makes the frame of strips, and renders nothing.
	Finish *Finish `json:"finish,omitempty"`
}

// Strip is some rows of a frame, from the top: From is the first one, To the one after the last.
// The worker renders also Overlap rows of each neighbour, as far as the frame has them.
type Strip struct {
	Index   int `json:"index"` // from 0, from the top
	Count   int `json:"count"`
	From    int `json:"from"`
	To      int `json:"to"`
	Overlap int `json:"overlap"`
	Height  int `json:"height"` // rows of the frame
}

// Finish is what a frame is made of, from the top.
type Finish struct {
	Strips []RenderedStrip `json:"strips"`
}

// RenderedStrip is a strip whose bytes the service has.
type RenderedStrip struct {
	Strip
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"size_bytes"`
}

// Held names a lease in a heartbeat or a release.
type Held struct {
	LeaseID  string  `json:"lease_id"`
	Attempt  int     `json:"attempt"`
	Progress float64 `json:"progress,omitempty"` // 0 to 1 inside the frame
}

// HeartbeatRequest extends the leases that it names and carries their progress. A
// lease that is named in no heartbeat for LeaseSeconds lapses.
type HeartbeatRequest struct {
	WorkerID string `json:"worker_id"`
	Leases   []Held `json:"leases"`
}

// HeartbeatReply names the leases that no longer belong to the worker. It stops
// rendering them: a delivery would be refused.
type HeartbeatReply struct {
	OK   bool     `json:"ok"`
	Lost []string `json:"lost"`
}

// FrameResult describes a rendered frame; the image's bytes are sent next to it.
// The server checks the description against the bytes and the scene before it
// accepts the frame.
type FrameResult struct {
	WorkerID         string   `json:"worker_id"`
	LeaseID          string   `json:"lease_id"`
	Attempt          int      `json:"attempt"`
	JobID            string   `json:"job_id"`
	Frame            int      `json:"frame"`
	File             string   `json:"file"` // "frame_0001.png"
	SHA256           string   `json:"sha256"`
	PixelSHA256      string   `json:"pixel_sha256"`
	SizeBytes        int64    `json:"size_bytes"`
	Width            int      `json:"width"`
	Height           int      `json:"height"`
	RenderSeconds    float64  `json:"render_seconds"`
	Played           int      `json:"played,omitempty"`       // frames that were computed before it, and not rendered
	PlaySeconds      float64  `json:"play_seconds,omitempty"` // that these took
	Device           string   `json:"device"`                 // what really rendered it: "GPU" or "CPU"
	DeviceName       string   `json:"device_name"`
	BlenderVersion   string   `json:"blender_version"`
	BlenderBuildHash string   `json:"blender_build_hash"`
	Switched         []string `json:"switched"` // what was changed against the file, e.g. "denoise_off", "file_output_muted"; sorted
	Log              string   `json:"log"`      // Blender's lines for this frame, paths of the machine removed, at most 16 KiB
	// Times are where the time of this attempt went; nil from a worker that does not send
	// them.
	Times *FrameTimes `json:"times,omitempty"`
	// Defects are what Blender sees in the pixels that it reads back, of formats that the
	// service does not decode; otherwise nil.
	Defects *Defects `json:"defects,omitempty"`
	// Settings are those of the job, with which the frame was rendered.
	Settings settings.Settings `json:"settings,omitzero"`
	// Full is set for a free preview: what a frame takes that is not one.
	Full *FullFrame `json:"full,omitempty"`
	// Bands are how many seconds each of at most strips.MostBands bands of a free preview took,
	// which are equally high, from the top; nil where that was not measured.
	Bands []float64 `json:"bands,omitempty"`
	// Staged is the key of StageReply, if the bytes were sent there and not
	// with this call.
	Staged string `json:"staged,omitempty"`
	// Joined says that the frame was made of strips.
	Joined bool `json:"joined,omitempty"`
	// Outputs are the files that Blender wrote besides the picture. Their bytes follow its own.
	Outputs []Output `json:"outputs,omitempty"`
}

// Output is a file of a File Output node, a view or a preview.
type Output struct {
	Name      string `json:"name"` // safe, see framename.Path
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"size_bytes"`
	View      bool   `json:"view,omitempty"` // a view or a preview: its name begins with that of the picture
}

// Defects are what may show that a picture is broken, as the service sees it itself in the
// formats that it decodes.
type Defects struct {
	Blank     float64 `json:"blank"`      // share of rows in one run from an edge, all of one colour
	Pink      float64 `json:"pink"`       // share of pixels in the colour of missing textures
	Black     bool    `json:"black"`      // every pixel is opaque and black
	NotFinite bool    `json:"not_finite"` // a colour is infinite or not a number
}

// FrameTimes are the parts of an attempt in seconds, none of them in another: from the
// lease to the last byte of the picture, without what was played before and without the
// worker's check of the picture. Load, Sync, Render and Encode are Blender's own.
type FrameTimes struct {
	Load     float64 `json:"load"`     // until the file was open; 0 where it was already
	Sync     float64 `json:"sync"`     // until the first sample: the scene, its geometry and textures
	Render   float64 `json:"render"`   // samples, denoising, compositing
	Encode   float64 `json:"encode"`   // colours and encoding of the picture
	Transfer float64 `json:"transfer"` // waiting for the job's files, and sending the picture
	Waiting  float64 `json:"waiting"`  // in the worker's hands before its rendering began
}

// StageReply says where the bytes of a described frame go: with a PUT to URL that has all
// headers. Without a URL they are sent with the description.
type StageReply struct {
	OK     bool              `json:"ok"`
	URL    string            `json:"url,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	Key    string            `json:"key,omitempty"` // FrameResult.Staged repeats it
}

// FullFrame is the work of a frame by the scene's own settings, and how much of a
// preview's time went into its samples.
type FullFrame struct {
	Width           int     `json:"width"`
	Height          int     `json:"height"`
	Samples         int     `json:"samples"`       // of a pixel at most
	LeastSamples    int     `json:"least_samples"` // where adaptive sampling may end
	SamplingSeconds float64 `json:"sampling_seconds"`
}

// FailRequest reports a frame that could not be rendered. Code is one of the
// failure codes of decisions 10. Final reports that any other worker would fail as
// well, so that the server makes no further attempt.
type FailRequest struct {
	WorkerID string `json:"worker_id"`
	LeaseID  string `json:"lease_id"`
	Attempt  int    `json:"attempt"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Log      string `json:"log"`
	Final    bool   `json:"final"`
}

// ReleaseRequest gives leases back unrendered, as a worker does that stops. It does
// not count as a failed attempt, so it must not be used for a frame that failed.
type ReleaseRequest struct {
	WorkerID string `json:"worker_id"`
	Leases   []Held `json:"leases"`
	Leaving  bool   `json:"leaving,omitempty"` // the worker's last word: it counts as offline at once
	// Lacks is what its Blender turned out to be built without, as in RegisterRequest.
	Lacks  []buildoption.Option `json:"lacks,omitempty"`
	Unable string               `json:"unable,omitempty"` // why the machine cannot work, such as a Blender that does not start: it gets no frames for a while
}

// DemandReply says what workers are wanted for.
type DemandReply struct {
	OK bool `json:"ok"`
	// Workspaces has an entry for each workspace with frames that wait or are in workers'
	// hands. It names none.
	Workspaces []WorkspaceDemand `json:"workspaces"`
}

// WorkspaceDemand is the frames of a workspace that wait or are in workers' hands.
type WorkspaceDemand struct {
	// Tags are what a worker must have to take any of the frames; often none.
	Tags []string `json:"tags,omitempty"`
	// Frames has an entry for each set of options.
	Frames []FrameDemand `json:"frames"`
}

// FrameDemand is some frames that wait or are in workers' hands.
type FrameDemand struct {
	// Options are what the Blender that renders them must be built with; often none.
	Options []buildoption.Option `json:"options,omitempty"`
	Waiting int64                `json:"waiting"`
	Held    int64                `json:"held"`
	// Measured are those, of both, whose jobs have finished frames, and MeasuredSeconds is
	// how long they take if they are like those.
	Measured        int64   `json:"measured"`
	MeasuredSeconds float64 `json:"measured_seconds"`
}

// OKReply answers reports whose success is the whole answer.
type OKReply struct {
	OK bool `json:"ok"`
}
