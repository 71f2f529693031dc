package frames

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
)

// Sample picks frames. The key keeps workers from knowing which: a cheating worker
// would render the sampled ones correctly.
type Sample struct {
	Percent int // 0 to 100
	Key     []byte
}

// Has reports whether a frame is in the sample for a purpose: the same for every process and
// attempt.
func (s Sample) Has(purpose, jobID string, frame int) bool {
	if s.Percent == 0 {
		return false
	}
	h := hmac.New(sha256.New, s.Key)
	fmt.Fprintf(h, "%s %s %d", purpose, jobID, frame)
	return binary.BigEndian.Uint64(h.Sum(nil))%100 < uint64(s.Percent)
}

// SmallSide is the longer side of a picture that is compared by what it shows, in pixels. So
// many do not show what one pixel has by chance, and show the noise of fewer samples.
const SmallSide = 64

// Compares reports whether a picture is compared with another worker's, and by what it
// shows: those of one GPU differ in a few pixels each time (pixels.GPUNoise).
func (f *Frames) Compares(p Picture) bool {
	return p.Device == contract.RenderDevice && f.DoubleRender.Has("double-render", p.JobID, p.Frame)
}

// mostCandidates is how many pictures decide: of three, two may agree.
const mostCandidates = 3

// candidate is a sound picture of a sampled frame.
type candidate struct {
	Picture
	finding      string
	keyID, class string
}

// shows reports whether two candidates of one class of workers show the same.
func (c candidate) shows(o candidate) bool { return c.Shows(o.Picture) }

// Shows reports whether two pictures that workers of one class rendered show the same.
func (p Picture) Shows(o Picture) bool {
	if p.Small != nil && o.Small != nil {
		return pixels.Difference(p.Small, o.Small) <= pixels.GPUNoise
	}
	return p.PixelSHA256 == o.PixelSHA256
}

// compare accepts a sound picture, unless its frame is in the sample and a worker is
// there that can confirm it. Then the picture is kept, the frame waits for that worker,
// and the first picture of two that agree is accepted. If three differ, or no worker is
// left to ask, the first of all is accepted. kept is whether the picture's bytes are
// still needed.
func (f *Frames) compare(ctx context.Context, tx *db.Tx, p Picture, finding string, earlier []framecheck.Attempt) (kept bool, err error) {
	// A GPU's picture in a format that is not decoded here cannot be compared.
	if !f.DoubleRender.Has("double-render", p.JobID, p.Frame) || (p.Device == contract.RenderDevice && p.Small == nil) {
		return true, f.accept(ctx, tx, p.Lease, p, finding, earlier)
	}
	scene, _, err := PricedScene(ctx, tx, p.JobID)
	if err != nil {
		return false, err
	}
	if !scene.Repeats(p.Version) {
		return true, f.accept(ctx, tx, p.Lease, p, finding, earlier)
	}
	record, err := job.Lock(ctx, tx, p.JobID)
	if err != nil {
		return false, err
	}
	all, err := candidatesOf(ctx, tx, p.JobID, p.Frame)
	if err != nil {
		return false, err
	}
	for _, c := range all {
		if c.Lease == p.Lease && c.SHA256 == p.SHA256 {
			return false, nil // an answer was lost on the way
		}
	}
	worker, err := tx.WorkerGet(ctx, p.Lease.Holder)
	if err != nil {
		return false, fmt.Errorf("read worker: %w", err)
	}
	this := candidate{Picture: p, finding: finding, keyID: worker.KeyID, class: dispatch.ClassOf(worker)}
	all = append(all, this)
	agreed := agreement(all)
	if agreed == nil && len(all) < mostCandidates && this.class == all[0].class {
		waits, err := f.awaitAnother(ctx, tx, record, this, len(all))
		if waits || err != nil {
			return waits, err
		}
	}
	return f.settle(ctx, tx, p.Lease, all, agreed, earlier)
}

