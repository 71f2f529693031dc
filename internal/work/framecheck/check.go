// Package framecheck decides what a delivered picture is worth, and what a failed
// attempt means for its job.
//
// A picture, its scene and the earlier attempts of its frame come in; a verdict goes
// out. What is surely wrong fails the attempt (Unsound). What may be the scene's own
// doing, a blank part or the pink of missing textures, is doubted: another worker
// renders the frame once more, and the same pixels again confirm it (docs/adr/0017).
//
// What always holds: the package is pure. It reads no row, no file and no clock, so
// one set of facts always gives one verdict.
//
// Storing pictures and acting on verdicts is left to frames. Start reading at
// Picture, then Unsound and Weigh; failure.go says when a failure ends a job.
package framecheck

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/pixels"
)

// Findings of frames that were accepted all the same.
const (
	FindingUniform = "uniform" // the picture is of one colour
	FindingBlank   = "blank"   // a part is of one colour, as no neighbour has it; rendered twice with the same pixels
	FindingPink    = "pink"    // a part is in the pink of missing textures
)

const (
	// BlankApart is how much more of a frame than of each neighbour must be blank
	// for it to be doubted, in parts of a thousand: the sky of a moving camera
	// changes by less from frame to frame.
	BlankApart = 250
	// WholeFrame is the blank part of a uniform frame, in parts of a thousand.
	WholeFrame = 1000
	// pinkLeast is the part of a picture in the pink of missing textures from
	// which on it is doubted: less may be an object of that colour.
	pinkLeast = 0.05
)

// Picture is what is known of a delivered picture.
type Picture struct {
	Holder        string // the worker that rendered it
	File          string // its name, such as frame_0001.png
	PixelSHA256   string // as the worker described it
	Width, Height int    // pixels, as the worker described them
	Device        string // what the worker says it rendered on: "GPU" or "CPU"
	Registered    string // the device that the worker registered with
	Renderer      string // contract.RendererID or contract.SyntheticRenderer
	Log           string // the last lines of Blender's output

	Seen       *pixels.Picture // as the service decoded it; nil where only Blender can, or it is too large
	Unreadable string          // why it could not be decoded though it should; ""
}

// Scene is what inspect found out about the pictures of a scene.
type Scene struct {
	Width, Height int    // pixels of a picture; 0 where they are not known
	OutputFormat  string // Blender's name, such as PNG
	MovieOutput   bool   // the format is one film; its frames are PNG
	MissingFiles  bool   // inspect warned of files that are not there
}

// Attempt is an earlier attempt of a frame that failed.
type Attempt struct {
	Number      int64
	Holder      string
	Code        fault.Code
	Lacks       bool   // the worker lacks what the job needs: it says nothing of the frame
	PixelSHA256 string // of a picture that was doubted; ""
}

// Unsound says what is surely wrong with a picture; nil for nothing. Where the
// service could not decode it, the worker's own check is all there is.
func Unsound(p Picture, scene Scene) *Failure {
	bad := func(format string, args ...any) *Failure {
		return &Failure{Code: fault.FrameCheckFailed, Message: fmt.Sprintf(format, args...), Log: p.Log}
	}
	switch seen, extension := p.Seen, extensionOf(p, scene); {
	case p.Device != p.Registered && p.Registered == contract.RenderDevice:
		return &Failure{Code: fault.GPUUnavailable, Message: fmt.Sprintf("The frame was rendered on the %s, not on the GPU.", p.Device), Log: p.Log}
	case p.Device != p.Registered:
		return bad("The frame was rendered on the %s, but its worker registered a %s.", p.Device, p.Registered)
	case p.Unreadable != "":
		return bad("The picture cannot be read: %s.", p.Unreadable)
	case extension != "" && path.Ext(p.File) != extension:
		return bad("The picture is %s; the scene's pictures are %s.", path.Ext(p.File), extension)
	case scene.Width > 0 && (p.Width != scene.Width || p.Height != scene.Height):
		return bad("The picture is %dx%d; the scene's pictures are %dx%d.", p.Width, p.Height, scene.Width, scene.Height)
	case seen == nil:
		return nil
	case seen.Width != p.Width || seen.Height != p.Height:
		return bad("The picture is %dx%d and was described as %dx%d.", seen.Width, seen.Height, p.Width, p.Height)
	case seen.Format != "exr" && seen.SHA256 != p.PixelSHA256:
		return bad("The picture's pixels are not those that were described.")
	case seen.Look.NotFinite:
		return bad("The picture holds values that are infinite or no numbers.")
	}
	return nil
}

