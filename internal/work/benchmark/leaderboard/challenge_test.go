package leaderboard_test

import (
	"math"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/framecheck"
)

// run is a GPU's receipt that ends now, by the clock of the board.
func (h *testBoard) run(gpu string, score float64) benchmark.Receipt {
	return leaderboardtest.Run(gpu, 24, score, time.Now().Add(time.Duration(h.skew.Load())))
}

// challenged draws a challenge for a machine and makes the answer of a run of five minutes.
func (h *testBoard) challenged(m leaderboardtest.Machine, r benchmark.Receipt, picture []byte) leaderboard.Submission {
	h.t.Helper()
	s, err := h.Challenged(h.t.Context(), m, r, picture)
	if err != nil {
		h.t.Fatal(err)
	}
	h.pass(5 * time.Minute)
	return s
}

func (h *testBoard) send(s leaderboard.Submission) leaderboard.Submitted {
	h.t.Helper()
	done, err := h.Board.Submit(h.t.Context(), s)
	if err != nil {
		h.t.Fatal(err)
	}
	return done
}

// reference lets a worker of a machine, with the GPU of every card, render what waits.
func (h *testBoard) reference(m leaderboardtest.Machine, picture []byte) (claimed bool) {
	h.t.Helper()
	worker, err := h.Register(h.t.Context(), m, benchmark.GPU, "NVIDIA T4")
	if err != nil {
		h.t.Fatal(err)
	}
	work, ok, err := h.Board.ClaimReference(h.t.Context(), worker)
	if err != nil {
		h.t.Fatal(err)
	}
	if !ok {
		return false
	}
	if err := h.Board.Confirm(h.t.Context(), work.Lease.Ref(), picture); err != nil {
		h.t.Fatal(err)
	}
	return true
}