// agreement returns the candidates that show the same, the first one first; nil where no
// two do.
func agreement(all []candidate) (agreed []candidate) {
	for i, a := range all {
		agreed = []candidate{a}
		for _, b := range all[i+1:] {
			if a.shows(b) && a.class == b.class && a.Lease.Holder != b.Lease.Holder {
				agreed = append(agreed, b)
			}
		}
		if len(agreed) > 1 {
			return agreed
		}
	}
	return nil
}

// awaitAnother keeps a picture and queues its frame again, which is no failure, if a
// worker is online that can confirm it. A third picture may come from a key that has
// painted one, where no other key is there. n is the number of pictures with this one.
func (f *Frames) awaitAnother(ctx context.Context, tx *db.Tx, record job.Record, c candidate, n int) (waits bool, err error) {
	picture, err := json.Marshal(c.Picture)
	if err != nil {
		return false, fmt.Errorf("keep a picture: %w", err)
	}
	row := query.CandidateAddParams{
		JobID: c.JobID, Frame: int64(c.Frame), Attempt: c.Lease.Attempt, WorkerID: c.Lease.Holder, KeyID: c.keyID, Class: c.class, OtherKey: 1,
		Sha256: c.SHA256, PixelSha256: c.PixelSHA256, Finding: c.finding, Picture: string(picture), CreatedAt: tx.Now,
	}
	row.RowSum = candidateRows.Of(row)
	if err := tx.CandidateAdd(ctx, row); err != nil {
		return false, fmt.Errorf("keep a picture: %w", err)
	}
	if waits, err = f.confirmerOnline(ctx, tx, c, true); err == nil && !waits && n == 2 {
		if waits, err = f.confirmerOnline(ctx, tx, c, false); err == nil && waits {
			err = confirmableByAnyKey(ctx, tx, c.JobID, c.Frame)
		}
	}
	if err != nil || !waits {
		return false, err
	}
	if err := lease.Release(ctx, tx, c.Lease, dispatch.FrameQueue); errors.Is(err, lease.ErrLost) {
		return false, leaseLost(c.Lease.ID)
	} else if err != nil {
		return false, err
	}
	return true, dispatch.RecordRelease(ctx, tx, job.ForDispatch(record))
}

// confirmableByAnyKey lets another worker of the same key confirm a frame's pictures.
func confirmableByAnyKey(ctx context.Context, tx *db.Tx, jobID string, frame int) error {
	rows, err := tx.CandidatesAnyKey(ctx, query.CandidatesAnyKeyParams{JobID: jobID, Frame: int64(frame)})
	for _, row := range rows {
		err = errors.Join(err, candidateRows.Renew(ctx, tx, row))
	}
	return err
}

// confirmerOnline reports whether a worker is there that can confirm a picture.
func (f *Frames) confirmerOnline(ctx context.Context, tx *db.Tx, c candidate, otherKey bool) (bool, error) {
	p := query.ConfirmerOnlineParams{Since: tx.Now - dispatch.WorkerOnline.Microseconds(), Now: tx.Now, Class: c.class, JobID: c.JobID, Frame: int64(c.Frame)}
	if otherKey {
		p.OtherKey = 1
	}
	n, err := tx.ConfirmerOnline(ctx, p)
	if err != nil {
		return false, fmt.Errorf("find a worker that confirms a picture: %w", err)
	}
	return n > 0, nil
}

