package leaderboard_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/receipt/signing"
)

// testBoard is a leaderboard with a fleet that may hand in synthetic receipts.
type testBoard struct {
	*leaderboardtest.Fleet
	t    *testing.T
	keys *signing.Ring
	skew *atomic.Int64 // of the clock; nil where it is the test's
	url  string        // of the database, with skew
}

// eachClock runs a test on each engine, with a board whose clock it moves.
func eachClock(t *testing.T, test func(h *testBoard)) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew atomic.Int64
		h := newBoard(t, dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(skew.Load()) }}))
		h.skew, h.url = &skew, url
		test(h)
	})
}

// pass moves the board's clock.
func (h *testBoard) pass(d time.Duration) { h.skew.Add(int64(d)) }

func newBoard(t *testing.T, d *db.DB) *testBoard {
	t.Helper()
	blobs, err := blob.OpenDisk(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key, err := signingkey.New(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h := &testBoard{t: t, keys: signing.Given(key)}
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		if err := h.keys.Register(t.Context(), tx); err != nil {
			return err
		}
		return receiptlog.Name(t.Context(), tx, "svc.example/log")
	})
	if err != nil {
		t.Fatal(err)
	}
	board := &leaderboard.Board{DB: d, Keys: h.keys, Blobs: blobs, LeaseLife: 20 * time.Second, AllowSynthetic: true}
	if h.Fleet, err = leaderboardtest.NewFleet(t.Context(), board); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *testBoard) submit(r benchmark.Receipt) leaderboard.Submitted {
	h.t.Helper()
	done, err := h.Submit(h.t.Context(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	return done
}

func (h *testBoard) machine() leaderboardtest.Machine {
	h.t.Helper()
	m, err := h.NewMachine(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return m
}

// audit gives the breaches that an audit finds, and how many records it read.
func (h *testBoard) audit() (records int, breaches []string) {
	h.t.Helper()
	err := h.Board.DB.Read(h.t.Context(), func(tx *db.Tx) (err error) {
		records, breaches, err = h.auditIn(tx)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return records, breaches
}

func (h *testBoard) auditIn(tx *db.Tx) (records int, breaches []string, err error) {
	h.t.Helper()
	breach := func(rule, subject, format string, args ...any) {
		breaches = append(breaches, rule+": "+subject+": "+fmt.Sprintf(format, args...))
	}
	keys, err := signing.Audit(h.t.Context(), tx, breach)
	if err != nil {
		return 0, nil, err
	}
	var leaves []receipt.Entry
	if err := receiptlog.Audit(h.t.Context(), tx, breach, func(_ int64, e receipt.Entry) { leaves = append(leaves, e) }); err != nil {
		return 0, nil, err
	}
	records, err = leaderboard.Audit(h.t.Context(), tx, leaderboard.Auditor{
		Keys:   keys,
		Leaf:   func(i int64, e receipt.Entry) bool { return i < int64(len(leaves)) && leaves[i] == e },
		Breach: breach,
	})
	if len(leaves) != records {
		breach("every leaf is a record's", "log", "%d leaves for %d records", len(leaves), records)
	}
	return records, breaches, err
}

func (h *testBoard) clean(records int) {
	h.t.Helper()
	if n, breaches := h.audit(); n != records || len(breaches) > 0 {
		h.t.Errorf("%d records, want %d; breaches: %v", n, records, breaches)
	}
}

func TestOneReceiptCountsOnceHoweverOftenItIsSent(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newBoard(t, d)
		s, err := h.Sign(t.Context(), leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9000, time.Now()))
		if err != nil {
			t.Fatal(err)
		}
		var all [8]leaderboard.Submitted
		var senders sync.WaitGroup
		for i := range all {
			senders.Go(func() {
				var err error
				if all[i], err = h.Board.Submit(context.Background(), s); err != nil {
					t.Error(err)
				}
			})
		}
		senders.Wait()
		for _, one := range all {
			if one != all[0] || one.ReceiptID == "" {
				t.Errorf("%+v and %+v", one, all[0])
			}
		}
		h.clean(1)
	})
}

func TestResultsThatComeAtOnceAreAllCounted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newBoard(t, d)
		var senders sync.WaitGroup
		for i := range int64(12) {
			senders.Go(func() {
				if _, err := h.Submit(context.Background(), leaderboardtest.Run([]string{"NVIDIA GeForce RTX 4090", "AMD Radeon RX 7900 XTX"}[i%2], 24, float64(5000+i%3), time.Now())); err != nil {
					t.Error(err)
				}
			})
		}
		senders.Wait()
		h.clean(12)
	})
}

