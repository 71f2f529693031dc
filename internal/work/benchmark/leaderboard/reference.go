package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
)

// ReferenceQueue is the lease engine's queue of reference renders: the subject is the
// challenge's id, the item its number of samples.
const ReferenceQueue = "reference"

// What is known of a challenge's reference render. waiting and rendering alternate until
// one of the others ends them.
const (
	referenceWaiting   = "waiting"
	referenceRendering = "rendering"
	referenceConfirmed = "confirmed"
	referenceRefuted   = "refuted"
)

// referenceDelay is the pause after a reference render that a worker could not finish.
// Only the result waits for it.
const referenceDelay = 10 * time.Minute

// OwnsReference reports whether a lease that a worker names is one of a reference render.
func OwnsReference(leaseID string) bool { return strings.HasPrefix(leaseID, ReferenceQueue+":") }

// challengeOf is the challenge of such a lease, "" for an id of another form.
func challengeOf(leaseID string) string {
	parts := strings.Split(leaseID, ":")
	if len(parts) != 3 || parts[0] != ReferenceQueue {
		return ""
	}
	return parts[1]
}

// ReferenceWork is a reference render for a worker.
type ReferenceWork struct {
	benchmark.Challenge
	Lease lease.Lease
}

// ClaimReference leases to an idle worker the longest waiting reference render that it may
// make: of another node key than the result's and than one that has decided already, with
// the same kind of device and the same Blender. ok is false when there is none.
func (b *Board) ClaimReference(ctx context.Context, holder string) (w ReferenceWork, ok bool, err error) {
	var waiting int64
	err = b.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		waiting, err = tx.ReferencesWaiting(ctx) // idle workers poll often: one indexed read
		return err
	})
	if err != nil || waiting == 0 {
		return w, false, err
	}
	err = b.DB.Write(ctx, func(tx *db.Tx) error {
		w, ok = ReferenceWork{}, false // the transaction may run again after a conflict
		if idle, err := dispatch.Idles(ctx, tx, holder); err != nil || !idle {
			return err
		}
		row, err := tx.ReferenceNext(ctx, query.ReferenceNextParams{WorkerID: holder, Renderer: contract.RendererID, Now: tx.Now})
		if db.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		leases, err := lease.ClaimIDs(ctx, tx, []string{lease.ID(ReferenceQueue, row.ChallengeID, row.Samples)}, holder, b.LeaseLife)
		if err != nil || len(leases) == 0 {
			return err
		}
		worker, err := tx.WorkerGet(ctx, holder)
		if err != nil {
			return err
		}
		claimed, err := tx.ReferenceClaim(ctx, query.ReferenceClaimParams{ReferenceKey: worker.KeyID, ChallengeID: row.ChallengeID})
		if _, err := challengeRows.Changed(ctx, tx, claimed, err); err != nil {
			return err
		}
		w, ok = ReferenceWork{Challenge: drawnOf(row).Challenge, Lease: leases[0]}, true
		return nil
	})
	if err != nil {
		return ReferenceWork{}, false, fmt.Errorf("claim a reference render: %w", err)
	}
	return w, ok, nil
}

// BeatReferences extends the leases of reference renders and returns the ids of those that
// the worker no longer holds.
func (b *Board) BeatReferences(ctx context.Context, held []lease.Ref, progress []float64) (lost []string, err error) {
	err = b.DB.Write(ctx, func(tx *db.Tx) (err error) {
		lost, err = lease.BeatAll(ctx, tx, held, progress, b.LeaseLife)
		return err
	})
	return lost, err
}

// ReleaseReferences returns reference renders of a worker that stops or gets a frame. One
// that is not the worker's any more is skipped.
func (b *Board) ReleaseReferences(ctx context.Context, refs []lease.Ref) error {
	for _, ref := range refs {
		err := b.DB.Write(ctx, func(tx *db.Tx) error { return releaseReference(ctx, tx, ref) })
		if err != nil && !errors.Is(err, lease.ErrLost) {
			return fmt.Errorf("release a reference render: %w", err)
		}
	}
	return nil
}

func releaseReference(ctx context.Context, tx *db.Tx, ref lease.Ref) error {
	if err := lease.Release(ctx, tx, ref, ReferenceQueue); err != nil {
		return err
	}
	return requeueReference(ctx, tx, challengeOf(ref.ID))
}

