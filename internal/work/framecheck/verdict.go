// Package framecheck judges delivered pictures and decides what a failed attempt means
// for its job.
//
// Its input is a picture, its scene and the earlier attempts of the frame; its result is
// a verdict. A picture that is certainly wrong fails the attempt (Reject). A blank part
// or the pink of missing textures may be intended: such a picture is suspect, another
// worker renders the frame again, and equal pixels confirm it (docs/adr/0017). An
// accepted picture that may still be wrong is a finding, for a person to check
// (findings.go).
//
// What always holds: the package is pure. It reads no row, no file and no clock, so the
// same facts always give the same verdict.
//
// Package frames stores pictures and acts on verdicts. Start reading at Picture, then
// Reject and Judge; failure.go decides when a failure ends a job.
package framecheck

import (
	"fmt"
	"math"
	"path"
	"slices"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/pixels"
	"svc.example/internal/render/settings"
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
	Holder        string            // the worker that rendered it
	File          string            // its name, such as frame_0001.png
	PixelSHA256   string            // as the worker described it
	Width, Height int               // pixels, as the worker described them
	Device        string            // what the worker claims to have rendered on: "GPU" or "CPU"
	Registered    string            // the device that the worker registered with
	Renderer      string            // contract.RendererID or contract.SyntheticRenderer
	Log           string            // the last lines of Blender's output
	Settings      settings.Settings // with which it was rendered, as the worker described it

	Seen       *pixels.Picture // as the service read it; nil before it has
	Unreadable string          // why reading failed; ""
	// Told is what the worker saw in the pixels of a format that the service does not decode.
	Told pixels.Defects
}

// Checked says what the service checked itself: "pixels", "structure", or "" for nothing.
func (p Picture) Checked() string {
	switch {
	case p.Seen == nil:
		return ""
	case p.Seen.Decoded:
		return CheckedPixels
	}
	return CheckedStructure
}

// What the service checks in a picture, as receipts and lists of frames say it.
const (
	CheckedPixels    = "pixels"
	CheckedStructure = "structure"
)

// Scene contains the facts of inspect that the pictures of a scene must match.
type Scene struct {
	Width, Height int               // pixels of a picture; 0 where they are not known
	OutputFormat  string            // Blender's name, such as PNG
	MovieOutput   bool              // the format is one film; its frames are PNG
	MissingFiles  bool              // inspect warned of missing files
	Settings      settings.Settings // that were ordered
}

// Attempt is an earlier, failed attempt of a frame.
type Attempt struct {
	Number            int64
	Holder            string
	KeyID             string // the holder's node key
	Code              fault.Code
	MissingCapability bool   // the worker does not have a capability; this is not about the frame
	PixelSHA256       string // of a suspect picture; else ""
	Void              bool   // its key is revoked, or was paused then or since: it does not count
}

// RejectUnread returns the failure of a picture whose description alone is wrong, before any
// of its bytes is read; nil for one that should be read. The first mismatch is reported: it
// explains the others.
func RejectUnread(p Picture, scene Scene) *Failure {
	format, known := formatOf(p, scene)
	switch {
	case p.Device != p.Registered && p.Registered == contract.RenderDevice:
		return &Failure{Code: fault.GPUUnavailable, Message: fmt.Sprintf("The frame was rendered on the %s, not on the GPU.", p.Device), Log: p.Log}
	case p.Device != p.Registered:
		return bad(p, "The frame was rendered on the %s, but its worker registered a %s.", p.Device, p.Registered)
	case p.Settings != scene.Settings: // a worker of before there were any ignores them
		return bad(p, "The worker rendered with other settings than those that were ordered.")
	case !known:
		return bad(p, "The scene's output format is %q, which this service cannot check.", scene.OutputFormat)
	case !slices.Contains(format.Extensions, path.Ext(p.File)):
		return bad(p, "The picture is a %s file; the scene's pictures are %s files.", path.Ext(p.File), format.Extensions[0])
	case scene.Width > 0 && (p.Width != scene.Width || p.Height != scene.Height):
		return bad(p, "The picture is %dx%d; the scene's pictures are %dx%d.", p.Width, p.Height, scene.Width, scene.Height)
	}
	return nil
}

