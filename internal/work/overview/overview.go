// Package overview shows the frames of a job together: as a contact sheet, and as a loop
// that plays.
//
// What always holds: an overview is made from the small previews of accepted frames, and
// only its job's workspace reads it; it is bounded in frames, pixels and bytes (Limits and
// the contract's); one at a time is made for each job. That of a completed job is made once
// and kept next to its ZIP, under a key that ends in the SHA-256 of its bytes, and is
// removed with the ZIP. One of a running job shows what there is, and is not kept. It can
// always be made again, so no row names it: a lost or damaged one is made again.
//
// Package watch makes previews, and artifact removes files. Start reading at
// Overviews.Find, then Overview.Content; sheet.go and loop.go draw.
package overview

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/ground/sharing"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/result"
)

// Kind of an overview.
type Kind string

// Kinds, as they begin the keys of kept overviews.
const (
	ContactSheet Kind = "sheet" // a JPEG of many frames, each with its number
	Loop         Kind = "loop"  // an animated WebP
)

// ContentType is the media type of a kind.
func (k Kind) ContentType() string {
	if k == Loop {
		return "image/webp"
	}
	return "image/jpeg"
}

// extension ends the name of a file of a kind.
func (k Kind) extension() string {
	if k == Loop {
		return ".webp"
	}
	return ".jpg"
}

// Limits bound how many frames an overview shows.
type Limits struct {
	ContactSheet int // frames, 1 to MostContactSheetFrames
	Loop         int // frames, 1 to MostLoopFrames
}

// The highest limits that are taken: each frame costs reading one picture.
const (
	MostContactSheetFrames = 400
	MostLoopFrames         = 200
)

// Overviews makes and keeps overviews. The fields are set once, before the first call; all
// methods are safe for concurrent use, also by several processes over one store.
type Overviews struct {
	DB       *db.DB
	Blobs    blob.Store
	Pictures Pictures
	Limits   Limits
	Log      *slog.Logger // overviews that cannot be kept, and damaged ones

	// Making bounds how many are made at once, each by its tag.
	Making sharing.Maker[string]
}

// AtOnce is how many overviews a process makes at once: half its processors, so that other
// requests are answered meanwhile.
func AtOnce() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// Pictures is the part of watch.Reader that this package needs.
type Pictures interface {
	// Small makes a JPEG of an accepted frame, whose longer side has at most side pixels.
	Small(ctx context.Context, record job.Record, f result.Frame, side int) ([]byte, error)
}

// Overview is one that Content makes or finds.
type Overview struct {
	Kind   Kind
	Tag    string // changes when the frames that it shows change
	Shown  int    // frames
	Frames int    // that are accepted, of which those are an even choice
	Kept   bool   // the job is completed: the overview changes no more

	overviews *Overviews
	record    job.Record
	chosen    []result.Frame
	fps       float64
}

// An overview that is not kept counts in the rate limit as one more request for each
// framesPerRequest frames, and as mostRequests at most: the burst must have room for it.
const (
	framesPerRequest = 10
	mostRequests     = 15
)

// Requests is how many more requests it counts as, because it is made for its caller alone.
func (v Overview) Requests() int {
	if v.Kept {
		return 0
	}
	return min(v.Shown/framesPerRequest, mostRequests)
}

// layout is part of each tag. It changes when overviews are drawn in another way.
const layout = "1"

