package proof_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/story"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/wallet"
)

// small is the size in which the test's pictures are painted.
var small = client.Settings{ResolutionX: 32, ResolutionY: 18}

// quoteRevision inspects a revision and asks to reuse what is the same.
func quoteRevision(c story.Caller, name, frames string, chosen client.Settings) *client.Quote {
	c.T.Helper()
	return quoteNamed(c, name, name+".blend", frames, chosen)
}

// quoteNamed is quoteRevision of a file with another name.
func quoteNamed(c story.Caller, name, filename, frames string, chosen client.Settings) *client.Quote {
	c.T.Helper()
	q, err := c.Inspect(story.Patient(c.T), client.InspectRequest{Filename: filename, Body: bytes.NewReader(story.Revision(c.T, name)), Frames: frames, Settings: chosen, Reuse: true})
	if err != nil {
		c.T.Fatal(err)
	}
	return q
}

// wantReuse compares a quote with what it should take over.
func wantReuse(t *testing.T, q *client.Quote, count int, reused, rendered string, cents int64) {
	t.Helper()
	if q.ReusedFrameCount == nil || *q.ReusedFrameCount != count || q.ReusedFrames != reused || q.FramesToRender != rendered || q.PriceCents != cents {
		t.Errorf("the quote takes over %v frames, %q, renders %q and costs %d cents; want %d, %q, %q and %d",
			q.ReusedFrameCount, q.ReusedFrames, q.FramesToRender, q.PriceCents, count, reused, rendered, cents)
	}
}

// renderQuote starts a quote and waits for its job.
func renderQuote(c story.Caller, q *client.Quote) *client.Job {
	c.T.Helper()
	started, err := c.Take(q)
	if err != nil {
		c.T.Fatal(err)
	}
	return c.Await(started.JobID, client.StatusCompleted)
}

// framesIn are the frames of a job's receipt.
func framesIn(c story.Caller, jobID string) (r receipt.Receipt) {
	c.T.Helper()
	answer, err := c.Receipt(story.Patient(c.T), jobID)
	if err == nil {
		err = json.Unmarshal(answer.Members, &r)
	}
	if err != nil {
		c.T.Fatal(err)
	}
	return r
}

// A revision pays for the frames that changed. The others come from the job before, and its
// receipt says so; the audit at the end of the story checks money, rows and receipts.
func TestARevisionPaysOnlyForFramesThatChanged(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		stop := svc.Worker(synthetic.Renderer{})
		first := quoteRevision(c, "scene", "94-99", small)
		wantReuse(t, first, 0, "", "94-99", 6)
		old := renderQuote(c, first)

		// Three of six frames are the same: they cost nothing and need no worker.
		second := quoteRevision(c, "moved", "94-99", small)
		wantReuse(t, second, 3, "94-96", "97-99", 3)
		stop()
		started, err := c.Take(second)
		if err != nil {
			t.Fatal(err)
		}
		if started.FramesCompleted != 3 || started.Status != client.StatusQueued || !started.Cancellable {
			t.Errorf("before a worker comes the job is %+v", started)
		}
		svc.Worker(synthetic.Renderer{})
		next := c.Await(started.JobID, client.StatusCompleted)
		story.WantPictures(t, c.VerifiedZIP(next), 6, 32, 18)
		wantOrigins(c, old, next, 94, 95, 96)
		wantChain(c, old, next)
		if next.ChargedCents != 3 {
			t.Errorf("it cost %d cents", next.ChargedCents)
		}

		// Nothing changed since: the job is complete without any worker, and costs nothing.
		third := quoteRevision(c, "moved", "94-99", small)
		wantReuse(t, third, 6, "94-99", "", 0)
		last := renderQuote(c, third)
		story.WantPictures(t, c.VerifiedZIP(last), 6, 32, 18)
		wantOrigins(c, next, last, 94, 95, 96, 97, 98, 99)

		// Other settings, another material and another workspace have nothing to reuse.
		wantReuse(t, quoteRevision(c, "moved", "94-99", client.Settings{ResolutionX: 34, ResolutionY: 18}), 0, "", "94-99", 6)
		wantReuse(t, quoteRevision(c, "material", "94-99", small), 0, "", "94-99", 6)
		wantReuse(t, quoteRevision(svc.Caller(story.Credit), "scene", "94-99", small), 0, "", "94-99", 6)
		svc.WantMoney(c.Workspace, story.Credit-9, wallet.Credited, wallet.Reserved, wallet.Captured, wallet.Reserved, wallet.Captured)
	})
}