func requeueReference(ctx context.Context, tx *db.Tx, challengeID string) error {
	row, err := tx.ReferenceRequeue(ctx, challengeID)
	_, err = challengeRows.Changed(ctx, tx, row, err)
	return err
}

// FailReference ends an attempt that a worker could not finish. Another one follows, as
// long as the result waits. Error: lease_lost.
func (b *Board) FailReference(ctx context.Context, ref lease.Ref, f framecheck.Failure) error {
	err := b.DB.Write(ctx, func(tx *db.Tx) error { return failReference(ctx, tx, ref, f) })
	if errors.Is(err, lease.ErrLost) {
		return referenceLost(ref.ID)
	}
	return err
}

func failReference(ctx context.Context, tx *db.Tx, ref lease.Ref, f framecheck.Failure) error {
	if _, err := lease.Fail(ctx, tx, ref, string(f.Code), f.Message, referenceDelay); err != nil {
		return err
	}
	return requeueReference(ctx, tx, challengeOf(ref.ID))
}

// ReferenceLeases defines how the lease engine treats reference renders.
func (b *Board) ReferenceLeases() lease.Queue {
	return lease.Queue{Name: ReferenceQueue, Life: b.LeaseLife, LongestDelay: referenceDelay, Remote: true, OnLapse: func(ctx context.Context, tx *db.Tx, l lease.Lease, blameless bool) error {
		if blameless {
			return releaseReference(ctx, tx, l.Ref())
		}
		return failReference(ctx, tx, l.Ref(), framecheck.Failure{Code: fault.WorkerLost, Message: "The worker that rendered it stopped reporting."})
	}}
}

func referenceLost(leaseID string) error {
	return fault.New(fault.LeaseLost, "The reference render %s no longer belongs to this worker.", leaseID)
}

// AdmitReference checks, before a byte of a picture is read, that its worker holds the
// claim. Error: lease_lost.
func (b *Board) AdmitReference(ctx context.Context, ref lease.Ref) error {
	err := b.DB.Read(ctx, func(tx *db.Tx) error { return lease.Check(ctx, tx, ref) })
	if errors.Is(err, lease.ErrLost) {
		return referenceLost(ref.ID)
	}
	return err
}

// Confirm compares the picture of a reference render with the one that came with the result.
// If they agree, the result is verified and ranked. Where not, a worker of a third key
// renders it too; if that picture differs as well, the result is refuted. The lock of the
// board is held meanwhile. Errors: lease_lost, frame_rejected.
func (b *Board) Confirm(ctx context.Context, ref lease.Ref, file []byte) error {
	challengeID := challengeOf(ref.ID)
	var row query.BenchmarkChallenge
	err := b.DB.Read(ctx, func(tx *db.Tx) (err error) {
		row, err = tx.ChallengeGet(ctx, challengeID)
		return err
	})
	if db.IsNotFound(err) {
		return referenceLost(ref.ID)
	}
	if err != nil {
		return fmt.Errorf("read a challenge: %w", err)
	}
	kept, err := b.frame(ctx, row)
	if err != nil {
		return err
	}
	difference, err := benchmark.FrameDifference(kept, file)
	if err != nil {
		failure := framecheck.Failure{Code: fault.FrameCheckFailed, Message: err.Error()}
		if err := b.FailReference(ctx, ref, failure); err != nil {
			return err
		}
		return fault.New(fault.FrameRejected, "%s", failure.Message)
	}
	err = b.DB.Write(ctx, func(tx *db.Tx) error { return decide(ctx, tx, ref, difference) })
	if errors.Is(err, lease.ErrLost) {
		return referenceLost(ref.ID)
	}
	return err
}