// settle accepts the first agreed picture, or otherwise the first of all, and counts
// what was compared for each key. held is the claim that ends. kept is whether that
// claim's own picture was accepted.
func (f *Frames) settle(ctx context.Context, tx *db.Tx, held lease.Ref, all, agreed []candidate, earlier []framecheck.Attempt) (kept bool, err error) {
	winner := all[0]
	if agreed != nil {
		winner = agreed[0]
	}
	if err := tx.CandidatesDrop(ctx, query.CandidatesDropParams{JobID: winner.JobID, Frame: int64(winner.Frame)}); err != nil {
		return false, fmt.Errorf("drop compared pictures: %w", err)
	}
	kept = winner.Lease == held
	picture := winner.Picture
	picture.Lease.Attempt = held.Attempt // the newest: a frame that is reopened counts on from it
	if err := f.accept(ctx, tx, held, picture, winner.finding, earlier); err != nil {
		return false, err
	}
	if agreed == nil {
		if len(all) > 1 {
			f.Log.Warn("workers painted different pixels and nobody could decide: the first picture is delivered", "job_id", winner.JobID, "frame", winner.Frame, "pictures", len(all))
		}
		return kept, nil
	}
	var compared []dispatch.Compared
	for _, c := range all {
		if c.class == winner.class {
			compared = append(compared, dispatch.Compared{WorkerID: c.Lease.Holder, KeyID: c.keyID, Confirmed: c.shows(winner)})
		}
	}
	return kept, f.Workers.RecordCompared(ctx, tx, winner.JobID, int64(winner.Frame), compared)
}

// candidatesOf reads the pictures of a frame that await another, the first one first.
func candidatesOf(ctx context.Context, tx *db.Tx, jobID string, frame int) (all []candidate, err error) {
	rows, err := tx.CandidatesOf(ctx, query.CandidatesOfParams{JobID: jobID, Frame: int64(frame)})
	if err != nil {
		return nil, fmt.Errorf("read the pictures of a frame: %w", err)
	}
	for _, r := range rows {
		c := candidate{finding: r.Finding, keyID: r.KeyID, class: r.Class}
		if err := json.Unmarshal([]byte(r.Picture), &c.Picture); err != nil {
			return nil, fmt.Errorf("read a picture of frame %d of %s: %w", frame, jobID, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// mostWaiting bounds the frames that one round of SettleCompared checks.
const mostWaiting = 1000

// SettleCompared accepts the first picture of each frame whose other worker has left, and
// drops the pictures of jobs that have ended. Several processes may call it at once.
func (f *Frames) SettleCompared(ctx context.Context) error {
	var frames []query.CandidateFramesRow
	err := f.DB.Read(ctx, func(tx *db.Tx) (err error) {
		frames, err = tx.CandidateFrames(ctx, mostWaiting)
		return err
	})
	if err != nil {
		return fmt.Errorf("list the frames that await another picture: %w", err)
	}
	for _, w := range frames {
		if err := f.DB.Write(ctx, func(tx *db.Tx) error { return f.settleWaiting(ctx, tx, w.JobID, int(w.Frame)) }); err != nil {
			return err
		}
	}
	return nil
}

// settleWaiting ends the wait of one frame if no worker can confirm its pictures any
// more.
func (f *Frames) settleWaiting(ctx context.Context, tx *db.Tx, jobID string, frame int) error {
	record, err := job.Lock(ctx, tx, jobID)
	if err != nil {
		return err
	}
	if job.Status(record.Status) != job.Rendering {
		return tx.CandidatesDrop(ctx, query.CandidatesDropParams{JobID: jobID, Frame: int64(frame)})
	}
	all, err := candidatesOf(ctx, tx, jobID, frame)
	if err != nil || len(all) == 0 {
		return err
	}
	if waits, err := f.confirmerOnline(ctx, tx, all[0], true); waits || err != nil {
		return err
	}
	if len(all) > 1 {
		if waits, err := f.confirmerOnline(ctx, tx, all[0], false); err != nil {
			return err
		} else if waits {
			tx.Announce(lease.Topic(dispatch.FrameQueue))
			return confirmableByAnyKey(ctx, tx, jobID, frame)
		}
	}
	// The service takes the frame, so that no worker renders it meanwhile. A worker that
	// has it now continues.
	claimed, err := lease.ClaimIDs(ctx, tx, []string{LeaseID(jobID, frame)}, dispatch.ServiceHolder, f.LeaseLife)
	if err != nil || len(claimed) == 0 {
		return err
	}
	if _, err := dispatch.RecordClaim(ctx, tx, job.ForDispatch(record), "", 1); err != nil {
		return err
	}
	_, err = f.settle(ctx, tx, claimed[0].Ref(), all, nil, nil)
	return err
}