// wantChanges compares what a quote says of its frames, as "when: what", with what it should say.
func wantChanges(t *testing.T, q *client.Quote, since *client.Job, want ...string) {
	t.Helper()
	if q.Changes == nil || q.Changes.JobID != since.JobID {
		t.Fatalf("the quote is compared with %+v, want %s", q.Changes, since.JobID)
	}
	var got []string
	for _, c := range q.Changes.Causes {
		said := reuse.Change(c)
		got = append(got, said.When()+": "+said.Words())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the quote says %q, want %q", got, want)
	}
}

// A quote says of each frame that it does not take over why it is rendered. Nobody learns it
// of another workspace's jobs.
func TestAQuoteSaysWhyFramesAreRendered(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(synthetic.Renderer{})
		first := quoteNamed(c, "scene", "shot_v1.blend", "94-99", small)
		if first.Changes != nil {
			t.Errorf("without an earlier job the quote says %+v", first.Changes)
		}
		shot := renderQuote(c, first)
		renderQuote(c, quoteNamed(c, "material", "other.blend", "94-95", small))

		wantChanges(t, quoteNamed(c, "moved", "shot_v2.blend", "94-101", small), shot,
			"frames 100-101: not in the earlier job", "frames 97-99: action CubeAction, 1 key")
		wantChanges(t, quoteNamed(c, "material", "shot_v1.blend", "96-97", small), shot, "all frames: material Floor")
		wantChanges(t, quoteNamed(c, "scene", "shot.blend", "94-99", client.Settings{ResolutionX: 34, ResolutionY: 18}), shot, "all frames: resolution x of the order")

		// There is nothing to explain where all is taken over, where the newest job is of another scene,
		// and to strangers.
		if q := quoteNamed(c, "interface", "shot_v3.blend", "94-99", small); q.Changes != nil {
			t.Errorf("with all frames unchanged the quote says %+v", q.Changes)
		}
		if q := quoteNamed(c, "moved", "renamed.blend", "94-99", small); q.Changes != nil {
			t.Errorf("compared with another scene the quote says %+v", q.Changes)
		}
		if q := quoteNamed(svc.Caller(story.Credit), "moved", "shot_v2.blend", "94-99", small); q.Changes != nil {
			t.Errorf("another workspace learns %+v", q.Changes)
		}
	})
}

// A frame with a finding is rendered again, and the quote says so, also where the earlier job has
// no other frames.
func TestAQuoteSaysWhichFindingKeepsAFrameFromReuse(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(synthetic.Renderer{Faults: map[synthetic.Fault]float64{synthetic.Black: 1}})
		old := renderQuote(c, quoteRevision(c, "scene", "94-96", small))
		again := quoteRevision(c, "interface", "94-96", small)
		wantReuse(t, again, 0, "", "94-96", 3)
		wantChanges(t, again, old, "frames 94-96: the same picture, but with the finding black")
	})
}

// renderWithOutputs has a worker render so many frames with two files besides each picture, of
// which one has the same name in all frames.
func renderWithOutputs(t *testing.T, w story.ManualWorker, frames int) {
	t.Helper()
	for range frames {
		w.DeliverOutputs(t, "layers/depth.png", "mask.png")
	}
}

