// Package framecheck judges delivered pictures and decides what a failed attempt means
// for its job.
//
// Its input is a picture, its scene and the earlier attempts of the frame; its result is
// a verdict. A picture that is certainly wrong fails the attempt (Reject). A blank part
// or the pink of missing textures may be intended: such a picture is suspect, another
// worker renders the frame again, and equal pixels confirm it (docs/adr/0017). What is
// accepted and may still be wrong is a finding, for a person to look at (findings.go).
//
// What always holds: the package is pure. It reads no row, no file and no clock, so the
// same facts always give the same verdict.
//
// It leaves storing pictures and acting on verdicts to frames. Start reading at Picture,
// then Reject and Judge; failure.go decides when a failure ends a job.
package framecheck

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/pixels"
)

const (
	// BlankDifference is how much more blank than each neighbour a suspect frame is, in
	// parts of a thousand. The sky of a moving camera changes by less from
	// frame to frame.
	BlankDifference = 250
	// WholeFrame is the blank part of a uniform frame, in parts of a thousand.
	WholeFrame = 1000
	// minPink is the smallest pink part of a suspect picture: less may be an object of
	// that colour.
	minPink = 0.05
)

// Picture contains the facts of a delivered picture: what the worker claims, and what
// the service decoded itself.
type Picture struct {
	Holder        string // the worker that rendered it
	File          string // its name, such as frame_0001.png
	PixelSHA256   string // as the worker described it
	Width, Height int    // pixels, as the worker described them
	Device        string // what the worker says it rendered on: "GPU" or "CPU"
	Registered    string // the device that the worker registered with
	Renderer      string // contract.RendererID or contract.SyntheticRenderer
	Log           string // the last lines of Blender's output

	Seen       *pixels.Picture // decoded by the service; nil if it cannot decode the format or the size
	Unreadable string          // why decoding failed although the format is supported; ""
}

// Scene contains the facts of inspect that the pictures of a scene must match.
type Scene struct {
	Width, Height int    // pixels of a picture; 0 where they are not known
	OutputFormat  string // Blender's name, such as PNG
	MovieOutput   bool   // the format is one film; its frames are PNG
	MissingFiles  bool   // inspect warned of missing files
}

// Attempt is an earlier, failed attempt of a frame.
type Attempt struct {
	Number            int64
	Holder            string
	KeyID             string // the holder's node key
	Code              fault.Code
	MissingCapability bool   // the worker lacks a capability; this says nothing about the frame
	PixelSHA256       string // of a suspect picture; else ""
	Void              bool   // its key is revoked, or was paused then or since: it counts for nobody
}

// Reject returns the failure of a picture that is certainly wrong; nil for a sound one.
// For a picture that the service cannot decode it relies on the worker's own check. The
// first mismatch is reported: it explains the others.
func Reject(p Picture, scene Scene) *Failure {
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
	case seen.Defects.NotFinite:
		return bad("The picture holds values that are infinite or no numbers.")
	}
	return nil
}

// extensionOf is the file extension of a scene's pictures; "" if unknown.
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

// Judge decides on a sound picture by its content and the earlier attempts of its frame.
// It returns a finding, or the failure of a suspect picture, which another worker must
// confirm, or neither.
func Judge(p Picture, scene Scene, earlier []Attempt) (finding string, suspect *Failure) {
	if p.Seen == nil {
		return "", nil
	}
	same := confirmed(p, earlier)
	defects := p.Seen.Defects
	if defects.Pink >= minPink {
		// Of OpenEXR no second rendering is asked for: its light has no view transform,
		// in which a purple lamp looks like the pink.
		if scene.MissingFiles || same || p.Seen.Format == "exr" {
			return FindingPink, nil
		}
		return "", &Failure{
			Code: fault.FrameCheckFailed, Log: p.Log, SuspectPixels: p.PixelSHA256,
			Message: fmt.Sprintf("%.0f %% of the picture is the pink of missing textures, and inspect found no file missing.", defects.Pink*100),
		}
	}
	switch blank := p.Blank(); {
	case defects.Black:
		return FindingBlack, nil
	case same && blank == WholeFrame:
		return FindingUniform, nil
	case same && blank >= BlankDifference:
		return FindingBlank, nil
	}
	return "", nil // recheckBlanks of frames compares a blank one once all are there
}

// confirmed reports whether an earlier suspect picture shows the same. The queue asks
// another worker first. Where there is none, the same worker's second picture counts: a
// scene may be meant so, and one worker must be able to finish it.
func confirmed(p Picture, earlier []Attempt) bool {
	return slices.ContainsFunc(earlier, func(a Attempt) bool { return confirms(p, a) })
}

// confirms reports whether an earlier suspect picture shows what this one shows. A GPU gives
// a few pixels another value each time (pixels.GPUNoise), so there a second picture that is
// as suspect as the first is enough.
func confirms(p Picture, a Attempt) bool {
	return a.PixelSHA256 != "" && (a.PixelSHA256 == p.PixelSHA256 || p.Device == contract.RenderDevice)
}

// Blank is the blank part of a picture in parts of a thousand; 0 if it was not decoded.
func (p Picture) Blank() int64 {
	if p.Seen == nil {
		return 0
	}
	return int64(math.Floor(p.Seen.Defects.Blank * WholeFrame))
}

// DiffersFromNeighbours reports whether a frame is blank and its neighbours are not. All
// values are blank parts; a missing neighbour is negative. Without neighbours there is
// nothing to compare with, and the answer is false.
func DiffersFromNeighbours(blank, before, behind int64) bool {
	neighbour := max(before, behind)
	return neighbour >= 0 && blank-neighbour >= BlankDifference
}

// SuspectBlank returns the failure of an accepted frame that differs from its neighbours.
func SuspectBlank(blank int64, pixelSHA256 string) Failure {
	return Failure{
		Code: fault.FrameCheckFailed, SuspectPixels: pixelSHA256,
		Message: fmt.Sprintf("%d %% of the picture is of one colour, and its neighbours are not: another worker renders it once more.", blank*100/WholeFrame),
	}
}

// WorkersAtFault lists the workers whose earlier failure a good picture, with its finding,
// proves to be their own. It leaves out missing capabilities, pictures that this one
// confirms, those that the service has lost, and lost GPUs, which were counted when they
// were reported. The order is that of ids, so that transactions lock workers' rows in one
// order.
func WorkersAtFault(p Picture, finding string, earlier []Attempt) (workers []string) {
	for _, a := range earlier {
		confirmed := a.PixelSHA256 != "" && a.PixelSHA256 == p.PixelSHA256 || finding != "" && confirms(p, a)
		if a.Holder != p.Holder && !a.MissingCapability && !confirmed && a.Code != fault.GPUUnavailable && a.Code != fault.PackagingFailed {
			workers = append(workers, a.Holder)
		}
	}
	slices.Sort(workers)
	return slices.Compact(workers)
}