// extensionOf is how names of a scene's pictures end; "" where it is not known.
func extensionOf(p Picture, scene Scene) string {
	switch {
	case p.Renderer == contract.SyntheticRenderer:
		return ".png"
	case scene.MovieOutput || scene.OutputFormat == "PNG":
		return ".png"
	case scene.OutputFormat == "JPEG":
		return ".jpg"
	case strings.HasPrefix(scene.OutputFormat, "OPEN_EXR"):
		return ".exr"
	}
	return ""
}

// Weigh decides about a sound picture by its look, and by the attempts of its frame
// that failed: what it is found to be, or why another worker must confirm it.
func Weigh(p Picture, scene Scene, earlier []Attempt) (finding string, doubt *Failure) {
	if p.Seen == nil {
		return "", nil
	}
	same, byOther := confirms(p, earlier)
	look := p.Seen.Look
	if look.Pink >= pinkLeast {
		if scene.MissingFiles || byOther {
			return FindingPink, nil
		}
		return "", &Failure{
			Code: fault.FrameCheckFailed, Log: p.Log, DoubtedPixels: p.PixelSHA256,
			Message: fmt.Sprintf("%.0f %% of the picture is the pink of missing textures, and inspect found no file missing.", look.Pink*100),
		}
	}
	switch blank := p.Blank(); {
	case same && blank == WholeFrame:
		return FindingUniform, nil
	case same && blank >= BlankApart:
		return FindingBlank, nil
	}
	return "", nil // a blank one is compared with its neighbours once they are there
}

// confirms tells whether a picture that was doubted had the same pixels, and
// whether it was another worker's.
func confirms(p Picture, earlier []Attempt) (same, byOther bool) {
	for _, a := range earlier {
		if a.PixelSHA256 != "" && a.PixelSHA256 == p.PixelSHA256 {
			same, byOther = true, byOther || a.Holder != p.Holder
		}
	}
	return same, byOther
}

// Blank is the blank part of a picture in parts of a thousand; 0 where it could not
// be decoded.
func (p Picture) Blank() int64 {
	if p.Seen == nil {
		return 0
	}
	return int64(math.Floor(p.Seen.Look.Blank * WholeFrame))
}

// StandsOut tells whether a frame is blank where its neighbours are not. They are
// given by their blank parts, below 0 for one that is not there; without any there
// is nothing to compare it with.
func StandsOut(blank, before, behind int64) bool {
	neighbour := max(before, behind)
	return neighbour >= 0 && blank-neighbour >= BlankApart
}

// DoubtBlank is the failure of an accepted frame that stands out, which is rendered
// once more.
func DoubtBlank(blank int64, pixelSHA256 string) Failure {
	return Failure{
		Code: fault.FrameCheckFailed, DoubtedPixels: pixelSHA256,
		Message: fmt.Sprintf("%d %% of the picture is of one colour, and its neighbours are not: it is rendered once more.", blank*100/WholeFrame),
	}
}

// AtFault are the workers that a good picture shows to have failed by themselves:
// not for what they lack, nor for a picture that this one confirms. They come in the
// order of their ids, so that their rows are always locked in one order.
func AtFault(p Picture, earlier []Attempt) (workers []string) {
	for _, a := range earlier {
		confirmed := a.PixelSHA256 != "" && a.PixelSHA256 == p.PixelSHA256
		if a.Holder != p.Holder && !a.Lacks && !confirmed && a.Code != fault.GPUUnavailable {
			workers = append(workers, a.Holder)
		}
	}
	slices.Sort(workers)
	return slices.Compact(workers)
}