// Frames are taken over with the files of their File Output nodes: at once, in the ZIP and the
// receipt, under names of which the new job has each once. A workspace keeps a bounded number of
// their bytes.
func TestReusedFramesHaveTheirOutputs(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.ReusedBytes = 400_000
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		size := client.Settings{ResolutionX: story.PictureWidth, ResolutionY: story.PictureHeight, Samples: 1}
		w := svc.ManualWorker()
		started, err := c.Take(quoteRevision(c, "scene", "94-96", size))
		if err != nil {
			t.Fatal(err)
		}
		renderWithOutputs(t, w, 3)
		old := c.Await(started.JobID, client.StatusCompleted)

		second := quoteRevision(c, "moved", "95-97", size)
		wantReuse(t, second, 2, "95-96", "97", 1)
		if started, err = c.Take(second); err != nil {
			t.Fatal(err)
		}
		list, err := c.Frames(story.Patient(t), started.JobID)
		if err != nil || len(list) != 2 || len(list[0].Outputs) != 2 {
			t.Fatalf("before a worker comes the job has the frames %+v, %v", list, err)
		}
		for _, f := range list {
			for _, o := range f.Outputs {
				file, err := c.FrameOutput(story.Patient(t), started.JobID, f.Frame, o.Name)
				if err != nil {
					t.Fatal(err)
				}
				sum, err := digest.Of(file)
				if err != nil || sum != o.SHA256 {
					t.Errorf("%s of frame %d has the hash %s, %v, want %s", o.Name, f.Frame, sum, err, o.SHA256)
				}
				if err := file.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		renderWithOutputs(t, w, 1)
		next := c.Await(started.JobID, client.StatusCompleted)
		c.VerifiedZIP(next)
		wantOrigins(c, old, next, 95, 96)
		wantChain(c, old, next)
		was, is := framesIn(c, old.JobID), framesIn(c, next.JobID)
		names := map[string]bool{}
		for i, f := range is.Frames {
			for n, o := range f.Outputs {
				if names[o.Name] {
					t.Errorf("two outputs are called %s", o.Name)
				}
				names[o.Name] = true
				if i < 2 && (o.SHA256 != was.Frames[i+1].Outputs[n].SHA256 || o.SizeBytes != was.Frames[i+1].Outputs[n].SizeBytes) {
					t.Errorf("output %s is not that of the origin", o.Name)
				}
			}
		}
		if len(names) != 6 {
			t.Errorf("the receipt lists the outputs %v", names)
		}

		// What is kept for nothing is bounded, with the outputs.
		kept := int64(0)
		for _, f := range is.Frames[:2] {
			kept += f.SizeBytes + f.Outputs[0].SizeBytes + f.Outputs[1].SizeBytes
		}
		for range 400_000 / kept {
			_, err = c.Take(quoteRevision(c, "moved", "95-96", size))
			if err != nil {
				break
			}
		}
		story.WantRefusal(t, err, 409, "storage_limit_reached")
	})
}

// wantOrigins checks that a job took exactly these frames over from an earlier one.
func wantOrigins(c story.Caller, from, to *client.Job, frames ...int) {
	c.T.Helper()
	origin, r := framesIn(c, from.JobID), framesIn(c, to.JobID)
	for _, f := range r.Frames {
		want := receipt.Origin{}
		if slices.Contains(frames, f.Frame) {
			want = receipt.Origin{ReceiptID: origin.ReceiptID, LogIndex: *origin.LogIndex}
			was := origin.Frames[slices.IndexFunc(origin.Frames, func(o receipt.Frame) bool { return o.Frame == f.Frame })]
			if f.SHA256 != was.SHA256 || f.PixelSHA256 != was.PixelSHA256 || f.RenderSeconds != 0 {
				c.T.Errorf("frame %d is %+v, it was %+v", f.Frame, f, was)
			}
		}
		if f.Reused != want {
			c.T.Errorf("frame %d comes from %+v, want %+v", f.Frame, f.Reused, want)
		}
	}
}

