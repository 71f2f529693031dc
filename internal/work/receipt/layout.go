package receipt

// Layout of the ZIP: the frames in one folder, and two descriptions next to it.
// Entries are stored without compression, because pictures are compressed already.
const (
	ManifestEntry  = "manifest.json"
	RenderLogEntry = "render-log.txt"
	frameFolder    = "output/"
	outputFolder   = "outputs/"
)

// FrameEntry returns the path in the ZIP of a frame's bare file name.
func FrameEntry(file string) string { return frameFolder + file }

// OutputEntry returns the path in the ZIP of a frame's output.
func OutputEntry(name string) string { return outputFolder + name }

// Manifest is the content of [ManifestEntry]: it describes the ZIP for readers
// that have only the ZIP. It has no signature of its own; the receipt's artifact
// hash covers it.
type Manifest struct {
	JobID      string          `json:"job_id"`
	FrameStart int             `json:"frame_start"`
	FrameEnd   int             `json:"frame_end"`
	FrameStep  int             `json:"frame_step"`
	FrameCount int             `json:"frame_count"`
	FrameList  string          `json:"frame_list,omitempty"`
	Frames     []ManifestFrame `json:"frames"`
	Renderer   Renderer        `json:"renderer"`
	Input      File            `json:"input"` // the main file; the receipt has the others
}

// ManifestFrame is a receipt's frame with its size in pixels. It has no finding: the
// manifest says what is in the ZIP, not what the service thought of it.
type ManifestFrame struct {
	Frame         int     `json:"frame"`
	File          string  `json:"file"`
	SHA256        string  `json:"sha256"`
	PixelSHA256   string  `json:"pixel_sha256"`
	SizeBytes     int64   `json:"size_bytes"`
	Width         int     `json:"width"`
	Height        int     `json:"height"`
	RenderSeconds float64 `json:"render_seconds"`
	// Outputs are those of the receipt.
	Outputs []Output `json:"outputs,omitempty"`
}