// TestWhatDoesNotCountIsKeptWithItsReasonAndShownNowhere spoils one thing each.
func TestWhatDoesNotCountIsKeptWithItsReasonAndShownNowhere(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newBoard(t, d)
		now := time.Now()
		for name, c := range map[string]struct {
			want  benchmark.Reason
			spoil func(*benchmark.Receipt, *benchmark.Worker)
		}{
			"other pixels":            {benchmark.WrongPixels, func(r *benchmark.Receipt, _ *benchmark.Worker) { r.Scenes[1].Difference = 0.5 }},
			"pixels the worker fails": {benchmark.WrongPixels, func(r *benchmark.Receipt, _ *benchmark.Worker) { r.Scenes[2].MatchesReference = false }},
			"a rate no device has": {benchmark.TooFast, func(r *benchmark.Receipt, _ *benchmark.Worker) {
				r.Scenes[0].Samples, r.Scenes[0].SamplesPerMinute = 400_000, 400_000
			}},
			"a second on the clock": {benchmark.TooFast, func(r *benchmark.Receipt, _ *benchmark.Worker) {
				r.Scenes[0].RenderSeconds, r.RenderSeconds = 1, 121
				r.Scenes[0].SamplesPerMinute = benchmark.Rate(r.Scenes[0].Samples, 1)
			}},
			"a run of tomorrow": {benchmark.TooFast, func(r *benchmark.Receipt, _ *benchmark.Worker) { r.CompletedAt = time.Now().Add(24 * time.Hour) }},
			"a CPU that says GPU": {benchmark.DeviceMismatch, func(_ *benchmark.Receipt, w *benchmark.Worker) {
				w.Device, w.DeviceName = benchmark.CPU, "AMD Ryzen 9 7950X"
			}},
			"another GPU":        {benchmark.DeviceMismatch, func(_ *benchmark.Receipt, w *benchmark.Worker) { w.DeviceName = "NVIDIA T400" }},
			"a GPU with no name": {benchmark.DeviceMismatch, func(r *benchmark.Receipt, w *benchmark.Worker) { r.GPUName, w.DeviceName = "unknown", "unknown" }},
			"a GPU whose name says that it has none": {benchmark.DeviceMismatch, func(r *benchmark.Receipt, w *benchmark.Worker) {
				r.GPUName, w.DeviceName = "(Unknown) GPU", "(Unknown) GPU"
			}},
			"a synthetic worker that claims to render": {benchmark.DeviceMismatch, func(r *benchmark.Receipt, _ *benchmark.Worker) { r.Synthetic = false }},
			"another scene set":                        {benchmark.VersionMismatch, func(r *benchmark.Receipt, _ *benchmark.Worker) { r.SceneVersion = "scenes-v0" }},
			"another benchmark":                        {benchmark.VersionMismatch, func(r *benchmark.Receipt, _ *benchmark.Worker) { r.BenchmarkVersion = "bench-v9" }},
			"another scoring":                          {benchmark.VersionMismatch, func(r *benchmark.Receipt, _ *benchmark.Worker) { r.ScoringVersion = "score-v2" }},
			"another Blender on a GPU": {benchmark.VersionMismatch, func(r *benchmark.Receipt, w *benchmark.Worker) {
				r.BlenderVersion, w.BlenderVersion = "4.2.0", "4.2.0"
			}},
			"a Blender it did not register with": {benchmark.VersionMismatch, func(_ *benchmark.Receipt, w *benchmark.Worker) { w.BlenderVersion = "4.2.0" }},
			"a scene too few": {benchmark.VersionMismatch, func(r *benchmark.Receipt, _ *benchmark.Worker) {
				r.Scenes, r.RenderSeconds = r.Scenes[:2], 120
			}},
			"another reference": {benchmark.VersionMismatch, func(r *benchmark.Receipt, _ *benchmark.Worker) {
				r.Scenes[0].ReferenceSHA256 = benchmark.Reference("light")
			}},
			"another scene": {benchmark.VersionMismatch, func(r *benchmark.Receipt, _ *benchmark.Worker) { r.Scenes[0].Scene = "teapot" }},
		} {
			now = now.Add(-time.Second) // another run
			r := leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9000, now)
			w := benchmark.Worker{Device: r.RenderDevice, DeviceName: r.GPUName, BlenderVersion: r.BlenderVersion, Synthetic: true}
			c.spoil(&r, &w)
			s, err := h.Sign(t.Context(), r)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			s.Worker = w
			done, err := h.Board.Submit(t.Context(), s)
			if err != nil || done.Reason != c.want || done.ReceiptID != "" || done.Detail == "" {
				t.Errorf("%s: %+v, %v", name, done, err)
			}
			if kept := h.stored(done.ResultID); kept.Status != "rejected" || kept.Reason != string(c.want) || kept.Envelope != "" {
				t.Errorf("%s is kept as %+v", name, kept)
			}
		}
		strict := *h.Board
		strict.AllowSynthetic = false
		s, err := h.Sign(t.Context(), leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9000, time.Now()))
		if err != nil {
			t.Fatal(err)
		}
		if done, err := strict.Submit(t.Context(), s); err != nil || done.Reason != benchmark.SyntheticNotAllowed {
			t.Errorf("synthetic: %+v, %v", done, err)
		}
		h.clean(0)
	})
}

