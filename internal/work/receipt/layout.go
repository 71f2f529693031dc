package receipt

// The layout of the ZIP: the frames under one folder and two descriptions
// beside it. Entries are stored, not deflated.
const (
	ManifestEntry  = "manifest.json"
	RenderLogEntry = "render-log.txt"
	frameFolder    = "output/"
)

// FrameEntry is where the frame of the given bare file name stands in the ZIP.
func FrameEntry(file string) string { return frameFolder + file }

// Manifest is the content of [ManifestEntry]: what the ZIP holds, for readers
// that have only the ZIP. Unlike the receipt it is not signed by itself; the
// receipt's artifact hash covers it.
type Manifest struct {
	JobID      string          `json:"job_id"`
	FrameStart int             `json:"frame_start"`
	FrameEnd   int             `json:"frame_end"`
	FrameStep  int             `json:"frame_step"`
	FrameCount int             `json:"frame_count"`
	Frames     []ManifestFrame `json:"frames"`
	Renderer   Renderer        `json:"renderer"`
	Input      File            `json:"input"`
}

// ManifestFrame is a receipt's frame and its size in pixels.
type ManifestFrame struct {
	Frame         int     `json:"frame"`
	File          string  `json:"file"`
	SHA256        string  `json:"sha256"`
	PixelSHA256   string  `json:"pixel_sha256"`
	SizeBytes     int64   `json:"size_bytes"`
	Width         int     `json:"width"`
	Height        int     `json:"height"`
	RenderSeconds float64 `json:"render_seconds"`
}