// wantChain verifies a receipt with the one that its frames come from: without that the check
// is not made, and with another one it fails.
func wantChain(c story.Caller, from, to *client.Job) {
	c.T.Helper()
	origin, err := c.Receipt(story.Patient(c.T), from.JobID)
	if err != nil {
		c.T.Fatal(err)
	}
	later, err := c.Receipt(story.Patient(c.T), to.JobID)
	if err != nil {
		c.T.Fatal(err)
	}
	found, err := c.SigningKeys(story.Patient(c.T))
	if err != nil {
		c.T.Fatal(err)
	}
	keys, err := signingkey.ParsePublicPEMs([]byte(found[0].PublicKeyPEM))
	if err != nil {
		c.T.Fatal(err)
	}
	check := func(origins ...[]byte) receipt.Status {
		report := receipt.Verify(later.Envelope, keys, nil)
		report.FromOrigins(origins, keys)
		for _, made := range report.Checks {
			if made.Name == "reused" {
				return made.Status
			}
		}
		return ""
	}
	if with, without, other := check(origin.Envelope), check(), check(later.Envelope); with != receipt.OK || without != receipt.Skipped || other != receipt.Skipped {
		c.T.Errorf("with the origin the chain is %s, without it %s, with another receipt %s", with, without, other)
	}
}

// What a quote takes over is kept until its job has it, and a quote whose frames are gone
// starts nothing.
func TestReusedFramesOutliveTheirOrigin(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic, config.ArtifactLife = true, 48*time.Hour
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		stop := svc.Worker(synthetic.Renderer{})
		old := renderQuote(c, quoteRevision(c, "scene", "95-98", small))
		stop()
		pass(20 * time.Hour)
		running, err := c.Take(quoteRevision(c, "moved", "95-98", small))
		if err != nil {
			t.Fatal(err)
		}
		lost := quoteRevision(c, "moved", "95-98", small)
		wantReuse(t, lost, 2, "95-96", "97-98", 2)

		// The ZIP would not be kept until a quote of now ends, so none takes from it.
		pass(5 * time.Hour)
		wantReuse(t, quoteRevision(c, "moved", "95-98", small), 0, "", "95-98", 4)

		// Its time is over, but the job that was started has not all its frames yet.
		pass(24 * time.Hour)
		awaitRescheduled(svc, old.JobID)
		svc.Worker(synthetic.Renderer{})
		next := c.Await(running.JobID, client.StatusCompleted)
		story.WantPictures(t, c.VerifiedZIP(next), 4, 32, 18)
		wantOrigins(c, old, next, 95, 96)
	})
}

// awaitRescheduled waits until the removal of a ZIP was due and put off.
func awaitRescheduled(svc *story.Service, jobID string) {
	svc.T.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ctx := story.Patient(svc.T); ; {
		var due, now int64
		svc.Read(func(ctx context.Context, tx *db.Tx) error {
			now = tx.Now
			rows, err := tx.Query(ctx, "SELECT due_at FROM lease WHERE lease_id = $1 AND state = 'waiting'", "expire:artifact/"+jobID+":0")
			if err != nil {
				return err
			}
			for rows.Next() {
				err = errors.Join(err, rows.Scan(&due))
			}
			return errors.Join(err, rows.Err(), rows.Close())
		})
		if due > now {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			svc.T.Fatal("the removal of the ZIP was not put off")
		}
	}
}

// An erased or removed origin is a quote that has expired: the start refuses, and nothing
// moves.
func TestAQuoteWhoseOriginIsGoneStartsNothing(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(synthetic.Renderer{})
		old := renderQuote(c, quoteRevision(c, "scene", "96-97", small))
		q := quoteRevision(c, "interface", "96-97", small)
		wantReuse(t, q, 2, "96-97", "", 0)
		var key string
		svc.Write(func(ctx context.Context, tx *db.Tx) (err error) {
			key, err = job.RemoveArtifact(ctx, tx, old.JobID)
			return err
		})
		svc.Remove(key)
		_, err := c.Take(q)
		story.WantRefusal(t, err, 409, "quote_expired")
		wantReuse(t, quoteRevision(c, "interface", "96-97", small), 0, "", "96-97", 2)
		svc.WantMoney(c.Workspace, story.Credit-2, wallet.Credited, wallet.Reserved, wallet.Captured)
	})
}