func bad(p Picture, format string, args ...any) *Failure {
	return &Failure{Code: fault.FrameCheckFailed, Message: fmt.Sprintf(format, args...), Log: p.Log}
}

// Claims returns why a picture's claimed format and size make it not worth decoding; nil if
// it is.
func Claims(p Picture, scene Scene, format string, width, height int) error {
	switch wanted, _ := formatOf(p, scene); {
	case format != wanted.Name:
		return fmt.Errorf("its bytes are those of a %s picture, and the scene's pictures are %s", format, wanted.Name)
	case width != p.Width || height != p.Height:
		return fmt.Errorf("it is %dx%d and was described as %dx%d", width, height, p.Width, p.Height)
	}
	return nil
}

// Reject returns the failure of a picture that is certainly wrong; nil for a sound one. The
// first mismatch is reported: it explains the others.
func Reject(p Picture, scene Scene) *Failure {
	if failure := RejectUnread(p, scene); failure != nil {
		return failure
	}
	switch seen := p.Seen; {
	case p.Unreadable != "" || seen == nil:
		return bad(p, "The picture could not be read: %s.", p.Unreadable)
	case Claims(p, scene, seen.Format, seen.Width, seen.Height) != nil:
		return bad(p, "The picture could not be read: %v.", Claims(p, scene, seen.Format, seen.Width, seen.Height))
	case seen.Comparable && !seen.Has(p.PixelSHA256):
		return bad(p, "The picture's pixels do not match their description.")
	}
	return nil
}

// formatOf is the format of a scene's pictures. ok is false for one that no Blender writes
// any more.
func formatOf(p Picture, scene Scene) (format pixels.Format, ok bool) {
	if p.Renderer == contract.SyntheticRenderer || scene.MovieOutput {
		return pixels.FormatNamed("PNG")
	}
	return pixels.FormatNamed(scene.OutputFormat)
}

// Judge decides on a sound picture by its content and the earlier attempts of its frame.
// It returns a finding, or the failure of a suspect picture, which another worker must
// confirm, or neither.
func Judge(p Picture, scene Scene, earlier []Attempt) (finding string, suspect *Failure) {
	same := confirmed(p, earlier)
	defects := p.defects()
	unconfirmed := func(format string, args ...any) *Failure {
		failure := bad(p, format, args...)
		failure.SuspectPixels = p.PixelSHA256
		return failure
	}
	switch ownWord := p.Seen == nil || !p.Seen.Decoded; {
	case defects.NotFinite && (same || ownWord):
		return FindingNotFinite, nil
	case defects.NotFinite:
		return "", unconfirmed("The picture has values that are infinite or not numbers.")
	// No second rendering is requested for OpenEXR: its light has no view transform, in
	// which a purple lamp looks like the pink of missing textures.
	case defects.Pink >= minPink && (scene.MissingFiles || same || ownWord || p.Seen.Format == "exr"):
		return FindingPink, nil
	case defects.Pink >= minPink:
		return "", unconfirmed("%.0f %% of the picture is the pink of missing textures, and inspect found no file missing.", defects.Pink*100)
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

// defects are those that the service saw, or that the worker told of pixels that only
// Blender decodes.
func (p Picture) defects() pixels.Defects {
	if p.Seen != nil && p.Seen.Decoded {
		return p.Seen.Defects
	}
	return p.Told
}

// confirms reports whether an earlier suspect picture shows what this one shows. A GPU gives
// a few pixels another value each time (pixels.GPUNoise), so there a second picture that is
// as suspect as the first is enough.
func confirms(p Picture, a Attempt) bool {
	return a.PixelSHA256 != "" && (a.PixelSHA256 == p.PixelSHA256 || p.Device == contract.RenderDevice)
}

// Blank is the blank part of a picture in parts of a thousand.
func (p Picture) Blank() int64 { return int64(math.Floor(p.defects().Blank * WholeFrame)) }

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
		Message: fmt.Sprintf("%d %% of the picture has one colour, unlike its neighbours. Another worker will render it again.", blank*100/WholeFrame),
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