func (h *testBoard) result(resultID string) leaderboard.Result {
	h.t.Helper()
	r, err := h.Board.Result(h.t.Context(), resultID)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// standing holds what a result is, and whether it is ranked.
func (h *testBoard) standing(resultID string, want benchmark.Standing) {
	h.t.Helper()
	r := h.result(resultID)
	if ranked := r.Global.Rank != nil; r.Verification != want || ranked != want.Ranks() || ranked != (r.GPUPageURL != nil) {
		h.t.Errorf("the result is %s, ranked: %v, page of its GPU: %v; want %s", r.Verification, ranked, r.GPUPageURL != nil, want)
	}
}

func TestAResultWithoutAChallengeIsShownAndNotRanked(t *testing.T) {
	eachClock(t, func(h *testBoard) {
		r := h.run("NVIDIA T4", 900)
		s, err := h.Sign(h.t.Context(), r)
		if err != nil {
			h.t.Fatal(err)
		}
		r.Synthetic, s.Worker.Synthetic = false, false
		m := h.machine()
		s.NodeKeyID = m.Node
		if err := h.Seal(&s, r, m); err != nil {
			h.t.Fatal(err)
		}
		done := h.send(s)
		h.standing(done.ResultID, benchmark.Unverified)
		stats, err := h.Board.Stats(h.t.Context())
		if err != nil || stats.TotalSubmissions != 0 || stats.GPUCount != 0 {
			h.t.Errorf("%+v, %v", stats, err)
		}
		latest, err := h.Board.Latest(h.t.Context(), 5)
		if err != nil || len(latest) != 1 || latest[0].Verification != benchmark.Unverified || latest[0].RenderDevice != benchmark.GPU {
			h.t.Errorf("%+v, %v", latest, err)
		}
		h.clean(1)
	})
}

// TestAChallengeIsAnsweredByItsOwnRunAlone spoils one thing each of an answer that counts.
func TestAChallengeIsAnsweredByItsOwnRunAlone(t *testing.T) {
	eachClock(t, func(h *testBoard) {
		picture, other := leaderboardtest.Picture(1), leaderboardtest.Picture(2)
		for name, c := range map[string]struct {
			want  benchmark.Reason
			spoil func(s *leaderboard.Submission, r *benchmark.Receipt)
		}{
			"no picture":      {benchmark.WrongPixels, func(s *leaderboard.Submission, _ *benchmark.Receipt) { s.Frame = nil }},
			"another picture": {benchmark.WrongPixels, func(s *leaderboard.Submission, _ *benchmark.Receipt) { s.Frame = other }},
			"no picture at all": {benchmark.WrongPixels, func(s *leaderboard.Submission, r *benchmark.Receipt) {
				s.Frame = []byte("a text")
				r.Challenge = leaderboardtest.Answer(r.Challenge.Challenge, s.Frame)
			}},
			"other pixels": {benchmark.WrongPixels, func(_ *leaderboard.Submission, r *benchmark.Receipt) {
				r.Challenge.PixelSHA256 = r.Challenge.FrameSHA256
			}},
			"another seed":          {benchmark.ChallengeMismatch, func(_ *leaderboard.Submission, r *benchmark.Receipt) { r.Challenge.Seed++ }},
			"another place":         {benchmark.ChallengeMismatch, func(_ *leaderboard.Submission, r *benchmark.Receipt) { r.Challenge.CameraShift[0] += 0.001 }},
			"fewer samples":         {benchmark.ChallengeMismatch, func(_ *leaderboard.Submission, r *benchmark.Receipt) { r.Challenge.Samples-- }},
			"an invented challenge": {benchmark.ChallengeMismatch, func(_ *leaderboard.Submission, r *benchmark.Receipt) { r.Challenge.ChallengeID = "BMC-none" }},
			"another worker": {benchmark.ChallengeMismatch, func(s *leaderboard.Submission, r *benchmark.Receipt) {
				var err error
				if s.WorkerID, err = h.Register(h.t.Context(), leaderboardtest.Machine{Node: s.NodeKeyID}, r.RenderDevice, r.GPUName); err != nil {
					h.t.Fatal(err)
				}
			}},
			"too late": {benchmark.ChallengeMismatch, func(*leaderboard.Submission, *benchmark.Receipt) { h.pass(benchmark.ChallengeLife) }},
			"longer than the time between": {benchmark.TooFast, func(_ *leaderboard.Submission, r *benchmark.Receipt) {
				r.Scenes[0].RenderSeconds, r.Scenes[0].Samples = 600, 10*r.Scenes[0].Samples
				r.RenderSeconds, r.StartedAt = 720, r.CompletedAt.Add(-time.Hour) // by the worker's clock
			}},
		} {
			m := h.machine()
			r := h.run("NVIDIA T4", 900)
			s, err := h.Challenged(h.t.Context(), m, r, picture)
			if err != nil {
				h.t.Fatal(err)
			}
			h.pass(5 * time.Minute)
			signed, err := benchmark.Open(s.Envelope, m.Key.Public())
			if err != nil {
				h.t.Fatal(err)
			}
			c.spoil(&s, &signed)
			if err := h.Seal(&s, signed, m); err != nil {
				h.t.Fatalf("%s: %v", name, err)
			}
			if done := h.send(s); done.Reason != c.want || done.Detail == "" {
				h.t.Errorf("%s: %+v, want %s", name, done, c.want)
			}
		}
		m := h.machine()
		s := h.challenged(m, h.run("NVIDIA T4", 900), picture)
		if done := h.send(s); done.Standing != benchmark.Waiting {
			h.t.Errorf("an honest answer: %+v", done)
		}
		// The same challenge once more, for a better run.
		better, err := benchmark.Open(s.Envelope, m.Key.Public())
		if err != nil {
			h.t.Fatal(err)
		}
		better.GPUDriver = "551"
		if err := h.Seal(&s, better, m); err != nil {
			h.t.Fatal(err)
		}
		if done := h.send(s); done.Reason != benchmark.ChallengeMismatch {
			h.t.Errorf("a second answer: %+v", done)
		}
		h.clean(1)
	})
}

func TestRunsOfAKeyNeitherOverlapNorComeTooOften(t *testing.T) {
	eachClock(t, func(h *testBoard) {
		m, picture := h.machine(), leaderboardtest.Picture(1)
		first := h.challenged(m, h.run("NVIDIA T4", 900), picture)
		second := h.challenged(m, h.run("NVIDIA T4", 901), picture)
		if done := h.send(first); done.Reason != benchmark.ChallengeMismatch {
			h.t.Errorf("a run whose key has begun another one: %+v", done)
		}
		if done := h.send(second); done.Reason != "" {
			h.t.Errorf("the run after it: %+v", done)
		}
		for range benchmark.ChallengesHour - 2 {
			h.challenged(m, h.run("NVIDIA T4", 900), picture)
		}
		_, err := h.Challenged(h.t.Context(), m, h.run("NVIDIA T4", 900), picture)
		if !fault.Is(err, fault.RateLimited) {
			h.t.Errorf("one too many within an hour: %v", err)
		}
		h.pass(time.Hour - 25*time.Minute)
		h.challenged(m, h.run("NVIDIA T4", 900), picture)
		if _, err := h.Board.Draw(h.t.Context(), m.Node, "NOD-x", "teapot"); !fault.Is(err, fault.InvalidRequest) {
			h.t.Errorf("an unknown scene: %v", err)
		}
		h.pass(31 * 24 * time.Hour)
		if n, err := leaderboard.ForgetChallenges(h.t.Context(), h.Board.DB, 30*24*time.Hour); err != nil || n == 0 {
			h.t.Errorf("%d challenges are forgotten: %v", n, err)
		}
		h.clean(1)
	})
}

// TestAResultAmongTheBestWaitsForAReferenceOfAnotherKey confirms one and refutes another.
func TestAResultAmongTheBestWaitsForAReferenceOfAnotherKey(t *testing.T) {
	eachClock(t, func(h *testBoard) {
		m, picture, other := h.machine(), leaderboardtest.Picture(1), leaderboardtest.Picture(2)
		honest := h.send(h.challenged(m, h.run("NVIDIA T4", 900), picture))
		h.standing(honest.ResultID, benchmark.Waiting)
		if h.reference(m, picture) {
			h.t.Error("a key renders its own reference")
		}
		if !h.reference(h.machine(), picture) {
			h.t.Fatal("no reference waits for another key")
		}
		h.standing(honest.ResultID, benchmark.Verified)
		h.clean(1)

		// If two differ, it is unknown which one is wrong: a third key decides.
		lied := h.machine()
		doubted := h.send(h.challenged(h.machine(), h.run("NVIDIA T4", 950), picture))
		if !h.reference(lied, other) || h.reference(lied, other) {
			h.t.Error("one key decides twice, or not once")
		}
		h.standing(doubted.ResultID, benchmark.Waiting)
		h.reference(h.machine(), picture)
		h.standing(doubted.ResultID, benchmark.Verified)

		forged := h.send(h.challenged(h.machine(), h.run("NVIDIA T4", 1000), picture))
		h.reference(h.machine(), other)
		h.reference(h.machine(), leaderboardtest.Picture(3))
		h.standing(forged.ResultID, benchmark.Refuted)
		latest, err := h.Board.Latest(h.t.Context(), 5)
		if err != nil || len(latest) != 2 {
			h.t.Errorf("a refuted result is among the newest: %+v, %v", latest, err)
		}
		h.clean(3)
		// What is shown does not depend on when it was confirmed.
		h.countsTheSameAgain()
	})
}

// countsTheSameAgain compares what is shown with the recounted board.
func (h *testBoard) countsTheSameAgain() {
	h.t.Helper()
	before, err := h.Board.Stats(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	// As an upgrade of the store leaves the board.
	if _, err := dbtest.Raw(h.t, h.url).ExecContext(h.t.Context(), "UPDATE benchmark_counter SET stale = 1 WHERE counter_id = 1"); err != nil {
		h.t.Fatal(err)
	}
	if done, err := leaderboard.CountAnew(h.t.Context(), h.Board.DB); !done || err != nil {
		h.t.Fatalf("recounted: %v, %v", done, err)
	}
	if done, err := leaderboard.CountAnew(h.t.Context(), h.Board.DB); done || err != nil {
		h.t.Fatalf("recounted twice: %v", err)
	}
	after, err := h.Board.Stats(h.t.Context())
	if err != nil || *after.MedianScore != *before.MedianScore || after.TotalSubmissions != before.TotalSubmissions || *after.TopScore != *before.TopScore {
		h.t.Errorf("recounted: %+v, before %+v: %v", after, before, err)
	}
	records, breaches := h.audit()
	if len(breaches) > 0 {
		h.t.Errorf("%d records recounted: %v", records, breaches)
	}
}

func TestAReferenceThatEndsEarlyIsAskedForAgain(t *testing.T) {
	eachClock(t, func(h *testBoard) {
		picture := leaderboardtest.Picture(1)
		result := h.send(h.challenged(h.machine(), h.run("NVIDIA T4", 900), picture))
		worker, err := h.Register(h.t.Context(), h.machine(), benchmark.GPU, "NVIDIA T4")
		if err != nil {
			h.t.Fatal(err)
		}
		claim := func() leaderboard.ReferenceWork {
			h.t.Helper()
			work, ok, err := h.Board.ClaimReference(h.t.Context(), worker)
			if err != nil || !ok {
				h.t.Fatalf("nothing to claim: %v", err)
			}
			return work
		}
		first := claim().Lease.Ref()
		if err := h.Board.ReleaseReferences(h.t.Context(), refs(first)); err != nil {
			h.t.Fatal(err)
		}
		second := claim().Lease.Ref()
		if lost, err := h.Board.BeatReferences(h.t.Context(), refs(first, second), []float64{0.5, 0.5}); err != nil || len(lost) != 1 || lost[0] != first.ID {
			h.t.Errorf("lost: %v, %v", lost, err)
		}
		if err := h.Board.FailReference(h.t.Context(), second, framecheck.Failure{Code: fault.BlenderCrashed}); err != nil {
			h.t.Fatal(err)
		}
		h.pass(time.Hour)
		third := claim().Lease.Ref()
		if err := h.Board.AdmitReference(h.t.Context(), second); !fault.Is(err, fault.LeaseLost) {
			t.Errorf("bytes of a second worker: %v", err)
		}
		if err := h.Board.AdmitReference(h.t.Context(), third); err != nil {
			t.Errorf("bytes of the third worker: %v", err)
		}
		if err := h.Board.Confirm(h.t.Context(), second, picture); !fault.Is(err, fault.LeaseLost) {
			h.t.Errorf("a report of an earlier attempt: %v", err)
		}
		if err := h.Board.Confirm(h.t.Context(), third, []byte("a text")); !fault.Is(err, fault.FrameRejected) {
			h.t.Errorf("no picture: %v", err)
		}
		h.standing(result.ResultID, benchmark.Waiting)
		h.pass(time.Hour)
		if err := h.Board.Confirm(h.t.Context(), claim().Lease.Ref(), picture); err != nil {
			h.t.Fatal(err)
		}
		h.standing(result.ResultID, benchmark.Verified)
		h.clean(1)
	})
}

// TestOnlyAWorkerOfTheSameKindMakesAReference: a CPU's worker takes none of a GPU, nor does
// another Blender.
func TestOnlyAWorkerOfTheSameKindMakesAReference(t *testing.T) {
	eachClock(t, func(h *testBoard) {
		h.send(h.challenged(h.machine(), h.run("NVIDIA T4", 900), leaderboardtest.Picture(1)))
		worker, err := h.Register(h.t.Context(), h.machine(), benchmark.CPU, "a CPU")
		if err != nil {
			h.t.Fatal(err)
		}
		if _, ok, err := h.Board.ClaimReference(h.t.Context(), worker); ok || err != nil {
			h.t.Errorf("a CPU renders a GPU's reference: %v", err)
		}
	})
}

func TestAResultFarAboveItsGPUIsNotRanked(t *testing.T) {
	eachClock(t, func(h *testBoard) {
		for i := range 12 { // faster ones of another GPU, so that a T4 is not among the best
			h.submit(h.run("NVIDIA GeForce RTX 4090", float64(9000+i)))
		}
		for i := range benchmark.OutlierVoices {
			h.submit(h.run("NVIDIA T4", float64(900+i)))
		}
		picture := leaderboardtest.Picture(1)
		h.standing(h.send(h.challenged(h.machine(), h.run("NVIDIA T4", 1804), picture)).ResultID, benchmark.Verified)
		far := h.send(h.challenged(h.machine(), h.run("NVIDIA T4", 1900), picture))
		h.standing(far.ResultID, benchmark.Outlier)
		gpu, err := h.Board.GPU(h.t.Context(), "nvidia-t4")
		if err != nil || *gpu.TopScore != 1804 || len(gpu.UnverifiedResults) != 1 || gpu.UnverifiedResults[0].ResultID != far.ResultID {
			h.t.Errorf("%+v, %v", gpu, err)
		}
		h.clean(14 + benchmark.OutlierVoices)
	})
}

// TestEachAnswerIsSampledByItsShare asks for a reference of all, and of none.
func TestEachAnswerIsSampledByItsShare(t *testing.T) {
	eachClock(t, func(h *testBoard) {
		r := leaderboardtest.CPURun("a CPU", 30, time.Now())
		none := h.send(h.challenged(h.machine(), r, leaderboardtest.Picture(1)))
		h.Board.References = 100
		all := h.send(h.challenged(h.machine(), r, leaderboardtest.Picture(1)))
		if none.Standing != benchmark.Verified || all.Standing != benchmark.Waiting {
			h.t.Errorf("0 of 100: %s, 100 of 100: %s", none.Standing, all.Standing)
		}
		if r := h.result(none.ResultID); r.Global.Rank != nil || r.RenderDevice != benchmark.CPU {
			h.t.Errorf("a CPU is ranked: %+v", r.Global)
		}
		h.clean(2)
	})
}

// TestChallengesCannotBeKnownBefore draws some: they differ, and stay in their bounds.
func TestChallengesCannotBeKnownBefore(t *testing.T) {
	eachClock(t, func(h *testBoard) {
		seen, scenes := map[int]bool{}, map[string]bool{}
		for range 40 {
			drawn, err := h.Board.Draw(h.t.Context(), h.machine().Node, "NOD-x", "")
			if err != nil {
				h.t.Fatal(err)
			}
			seen[drawn.Seed], scenes[drawn.Scene] = true, true
			for _, shift := range drawn.CameraShift {
				if math.Abs(shift) > benchmark.MostShift/1000.0 {
					h.t.Errorf("a shift of %v", shift)
				}
			}
			if drawn.Frame != drawn.Samples || drawn.Until.Sub(drawn.At) != benchmark.ChallengeLife {
				h.t.Errorf("%+v", drawn)
			}
		}
		if len(seen) != 40 || len(scenes) != len(benchmark.SceneNames()) {
			h.t.Errorf("%d seeds, %d scenes", len(seen), len(scenes))
		}
	})
}

// TestAnAnswerDoesNotExcuseAnotherBlender: no other rule changes, and its picture is not kept.
func TestAnAnswerDoesNotExcuseAnotherBlender(t *testing.T) {
	eachClock(t, func(h *testBoard) {
		r := h.run("NVIDIA T4", 900)
		r.BlenderVersion = "9.9.9"
		s := h.challenged(h.machine(), r, leaderboardtest.Picture(1))
		if done := h.send(s); done.Reason != benchmark.VersionMismatch {
			h.t.Errorf("Blender %s, not %s: %+v", r.BlenderVersion, contract.BlenderVersion, done)
		}
		var kept int
		err := h.Board.DB.Read(h.t.Context(), func(tx *db.Tx) error {
			blobs, err := tx.ChallengeBlobs(h.t.Context())
			kept = len(blobs)
			return err
		})
		if err != nil || kept != 0 {
			h.t.Errorf("%d pictures are kept: %v", kept, err)
		}
		h.clean(0)
	})
}