func (h *testBoard) stored(resultID string) (row struct{ Status, Reason, Envelope string }) {
	h.t.Helper()
	err := h.Board.DB.Read(h.t.Context(), func(tx *db.Tx) error {
		kept, err := tx.BenchmarkReceiptGet(h.t.Context(), resultID)
		row.Status, row.Reason, row.Envelope = kept.Status, kept.Reason, kept.Envelope
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return row
}

func TestNodeKeyIsBoundToTheSigningKeyItFirstCameWith(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newBoard(t, d)
		h.Fleet = h.As(h.machine())
		h.submit(leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9000, time.Now()))
		r := leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9001, time.Now())
		s, err := h.Sign(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		other, err := signingkey.New(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		stolen := s
		if stolen.PublicKey, err = other.Public().PEM(); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Board.Submit(t.Context(), stolen); fault.Of(err) != fault.BenchmarkRefused {
			t.Errorf("a key that did not sign: %v", err)
		}
		if stolen.Envelope, err = benchmark.Sign(r, other); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Board.Submit(t.Context(), stolen); fault.Of(err) != fault.NodeKeyBound {
			t.Errorf("another signing key: %v", err)
		}
		h.clean(1)
	})
}

func TestRecordProvesWhatTheServiceTook(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newBoard(t, d)
		r := leaderboardtest.Run("GeForce RTX 4090", 24, 9000, time.Now())
		done := h.submit(r)
		err := d.Read(t.Context(), func(tx *db.Tx) error {
			row, err := tx.BenchmarkReceiptGet(t.Context(), done.ResultID)
			if err != nil {
				return err
			}
			keys, err := signing.PublicKeys(t.Context(), tx)
			if err != nil {
				return err
			}
			record, err := benchmark.OpenRecord([]byte(row.Envelope), []byte(row.WorkerEnvelope), keys)
			if err != nil {
				return err
			}
			if record.GPUSlug != "nvidia-geforce-rtx-4090" || record.Score != 9000 || record.ReceiptID != done.ReceiptID || record.Receipt.SceneVersion != contract.SceneVersion {
				t.Errorf("%+v", record)
			}
			if _, err := benchmark.OpenRecord([]byte(row.WorkerEnvelope), []byte(row.WorkerEnvelope), keys); err == nil {
				t.Error("a worker's receipt passes for the service's record")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestAuditSeesAnyChangedRow damages every table of the leaderboard: what is shown and
// counted is what the signed receipts give.
func TestAuditSeesAnyChangedRow(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew atomic.Int64
		h := newBoard(t, dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(skew.Load()) }}))
		for i, gpu := range []string{"NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 3060", "NVIDIA GeForce RTX 4090", "Tesla T4"} {
			h.submit(leaderboardtest.Run(gpu, int64(8*i), float64(9000+i), time.Now()))
		}
		h.submit(leaderboardtest.CPURun("AMD Ryzen 9 7950X", 300, time.Now()))
		slow := leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9000, time.Now())
		slow.Scenes[0].Difference, slow.Scenes[0].MatchesReference = 1, false
		if done := h.submit(slow); done.Reason == "" {
			t.Fatal("a wrong picture was accepted")
		}
		answered, err := h.Challenged(t.Context(), h.machine(), leaderboardtest.Run("NVIDIA T4", 16, 700, time.Now().Add(-time.Hour)), leaderboardtest.Picture(1))
		if err != nil {
			t.Fatal(err)
		}
		skew.Store(int64(5 * time.Minute))
		if done, err := h.Board.Submit(t.Context(), answered); err != nil || done.Standing != benchmark.Waiting {
			t.Fatalf("%+v, %v", done, err)
		}
		h.clean(6)
		audit := func(tx *db.Tx) (breaches int, err error) {
			_, found, err := h.auditIn(tx)
			return len(found), err
		}
		unseen := dbtest.Unseen(t, url, audit, "benchmark_challenge", "benchmark_counter", "benchmark_facet", "benchmark_group", "benchmark_posting",
			"benchmark_receipt", "benchmark_result", "benchmark_tally", "node_signing_key")
		if len(unseen) > 0 {
			t.Errorf("the audit does not see damage of %v", unseen)
		}
	})
}

// TestAuditFindsWhatWasTamperedWith changes one stored thing each.
func TestAuditFindsWhatWasTamperedWith(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newBoard(t, d)
		done := h.submit(leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9000, time.Now()))
		h.submit(leaderboardtest.CPURun("AMD Ryzen 9 7950X", 300, time.Now()))
		h.clean(2)
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			row, err := tx.BenchmarkResultGet(t.Context(), done.ResultID)
			if err != nil {
				return err
			}
			return leaderboard.CountAgain(t.Context(), tx, row.GroupID)
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, breaches := h.audit(); len(breaches) == 0 {
			t.Error("a count too many is not found")
		}
	})
}
