package proof_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/wallet"
)

// awaitCompared waits until so many reused frames of the only class were compared.
func awaitCompared(svc *story.Service, frames int64) (s reuse.ComparedClass) {
	svc.T.Helper()
	await.Until(svc.T, "the comparison of reused frames", func() bool {
		svc.Read(func(ctx context.Context, tx *db.Tx) error {
			all, err := reuse.Standings(ctx, tx)
			if err == nil && len(all) > 0 {
				s = all[0]
			}
			return err
		})
		return s.Agreed+s.Differed >= frames
	})
	return s
}

// Reused frames are rendered again at the service's cost, after their job. While they show the
// same, frames are reused; a worker that paints something else ends that for its class, also for
// quotes that were made before, until an operator resets it.
func TestADifferenceSwitchesReuseOff(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic, config.VerifyReuse = true, new(100)
		var log story.Logged
		config.Log = slog.New(slog.NewTextHandler(apptest.LogWriter(t, &log), nil))
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		stop := svc.Worker(synthetic.Renderer{})
		old := renderQuote(c, quoteRevision(c, "scene", "95-97", small))
		next := renderQuote(c, quoteRevision(c, "interface", "95-97", small))
		wantOrigins(c, old, next, 95, 96, 97)
		if s := awaitCompared(svc, 3); s.Agreed != 3 || s.OffAt != nil {
			t.Errorf("a sound worker's frames stand as %+v", s)
		}
		stop()

		// The job is complete without a worker; then one comes that paints something else.
		before := quoteRevision(c, "interface", "95-97", small)
		last := renderQuote(c, quoteRevision(c, "interface", "95-96", small))
		svc.Worker(synthetic.Renderer{Faults: map[synthetic.Fault]float64{synthetic.Wrong: 1}})
		s := awaitCompared(svc, 5)
		if s.Agreed != 3 || s.Differed != 2 || s.OffAt == nil {
			t.Fatalf("a wrong worker's frames stand as %+v", s)
		}
		await.Until(t, "what the operator is told", func() bool { return log.Has("level=WARN", "shows something else", s.ClassID) })
		_, err := c.Take(before)
		story.WantRefusal(t, err, 409, "quote_expired")
		off := quoteRevision(c, "interface", "95-97", small)
		wantReuse(t, off, 0, "", "95-97", 3)
		wantChanges(t, off, last, "frame 97: not in the earlier job",
			"frames 95-96: the same picture, but from a kind of worker that is not here or not trusted now")

		svc.Write(func(ctx context.Context, tx *db.Tx) error {
			act, err := operator.ResetReuse(ctx, tx, s.ClassID)
			if err != nil {
				return err
			}
			return act.Perform(ctx, tx, operator.Account("somebody"))
		})
		wantReuse(t, quoteRevision(c, "interface", "95-97", small), 3, "95-97", "", 0)
		svc.WantMoney(c.Workspace, story.Credit-3, wallet.Credited, wallet.Reserved, wallet.Captured)
	})
}

// A renderer that does not repeat itself is no mistake of the reuse: a third rendering tells.
func TestAThirdRenderingTellsARendererThatDoesNotRepeatItself(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic, config.VerifyReuse = true, new(100)
		var log story.Logged
		config.Log = slog.New(slog.NewTextHandler(apptest.LogWriter(t, &log), nil))
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		stop := svc.Worker(synthetic.Renderer{})
		old := renderQuote(c, quoteRevision(c, "scene", "95-97", small))
		stop()
		next := renderQuote(c, quoteRevision(c, "interface", "95-97", small))
		wantOrigins(c, old, next, 95, 96, 97)

		var painted atomic.Int64 // only the first picture is wrong
		first := func() float64 { return float64(min(1, painted.Add(1)-1)) }
		svc.Worker(synthetic.Renderer{Faults: map[synthetic.Fault]float64{synthetic.Wrong: 0.5}, Random: first})
		if s := awaitCompared(svc, 3); s.Agreed != 3 || s.Differed != 0 || s.OffAt != nil {
			t.Errorf("the frames stand as %+v", s)
		}
		for _, said := range []string{"a third rendering decides", "does not repeat itself"} {
			await.Until(t, said, func() bool { return log.Has("level=INFO", said) })
		}
		wantReuse(t, quoteRevision(c, "interface", "95-97", small), 3, "95-97", "", 0)
	})
}

// An erased workspace leaves neither keys of its frames nor any frame to render again, also while a
// quote would take frames over from it.
func TestAnErasedOriginIsNeitherReusedNorRenderedAgain(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic, config.VerifyReuse = true, new(100)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		stop := svc.Worker(synthetic.Renderer{})
		renderQuote(c, quoteRevision(c, "scene", "95-97", small))
		stop()
		renderQuote(c, quoteRevision(c, "interface", "95-97", small))
		open := quoteRevision(c, "interface", "95-97", small)
		wantReuse(t, open, 3, "95-97", "", 0)
		wantLeft(svc, c.Workspace, 2, 3)
		if err := eraseWorkspace(svc, c.Workspace); err != nil {
			t.Fatal(err)
		}
		wantLeft(svc, c.Workspace, 0, 0)
		_, err := c.Take(open)
		story.WantRefusal(t, err, 401, "unauthenticated")
		svc.Worker(synthetic.Renderer{})
		other := svc.Caller(story.Credit)
		wantReuse(t, quoteRevision(other, "scene", "95-97", small), 0, "", "95-97", 3)
	})
}

// wantLeft counts the jobs of a workspace whose frames can be reused, and its frames to render again.
func wantLeft(svc *story.Service, workspace string, jobs, again int64) {
	svc.T.Helper()
	svc.Read(func(ctx context.Context, tx *db.Tx) error {
		kept, err := tx.ContentKeysKept(ctx, query.ContentKeysKeptParams{WorkspaceID: workspace, Max: 10})
		if err != nil {
			return err
		}
		waiting, err := tx.RechecksOf(ctx, workspace)
		if int64(len(kept)) != jobs || waiting != again {
			svc.T.Errorf("frames of %d jobs are kept for reuse, and %d wait for a second rendering; want %d and %d", len(kept), waiting, jobs, again)
		}
		return err
	})
}