// Find finds what an overview of a job shows. It reads rows and no file, so that nothing
// is made for a caller that already has the overview. Errors: render_not_found;
// frame_not_found when no frame is accepted; artifact_expired.
func (o *Overviews) Find(ctx context.Context, workspaceID, jobID string, kind Kind) (v Overview, err error) {
	v = Overview{Kind: kind, overviews: o}
	var frames []result.Frame
	var scene string
	err = o.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if v.record, err = job.Find(ctx, tx, workspaceID, jobID); err != nil {
			return err
		}
		if frames, err = tx.FramesOf(ctx, jobID); err != nil {
			return fmt.Errorf("read frames: %w", err)
		}
		row, err := tx.JobScene(ctx, jobID)
		if scene = row.Scene; err != nil && !db.IsNotFound(err) {
			return fmt.Errorf("read the scene of %s: %w", jobID, err)
		}
		return nil
	})
	switch {
	case err != nil:
		return v, err
	case v.record.ArtifactRemovedAt != 0:
		return v, fault.New(fault.ArtifactExpired, "The frames were removed at %s.", db.Time(v.record.ArtifactRemovedAt).Format(time.RFC3339))
	case len(frames) == 0:
		return v, noFrames(jobID)
	}
	most := o.Limits.ContactSheet
	if kind == Loop {
		most = o.Limits.Loop
	}
	v.chosen = choose(frames, most)
	v.Shown, v.Frames, v.Kept = len(v.chosen), len(frames), job.Status(v.record.Status) == job.Completed
	v.fps = quote.FPSOf(scene)
	v.Tag = v.tag()
	return v, nil
}

// noFrames is the error of a job without a frame to show.
func noFrames(jobID string) error {
	return fault.New(fault.FrameNotFound, "%s has no frame to show yet.", jobID).WithAction("Ask again once frames_completed has grown.")
}

// notShown is the error of a job whose frames are accepted and cannot be shown small.
func notShown(jobID string) error {
	return fault.New(fault.FrameNotFound, "The frames of %s have a format that is not shown as small pictures.", jobID).WithAction("Download the frames.")
}

// choose returns most of the frames at even distances, the first and the last among them;
// all when there are no more.
func choose(frames []result.Frame, most int) []result.Frame {
	if len(frames) <= most {
		return frames
	}
	if most < 2 {
		return frames[len(frames)/2 : len(frames)/2+1]
	}
	chosen := make([]result.Frame, most)
	for i := range chosen {
		chosen[i] = frames[i*(len(frames)-1)/(most-1)]
	}
	return chosen
}

// tag names what the overview shows.
func (v *Overview) tag() string {
	sum := sha256.New()
	fmt.Fprintln(sum, layout, v.Kind, v.Frames, v.record.FrameCount, v.fps)
	for _, f := range v.chosen {
		fmt.Fprintln(sum, f.Frame, f.Sha256)
	}
	return hex.EncodeToString(sum.Sum(nil))[:32]
}

// longest bounds the making of an overview that continues after its caller has
// left.
const longest = 10 * time.Minute

// Content returns the overview's bytes, at most contract.OverviewBytes. It reads the kept overview,
// or makes it: that takes a processor for a moment for each frame, and up to 100 MiB. One at a time
// is made for each job, at most AtOnce in this process, and calls for the same share one. One that
// will be kept is completed even if its caller leaves, so that a proxy's timeout cannot prevent it
// for good. Errors: frame_not_found when no frame can be shown, artifact_expired, result_damaged.
func (v Overview) Content(ctx context.Context) ([]byte, error) {
	o := v.overviews
	if content := o.kept(ctx, v); content != nil {
		return content, nil
	}
	return o.Making.Share(ctx, v.record.JobID, v.Tag, func() ([]byte, error) {
		if !v.Kept {
			return v.draw(ctx)
		}
		if content := o.kept(ctx, v); content != nil { // another call has made it since
			return content, nil
		}
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), longest)
		defer done()
		content, err := v.draw(ctx)
		if err == nil {
			o.keep(ctx, v, content)
		}
		return content, err
	})
}

// draw makes the overview.
func (v Overview) draw(ctx context.Context) (content []byte, err error) {
	ratelimit.Work(ctx, func() {
		if v.Kind == Loop {
			content, err = v.loop(ctx)
		} else {
			content, err = v.sheet(ctx)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("make the %s of %s: %w", v.Kind, v.record.JobID, err)
	}
	return content, nil
}

// small returns the preview of a frame; nil for a frame that none can be made of.
func (v Overview) small(ctx context.Context, f result.Frame, side int) ([]byte, error) {
	jpeg, err := v.overviews.Pictures.Small(ctx, v.record, f, side)
	if fault.Is(err, fault.FrameNotFound) {
		return nil, nil
	}
	return jpeg, err
}
