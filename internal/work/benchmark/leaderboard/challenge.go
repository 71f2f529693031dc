package leaderboard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/benchmark"
)

// Draw draws a challenge for a worker (decisions 21), of a scene or with "" of any. One is
// open a node key: another one ends it, so runs of one key cannot overlap. Errors:
// invalid_request for an unknown scene, rate_limited.
func (b *Board) Draw(ctx context.Context, nodeKeyID, workerID, scene string) (drawn benchmark.Drawn, err error) {
	row, err := random(scene)
	if err != nil {
		return drawn, err
	}
	err = b.DB.Write(ctx, func(tx *db.Tx) error {
		if err := challengeLimit(ctx, tx, nodeKeyID); err != nil {
			return err
		}
		open, err := tx.ChallengesOpen(ctx, query.ChallengesOpenParams{NodeKeyID: nodeKeyID, Since: tx.Now - benchmark.ChallengeLife.Microseconds()})
		if err != nil {
			return fmt.Errorf("find open challenges: %w", err)
		}
		for _, o := range open {
			ended, err := tx.ChallengeEnd(ctx, query.ChallengeEndParams{Now: tx.Now, ChallengeID: o.ChallengeID})
			if _, err := challengeRows.Changed(ctx, tx, ended, err); err != nil {
				return err
			}
		}
		row.ChallengeID, row.NodeKeyID, row.WorkerID = id.New(id.Challenge), nodeKeyID, workerID
		row.CreatedAt, row.ExpiresAt = tx.Now, tx.Now+benchmark.ChallengeLife.Microseconds()
		row.RowSum = challengeRows.Of(row)
		drawn = drawnOf(row)
		return tx.ChallengeAdd(ctx, query.ChallengeAddParams{
			ChallengeID: row.ChallengeID, NodeKeyID: row.NodeKeyID, WorkerID: row.WorkerID, Scene: row.Scene, Seed: row.Seed, ShiftX: row.ShiftX, ShiftY: row.ShiftY,
			Samples: row.Samples, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt, RowSum: row.RowSum,
		})
	})
	return drawn, err
}

// challengeLimit bounds the runs of a node key. A transaction of the same key at the same
// time may pass too; ChallengesOpen leaves only the last one open.
func challengeLimit(ctx context.Context, tx *db.Tx, nodeKeyID string) error {
	since, err := tx.ChallengesSince(ctx, query.ChallengesSinceParams{NodeKeyID: nodeKeyID, Since: tx.Now - time.Hour.Microseconds()})
	if err != nil {
		return fmt.Errorf("count challenges: %w", err)
	}
	if since.Drawn < benchmark.ChallengesHour {
		return nil
	}
	wait := time.Hour - tx.Time().Sub(db.Time(since.FirstAt))
	return fault.New(fault.RateLimited, "A node key can start %d benchmark runs per hour.", benchmark.ChallengesHour).After(max(wait, time.Second))
}

// random draws what a worker cannot know before.
func random(scene string) (row query.BenchmarkChallenge, err error) {
	names := benchmark.SceneNames()
	pick := func(n int64) (drawn int64) {
		if err != nil {
			return 0
		}
		var of *big.Int
		if of, err = rand.Int(rand.Reader, big.NewInt(n)); err == nil {
			drawn = of.Int64()
		}
		return drawn
	}
	if scene == "" {
		scene = names[pick(int64(len(names)))]
	}
	if benchmark.Reference(scene) == "" {
		return row, fault.Field("body.scene", "must be a scene of the benchmark, or empty")
	}
	row = query.BenchmarkChallenge{
		Scene: scene, Seed: 1 + pick(math.MaxInt32), Samples: benchmark.ChallengeSamples,
		ShiftX: pick(2*benchmark.MostShift+1) - benchmark.MostShift, ShiftY: pick(2*benchmark.MostShift+1) - benchmark.MostShift,
	}
	return row, err
}

