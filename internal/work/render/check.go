package render

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/pixels"
	"svc.example/internal/work/quote"
)

// The frame check stands before money: a picture counts only when it is sound.
// What is surely wrong fails the try (unsound). What may be the scene's own doing,
// a blank part or the pink of missing textures, is doubted: another worker renders
// it once more, and the same pixels again confirm it (docs/adr/0017).

// Findings of frames that were accepted all the same.
const (
	FindingUniform = "uniform" // the picture is of one colour
	FindingBlank   = "blank"   // a part is of one colour, as no neighbour has it; rendered twice with the same pixels
	FindingPink    = "pink"    // a part is in the pink of missing textures
)

const (
	// blankApart is how much more of a frame than of each neighbour must be blank
	// for it to be doubted, in parts of a thousand: the sky of a moving camera
	// changes by less from frame to frame.
	blankApart = 250
	// wholeFrame is the blank part of a uniform frame.
	wholeFrame = 1000
	// pinkLeast is the part of a picture in the pink of missing textures from
	// which on it is doubted: less may be an object of that colour.
	pinkLeast = 0.05
)

// unsound says what is surely wrong with a picture; nil for nothing. Where the
// service could not decode it, the worker's own check is all there is.
func unsound(p Picture, scene quote.Scene) *Failure {
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
	case scene.FrameWidth > 0 && (p.Width != scene.FrameWidth || p.Height != scene.FrameHeight):
		return bad("The picture is %dx%d; the scene's pictures are %dx%d.", p.Width, p.Height, scene.FrameWidth, scene.FrameHeight)
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
func extensionOf(p Picture, scene quote.Scene) string {
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

// weigh decides about a sound picture by its look, and by the tries of its frame
// that failed: what it is found to be, or why another worker must confirm it.
func weigh(p Picture, scene quote.Scene, tries []query.FailedTry) (finding string, doubt *Failure) {
	if p.Seen == nil {
		return "", nil
	}
	same, byOther := confirms(p, tries)
	look := p.Seen.Look
	if look.Pink >= pinkLeast {
		if len(scene.MissingFiles) > 0 || byOther {
			return FindingPink, nil
		}
		return "", &Failure{
			Code: fault.FrameCheckFailed, Log: p.Log, doubted: p.PixelSHA256,
			Message: fmt.Sprintf("%.0f %% of the picture is the pink of missing textures, and inspect found no file missing.", look.Pink*100),
		}
	}
	switch blank := blankOf(p.Seen); {
	case same && blank == wholeFrame:
		return FindingUniform, nil
	case same && blank >= blankApart:
		return FindingBlank, nil
	}
	return "", nil // a blank one is held to its neighbours once they are there
}

// confirms tells whether a picture that was doubted had the same pixels, and
// whether it was another worker's.
func confirms(p Picture, tries []query.FailedTry) (same, byOther bool) {
	for _, t := range tries {
		if t.PixelSha256 != "" && t.PixelSha256 == p.PixelSHA256 {
			same, byOther = true, byOther || t.Holder != p.Lease.Holder
		}
	}
	return same, byOther
}

// blankOf is the blank part of a picture in parts of a thousand.
func blankOf(seen *pixels.Picture) int64 {
	if seen == nil {
		return 0
	}
	return int64(math.Floor(seen.Look.Blank * wholeFrame))
}

// standsOut tells whether a frame is blank where its neighbours are not. They are
// given by their blank parts, below 0 for one that is not there; without any there
// is nothing to hold it to.
func standsOut(blank, before, behind int64) bool {
	neighbour := max(before, behind)
	return neighbour >= 0 && blank-neighbour >= blankApart
}

// sceneOf reads what inspect found out about a job's scene.
func (j *Jobs) sceneOf(ctx context.Context, jobID string) (scene quote.Scene, err error) {
	var text string
	err = j.DB.Read(ctx, func(tx *db.Tx) (err error) {
		text, err = tx.JobScene(ctx, jobID)
		return err
	})
	if db.IsNotFound(err) {
		return scene, fault.New(fault.LeaseLost, "There is no render %s.", jobID)
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &scene)
	}
	if err != nil {
		return scene, fmt.Errorf("read the scene of %s: %w", jobID, err)
	}
	return scene, nil
}

// Refuse fails the try that a picture came from. Errors: frame_rejected, lease_lost.
func (j *Jobs) Refuse(ctx context.Context, ref lease.Ref, f Failure) error {
	if err := j.FailFrame(ctx, ref, f); err != nil {
		return err
	}
	return fault.New(fault.FrameRejected, "%s", f.Message)
}

// doubtBlanks holds the blank frames of a job whose frames are all in to their
// neighbours. One that stands out is put back, to be rendered once more. It
// returns the job as it is then.
func (j *Jobs) doubtBlanks(ctx context.Context, tx *db.Tx, job query.Job) (query.Job, error) {
	rows, err := tx.FramesPartlyBlank(ctx, query.FramesPartlyBlankParams{JobID: job.JobID, Step: job.FrameStep, Blank: blankApart})
	if err != nil {
		return job, fmt.Errorf("read blank frames: %w", err)
	}
	for _, f := range rows {
		switch {
		case f.Finding != "": // confirmed
		case standsOut(f.Blank, f.BlankBefore, f.BlankBehind):
			job, err = j.putBack(ctx, tx, job, f)
		case f.Blank == wholeFrame:
			_, err = tx.FrameFinding(ctx, query.FrameFindingParams{JobID: job.JobID, Frame: f.Frame, Finding: FindingUniform})
		}
		if err != nil || Status(job.Status) != Rendering {
			return job, err
		}
	}
	return job, nil
}

// putBack has an accepted frame rendered again. Its file is cleared with the job.
func (j *Jobs) putBack(ctx context.Context, tx *db.Tx, job query.Job, f query.FramesPartlyBlankRow) (query.Job, error) {
	ref := lease.Ref{ID: lease.ID(FrameQueue, job.JobID, f.Frame), Holder: f.WorkerID, Attempt: f.Attempt}
	doubt := Failure{
		Code: fault.FrameCheckFailed, doubted: f.PixelSha256,
		Message: fmt.Sprintf("%d %% of the picture is of one colour, and its neighbours are not: it is rendered once more.", f.Blank*100/wholeFrame),
	}
	if _, err := tx.FrameDelete(ctx, query.FrameDeleteParams{JobID: job.JobID, Frame: f.Frame}); err != nil {
		return job, fmt.Errorf("take a frame back: %w", err)
	}
	job, err := tx.JobFrameUndone(ctx, query.JobFrameUndoneParams{RenderUs: f.RenderUs, Now: tx.Now, JobID: job.JobID})
	if err != nil {
		return job, fmt.Errorf("take a frame back: %w", err)
	}
	if err := lease.Reopen(ctx, tx, FrameQueue, job.JobID, f.Frame, f.Attempt); err != nil {
		return job, err
	}
	if err := returned(ctx, tx, job); err != nil {
		return job, err
	}
	return job, j.failed(ctx, tx, &job, ref, f.Frame, doubt)
}