// frame reads the picture that answered a challenge.
func (b *Board) frame(ctx context.Context, row query.BenchmarkChallenge) ([]byte, error) {
	file, err := b.Blobs.Open(ctx, row.FrameKey)
	if err != nil {
		return nil, fmt.Errorf("open the picture of a challenge: %w", err)
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(file)
}

// decide writes the outcome of a reference render. The rows are read under the
// lock.
func decide(ctx context.Context, tx *db.Tx, ref lease.Ref, difference float64) error {
	l, err := lock(ctx, tx)
	if err != nil {
		return err
	}
	if err := lease.Finish(ctx, tx, ref); err != nil {
		return err
	}
	row, err := tx.ChallengeGet(ctx, challengeOf(ref.ID))
	if err != nil {
		return fmt.Errorf("read a challenge: %w", err)
	}
	parts := int64(math.Round(difference * 1e6))
	if difference > benchmark.ReferenceTolerance && row.DiffersKey == "" {
		// One of the two is wrong, and it is not known which: a third one
		// decides.
		differs, err := tx.ReferenceDiffers(ctx, query.ReferenceDiffersParams{DiffersKey: row.ReferenceKey, Difference: parts, ChallengeID: row.ChallengeID})
		if _, err := challengeRows.Changed(ctx, tx, differs, err); err != nil {
			return err
		}
		return lease.Add(ctx, tx, ReferenceQueue, row.ChallengeID, row.Samples, tx.Time())
	}
	said, standing := referenceConfirmed, benchmark.Verified
	if difference > benchmark.ReferenceTolerance {
		said, standing = referenceRefuted, benchmark.Refuted
	}
	decided, err := tx.ReferenceDecide(ctx, query.ReferenceDecideParams{Reference: said, Difference: parts, Now: tx.Now, ChallengeID: row.ChallengeID})
	if _, err := challengeRows.Changed(ctx, tx, decided, err); err != nil {
		return err
	}
	return l.stand(ctx, tx, row.ResultID, standing)
}

// stand gives a waiting result its standing, and ranks it if that allows it. A hidden one
// gets it when it is shown again.
func (l *locked) stand(ctx context.Context, tx *db.Tx, resultID string, standing benchmark.Standing) error {
	r, err := tx.BenchmarkResultGet(ctx, resultID)
	if db.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read result: %w", err)
	}
	r.Standing = string(standing)
	if r.GpuSlug != benchmark.Unknown && standing.Ranks() {
		if r.GroupID, err = l.rankedGroup(ctx, tx, r); err != nil {
			return err
		}
	}
	if err := tx.BenchmarkStand(ctx, query.BenchmarkStandParams{Standing: r.Standing, GroupID: r.GroupID, Number: r.Number}); err != nil {
		return fmt.Errorf("write a standing: %w", err)
	}
	if r.GroupID == 0 {
		return nil
	}
	if err := rank(ctx, tx, r); err != nil {
		return err
	}
	return describe(ctx, tx, r.GroupID)
}

// rankedGroup finds or creates the group of a result whose receipt has long been accepted.
func (l *locked) rankedGroup(ctx context.Context, tx *db.Tx, r query.BenchmarkResult) (int64, error) {
	board, err := tx.BenchmarkGroupGet(ctx, r.BoardID)
	if err != nil {
		return 0, fmt.Errorf("read board: %w", err)
	}
	name := benchmark.NameOf(r.DeviceName, nil)
	name.Name, name.Slug = r.GpuName, r.GpuSlug
	group, err := l.groupFor(ctx, tx, versionsOfGroup(board), name)
	if err != nil {
		return 0, err
	}
	return group, l.advance(ctx, tx)
}

// describe rewrites a group's description of its GPU after an earlier result has joined
// it: the first result names it, and the last one whose memory is known tells that.
func describe(ctx context.Context, tx *db.Tx, groupID int64) error {
	first, err := tx.BenchmarkFirstOf(ctx, groupID)
	if err != nil {
		return fmt.Errorf("find the first result of a group: %w", err)
	}
	known, err := tx.BenchmarkVRAMOf(ctx, groupID)
	if err != nil {
		return fmt.Errorf("find the memory of a group: %w", err)
	}
	var vram query.BenchmarkResult
	if known > 0 {
		if vram, err = tx.BenchmarkResultNumbered(ctx, known); err != nil {
			return fmt.Errorf("read result %d: %w", known, err)
		}
	}
	return tx.BenchmarkGroupDescribe(ctx, query.BenchmarkGroupDescribeParams{
		GpuName: first.GpuName, Folded: foldedName(benchmark.Name{Name: first.GpuName, Slug: first.GpuSlug}), VramGb: vram.VramGb, GroupID: groupID,
	})
}