// drawnOf is a challenge as it is judged. In scenes-v1 the number of a frame is its number
// of samples.
func drawnOf(row query.BenchmarkChallenge) benchmark.Drawn {
	return benchmark.Drawn{
		Challenge: benchmark.Challenge{
			ChallengeID: row.ChallengeID, Scene: row.Scene, Seed: int(row.Seed), Frame: int(row.Samples), Samples: int(row.Samples),
			CameraShift: [2]float64{thousandths(row.ShiftX), thousandths(row.ShiftY)},
		},
		NodeKeyID: row.NodeKeyID, WorkerID: row.WorkerID, At: db.Time(row.CreatedAt), Until: db.Time(row.ExpiresAt), Ended: row.EndedAt != 0,
	}
}

// pictureOf is the picture of an answer, in the store.
type pictureOf struct {
	key    string // "" when it is not kept
	bytes  int64
	unread error // what is wrong with it
}

// keepFrame stores the picture of a receipt's challenge, if it is the one of the receipt.
func (b *Board) keepFrame(ctx context.Context, r benchmark.Receipt, file []byte) (p pictureOf, err error) {
	if r.Challenge == nil {
		return p, nil
	}
	if _, p.unread = benchmark.ReadFrame(file, *r.Challenge); p.unread != nil {
		return p, nil
	}
	p.key, p.bytes = "benchmarks/"+id.New("")+".png", int64(len(file))
	w, err := b.Blobs.Create(ctx, p.key)
	if err != nil {
		return p, fmt.Errorf("keep the picture of a challenge: %w", err)
	}
	defer w.Abort()
	if _, err = w.Write(file); err == nil {
		err = w.Commit()
	}
	if err != nil {
		err = fmt.Errorf("keep the picture of a challenge: %w", err)
	}
	return p, err
}

// judgeAnswer judges the answer of a receipt to its challenge, where it names one.
func judgeAnswer(ctx context.Context, tx *db.Tx, r benchmark.Receipt, s Submission, unread error) (benchmark.Reason, string, error) {
	if r.Challenge == nil {
		return "", "", nil
	}
	row, err := tx.ChallengeGet(ctx, r.Challenge.ChallengeID)
	if err != nil && !db.IsNotFound(err) {
		return "", "", fmt.Errorf("read a challenge: %w", err)
	}
	reason, why := benchmark.JudgeAnswer(r, drawnOf(row), s.NodeKeyID, s.WorkerID, unread, tx.Time())
	return reason, why, nil
}

// answer ends the challenge of a judged receipt, whether that counts or not: a challenge is
// answered once. Where the result waits for a reference render, that is asked for.
func (b *Board) answer(ctx context.Context, tx *db.Tx, r benchmark.Receipt, s Submission, done Submitted, p pictureOf) error {
	if r.Challenge == nil {
		return nil
	}
	row, err := tx.ChallengeGet(ctx, r.Challenge.ChallengeID)
	if db.IsNotFound(err) || (err == nil && row.NodeKeyID != s.NodeKeyID) {
		return nil // another key's stays open
	}
	if err != nil {
		return fmt.Errorf("read a challenge: %w", err)
	}
	answer := query.ChallengeAnswerParams{
		Now: tx.Now, ResultID: done.ResultID, FrameKey: p.key, FrameBytes: p.bytes, Device: s.Worker.Device, BlenderVersion: s.Worker.BlenderVersion, ChallengeID: row.ChallengeID,
	}
	if p.key != "" {
		answer.FrameSha256 = r.Challenge.FrameSHA256
	}
	if done.Standing == benchmark.Waiting {
		answer.Reference = referenceWaiting
		if err := lease.Add(ctx, tx, ReferenceQueue, row.ChallengeID, row.Samples, tx.Time()); err != nil {
			return err
		}
	}
	answered, err := tx.ChallengeAnswer(ctx, answer)
	_, err = challengeRows.Changed(ctx, tx, answered, err)
	return err
}

// sampled draws whether a reference render is requested. The outcome cannot be
// known before.
func (b *Board) sampled() (bool, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(100))
	if err != nil {
		return false, errors.Join(errors.New("draw a sample"), err)
	}
	return n.Int64() < int64(b.References), nil
}