// A ZIP that is damaged before its frames are in the new job costs the service a rendering,
// and the caller nothing.
func TestADamagedOriginIsRenderedAgainAtNoCost(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		stop := svc.Worker(synthetic.Renderer{})
		old := renderQuote(c, quoteRevision(c, "scene", "95-98", small))
		stop()
		started, err := c.Take(quoteRevision(c, "moved", "95-98", small))
		if err != nil {
			t.Fatal(err)
		}
		var record query.Job
		svc.Read(func(ctx context.Context, tx *db.Tx) (err error) {
			record, err = job.Read(ctx, tx, old.JobID)
			return err
		})
		whole := svc.Content(record.ArtifactKey)
		broken := slices.Clone(whole)
		broken[len(broken)/2] ^= 1
		svc.Restart() // it has read the ZIP, and would not read it again
		svc.Overwrite(record.ArtifactKey, broken)
		svc.Worker(synthetic.Renderer{})
		next := c.Await(started.JobID, client.StatusCompleted)
		story.WantPictures(t, c.VerifiedZIP(next), 4, 32, 18)
		wantOrigins(c, old, next)
		if next.ChargedCents != 2 {
			t.Errorf("it cost %d cents", next.ChargedCents)
		}
		svc.Overwrite(record.ArtifactKey, whole)
	})
}

// In the older flow a job has its reused frames while it awaits its submit, and a queued job
// with reused frames can be cancelled. Both keep the ledger and the states as they must be,
// which the audit at the end of the story checks.
func TestReuseKeepsTheOlderFlowAndCancelling(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		stop := svc.Worker(synthetic.Renderer{})
		old := renderQuote(c, quoteRevision(c, "scene", "95-98", small))
		stop()
		hold := func(name string, reserved float64) string {
			q := quoteRevision(c, name, "95-98", small)
			made := c.PostOnce(svc.URL+"/v1/renders", c.Account.Secret, q.QuoteID, `{"upload_id":"`+q.UploadID+`"}`)
			if made["status"] != "awaiting_submit" || made["reserved_cents"] != reserved {
				t.Errorf("%s is held as %v with %v cents", name, made["status"], made["reserved_cents"])
			}
			return made["job_id"].(string)
		}
		free, partly, never := hold("interface", 0), hold("moved", 2), hold("moved", 2)
		for _, jobID := range []string{free, partly} {
			c.PostOnce(svc.URL+"/v1/renders/"+jobID+"/submit", c.Account.Secret, jobID, "{}")
		}
		done := c.Await(free, client.StatusCompleted)
		wantOrigins(c, old, done, 95, 96, 97, 98)
		if cancelled, err := c.Cancel(story.Patient(t), never); err != nil || cancelled.Status != client.StatusCancelled {
			t.Errorf("a job that awaits its submit is %+v, %v", cancelled, err)
		}
		queued, err := c.Take(quoteRevision(c, "moved", "94-98", small))
		if err != nil {
			t.Fatal(err)
		}
		if cancelled, err := c.Cancel(story.Patient(t), queued.JobID); err != nil || cancelled.Status != client.StatusCancelled || cancelled.ChargedCents != 0 {
			t.Errorf("a queued job is %+v, %v", cancelled, err)
		}
		svc.Worker(synthetic.Renderer{})
		wantOrigins(c, old, c.Await(partly, client.StatusCompleted), 95, 96)
		svc.WantMoney(c.Workspace, story.Credit-6, wallet.Credited, wallet.Reserved, wallet.Captured,
			wallet.Reserved, wallet.Reserved, wallet.Released, wallet.Reserved, wallet.Released, wallet.Captured)
	})
}
