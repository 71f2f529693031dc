package recheck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/job"
	"svc.example/internal/work/result"
	"svc.example/internal/work/reuse"
)

// smallBytes is what making a picture small takes at most.
const smallBytes = 32 << 20

// Admit checks, before a byte of a picture is read, that its worker may deliver it. It implements
// delivery.Taker, as the next three do. Errors: lease_lost, frame_rejected.
func (r *Rechecks) Admit(ctx context.Context, p frames.Picture) (scene framecheck.Scene, known bool, err error) {
	if scene, err = r.Frames.SceneOf(ctx, p.JobID); err != nil {
		return scene, false, err
	}
	if err := r.DB.Read(ctx, func(tx *db.Tx) error { return lease.Check(ctx, tx, p.Lease) }); err != nil {
		return scene, false, lostAs(p.Lease, err)
	}
	if bad := framecheck.RejectUnread(p.Picture, scene); bad != nil {
		return scene, false, r.Refuse(ctx, p.Lease, *bad)
	}
	return scene, false, nil
}

// Compares reports whether a picture is compared by what it shows.
func (r *Rechecks) Compares(p frames.Picture) bool { return p.Device == contract.RenderDevice }

// Refuse ends the attempt of a wrong picture. Errors: frame_rejected, lease_lost.
func (r *Rechecks) Refuse(ctx context.Context, ref lease.Ref, f framecheck.Failure) error {
	if err := r.Fail(ctx, ref, f); err != nil {
		return err
	}
	return fault.New(fault.FrameRejected, "%s", f.Message)
}

// Accept compares a sound picture with the frame that was reused. Its bytes are never kept. Errors:
// lease_lost, frame_rejected.
func (r *Rechecks) Accept(ctx context.Context, p frames.Picture) (kept bool, err error) {
	scene, err := r.Frames.SceneOf(ctx, p.JobID)
	if err != nil {
		return false, err
	}
	if bad := framecheck.Reject(p.Picture, scene); bad != nil {
		return false, r.Refuse(ctx, p.Lease, *bad)
	}
	reused, provable, err := r.reused(ctx, p)
	if err != nil {
		return false, err
	}
	found := verdict("")
	off := false
	class := reuse.Class{Renderer: p.Renderer, Device: p.Device, DeviceName: p.DeviceName, BlenderVersion: p.Version, BuildHash: p.BuildHash}
	err = r.DB.Write(ctx, func(tx *db.Tx) (err error) {
		if provable {
			if found, err = r.judge(ctx, tx, p, reused); err != nil {
				return err
			}
		}
		if found == doubted {
			_, err = lease.Fail(ctx, tx, p.Lease, string(doubted), p.PixelSHA256, 0)
			return err
		}
		if err := lease.Finish(ctx, tx, p.Lease); err != nil {
			return err
		}
		tx.Announce(lease.Topic(Queue)) // its worker may take the next one
		switch found {
		case agrees, unsteady:
			_, err = reuse.Compared(ctx, tx, class, true)
		case differs:
			off, err = reuse.Compared(ctx, tx, class, false)
		}
		return err
	})
	if err != nil || found == "" {
		return false, lostAs(p.Lease, err)
	}
	r.tell(p, class, found, off)
	return false, nil
}

// verdict is what a rendering says of the frame that was reused; "" for nothing.
type verdict string

const (
	agrees   verdict = "agrees"
	doubted  verdict = "frame_differs" // it shows something else, and a third rendering decides
	differs  verdict = "differs"       // so does the third
	unsteady verdict = "unsteady"      // the third does not show what the second does
)

// judge says what follows from a rendering. The first one that shows something else leads to
// another: the renderer may not repeat itself, and then the reuse was no mistake.
func (r *Rechecks) judge(ctx context.Context, tx *db.Tx, p, reused frames.Picture) (verdict, error) {
	row, err := tx.LeaseGet(ctx, p.Lease.ID)
	if db.IsNotFound(err) {
		return "", lease.ErrLost
	}
	if err != nil {
		return "", fmt.Errorf("read what an earlier rendering showed: %w", err)
	}
	same, again := p.Shows(reused), row.LastCode == string(doubted)
	switch {
	case same && !again:
		return agrees, nil
	case !again:
		return doubted, nil
	case same, !r.Compares(p) && row.LastError != p.PixelSHA256:
		return unsteady, nil
	}
	return differs, nil
}

// tell tells the operator what was compared.
func (r *Rechecks) tell(p frames.Picture, class reuse.Class, found verdict, off bool) {
	if r.Compared != nil && found != doubted {
		r.Compared(found != differs)
	}
	about := []any{"job_id", p.JobID, "frame", p.Frame, "class_id", class.ID(), "device_name", class.DeviceName, "blender", class.BlenderVersion, "worker_id", p.Lease.Holder}
	switch found {
	case doubted:
		r.Log.Info("a reused frame was rendered again and shows something else: a third rendering decides", about...)
	case unsteady:
		r.Log.Info("a reused frame was rendered twice, and the two renderings differ: the renderer does not repeat itself", about...)
	case differs:
		r.Log.Warn("a reused frame was rendered twice and shows something else: frames of its class are not reused until svc admin reuse reset",
			append(about, "switched_off", off)...)
	}
}

// changedAlike reports whether a worker changed the settings that were changed for the reused frame.
// It renders no files of File Output nodes here, which do not change the picture.
func changedAlike(now []string, accepted string) bool {
	now = slices.DeleteFunc(slices.Sorted(slices.Values(now)), func(name string) bool { return name == "file_output_muted" })
	return strings.Join(now, ",") == accepted
}

// reused reads the frame that was reused as a picture to compare with. provable is false where
// the two prove nothing: the worker is of another class or changed other settings, or a GPU's picture
// cannot be decoded.
func (r *Rechecks) reused(ctx context.Context, p frames.Picture) (reused frames.Picture, provable bool, err error) {
	var record job.Record
	var row query.FrameViewRow
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if record, err = job.Read(ctx, tx, p.JobID); err != nil {
			return err
		}
		row, err = tx.FrameView(ctx, query.FrameViewParams{JobID: p.JobID, Frame: int64(p.Frame)})
		return err
	})
	if err != nil {
		return reused, false, fmt.Errorf("read a reused frame: %w", err)
	}
	reused.PixelSHA256 = row.PixelSha256
	if !changedAlike(p.Switched, row.Switched) || p.Device != row.Device || p.DeviceName != row.DeviceName || p.Version != row.BlenderVersion || p.BuildHash != row.BuildHash {
		return reused, false, nil
	}
	if !r.Compares(p) || p.Small == nil {
		return reused, !r.Compares(p), nil
	}
	if r.Hold != nil {
		done, err := r.Hold(ctx, smallBytes)
		if err != nil {
			return reused, false, err
		}
		defer done()
	}
	file, err := result.OpenFrame(ctx, r.DB, r.Whole, r.Blobs, record, result.Frame(row))
	if fault.Is(err, fault.ArtifactExpired) || fault.Is(err, fault.ResultDamaged) {
		return reused, false, nil
	}
	if err != nil {
		return reused, false, err
	}
	defer func() { _ = file.Close() }()
	if reused.Small, err = pixels.Thumbnail(file, frames.SmallSide); err != nil {
		return reused, false, nil // neither could be compared
	}
	return reused, true, nil
}
