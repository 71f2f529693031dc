package workers_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/job"
	"svc.example/internal/work/worker"
)

// workerProcess starts a worker that holds frames from one number on.
func workerProcess(svc *story.Service, holdFrom int) *story.Process {
	svc.T.Helper()
	return story.Launch(svc.T, story.WorkerRole, story.WorkerConfig{Server: svc.URL, Key: svc.NodeKey().Secret, WorkDir: svc.T.TempDir(), HoldFrom: holdFrom})
}

func TestAnotherWorkerFinishesWhatADeadOneBegan(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		// Longer than any beat is late: frame 1 must not lapse. Then time is made to pass.
		config.LeaseLife = 5 * time.Second
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		doomed := workerProcess(svc, 2)
		job := c.StartFrames(4)
		if _, ok := doomed.Await(story.Patient(t), "holds"); !ok {
			t.Fatal("the worker never came to frame 2")
		}
		c.AwaitFrames(job.JobID, 1)
		doomed.Kill()
		pass(time.Minute)
		svc.Worker(&story.Painter{})
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), 4)
		frames := svc.Frames(job.JobID)
		if frames[0].Attempt != 1 || frames[1].Attempt < 2 || frames[0].WorkerID == frames[1].WorkerID {
			t.Errorf("frame 1 was attempt %d, frame 2 attempt %d of another worker: want 1 and more", frames[0].Attempt, frames[1].Attempt)
		}
		svc.SettledOnce(c, 4)
	})
}

// A worker that is stopped in order is not waited for.
func TestAStoppedWorkerIsOfflineAtOnce(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		stop := svc.Worker(&story.Painter{})
		c.Await(c.StartFrames(1).JobID, client.StatusCompleted)
		stop()
		jobID := c.StartFrames(1).JobID
		// The service looks at its workers once a second; a silent one counts for 90.
		await.Until(t, "the reason that no worker is online", func() bool {
			waits, err := c.Job(story.Patient(t), jobID)
			return err == nil && waits.WaitingReason == string(job.NoWorkerOnline)
		})
	})
}

func TestAWorkerThatWasFrozenComesTooLate(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.LeaseLife = story.Lapse
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		frozen := workerProcess(svc, 1)
		job := c.StartFrames(2)
		if _, ok := frozen.Await(story.Patient(t), "holds"); !ok {
			t.Fatal("the worker never came to frame 1")
		}
		sendSignal(t, frozen, syscall.SIGSTOP)
		svc.Worker(&story.Painter{})
		done := c.Await(job.JobID, client.StatusCompleted)
		winners := svc.Frames(job.JobID)

		sendSignal(t, frozen, syscall.SIGCONT)
		if _, err := frozen.In.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
		wantTooLate(t, frozen)
		if after := svc.Frames(job.JobID); !slices.Equal(after, winners) {
			t.Errorf("the frames were %+v and are %+v", winners, after)
		}
		c.Fetch(done, 2)
		svc.SettledOnce(c, 2)
	})
}

func sendSignal(t *testing.T, p *story.Process, s syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// wantTooLate waits until a worker learns that its frame is no longer its own:
// by the answer to a heartbeat or to its delivery, whichever it sends first.
func wantTooLate(t *testing.T, p *story.Process) {
	t.Helper()
	late := story.Patient(t).Done()
	for {
		select {
		case line, open := <-p.Lines:
			switch line {
			case "lost ok", "delivered lease_lost":
				return
			case "delivered ok":
				t.Fatal("a frame that came too late was taken")
			}
			if !open {
				t.Fatal("the worker ended and learned nothing")
			}
		case <-late:
			t.Fatal("the worker learned nothing")
		}
	}
}

func TestALateDeliveryIsRefused(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.LeaseLife = story.Lapse
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		late := svc.ManualWorker()
		job := c.StartFrames(1)
		got, err := late.LeaseOne(t.Context())
		if err != nil || len(got.Leases) != 1 {
			t.Fatalf("leased %+v, %v", got, err)
		}
		g := story.BarrierAt(1)
		svc.Worker(&story.Painter{Before: g.Pass})
		if _, err := g.Await(story.Patient(t)); err != nil { // the lease has lapsed and is another's
			t.Fatal(err)
		}
		wantLeaseLost(t, late.DeliverResult(t, got))
		wantLeaseLost(t, late.Fail(t.Context(), farmapi.FailRequest{
			WorkerID: late.ID, LeaseID: got.Leases[0].LeaseID, Attempt: got.Leases[0].Attempt, Code: "out_of_memory", Message: "late", Final: true,
		}))
		g.Open()
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), 1)
		wantLeaseLost(t, late.DeliverResult(t, got)) // and not when all is over
		svc.SettledOnce(c, 1)
	})
}

// A worker's report about a frame is in the receipt: nonsense never gets there, and
// the worker may still deliver the frame.
func TestADeliveryThatIsDescribedByNonsenseIsRefused(t *testing.T) {
	nonsense := map[string]func(r *farmapi.FrameResult){
		"no hash of the file":   func(r *farmapi.FrameResult) { r.SHA256 = strings.ToUpper(r.SHA256) },
		"no hash of the pixels": func(r *farmapi.FrameResult) { r.PixelSHA256 = "trust me" },
		"time that went back":   func(r *farmapi.FrameResult) { r.RenderSeconds = -1 },
		"parts of a time back":  func(r *farmapi.FrameResult) { r.Times = &farmapi.FrameTimes{Load: 2, Waiting: -1} },
		"an age":                func(r *farmapi.FrameResult) { r.RenderSeconds = 1e300 },
		"a switch that is text": func(r *farmapi.FrameResult) { r.Switched = []string{"denoise_off,and more"} },
		"switches without end":  func(r *farmapi.FrameResult) { r.Switched = slices.Repeat([]string{"denoise_off"}, 1000) },
		"another frame's name":  func(r *farmapi.FrameResult) { r.File = "frame_0002.png" },
		"another job's frame":   func(r *farmapi.FrameResult) { r.Frame = 2 },
		"no attempt":            func(r *farmapi.FrameResult) { r.Attempt = 0 },
		"an attempt below zero": func(r *farmapi.FrameResult) { r.Attempt = -1 },
		"an endless attempt":    func(r *farmapi.FrameResult) { r.Attempt = math.MaxInt },
		"a picture of 0 by 0":   func(r *farmapi.FrameResult) { r.Width, r.Height = 0, 0 },
		"a height below zero":   func(r *farmapi.FrameResult) { r.Height = -r.Height },
		"an endless width":      func(r *farmapi.FrameResult) { r.Width = math.MaxInt },
	}
	story.Each(t, func(t *testing.T, config app.Config) {
		config.LeaseLife = time.Hour // no heartbeats are sent
		svc := story.Start(t, config)
		c, w := svc.Caller(story.Credit), svc.ManualWorker()
		job := c.StartFrames(1)
		got, err := w.LeaseOne(t.Context())
		if err != nil || len(got.Leases) != 1 {
			t.Fatalf("leased %+v, %v", got, err)
		}
		for name, tell := range nonsense {
			result, picture := w.Result(t, got)
			tell(&result)
			refusal, ok := errors.AsType[*farmapi.Error](w.Deliver(t.Context(), result, bytes.NewReader(picture)))
			if !ok || refusal.Code != "invalid_request" {
				t.Errorf("%s: %v, want invalid_request", name, refusal)
			}
		}
		for _, attempt := range []int{0, -1, math.MinInt, math.MaxInt} {
			held := farmapi.Held{LeaseID: got.Leases[0].LeaseID, Attempt: attempt, Progress: 1}
			wantLeaseLost(t, w.Fail(t.Context(), farmapi.FailRequest{
				WorkerID: w.ID, LeaseID: held.LeaseID, Attempt: attempt, Code: "out_of_memory", Message: "I lie", Final: true,
			}))
			beat, err := w.Heartbeat(t.Context(), farmapi.HeartbeatRequest{WorkerID: w.ID, Leases: []farmapi.Held{held}})
			if err != nil || !slices.Equal(beat.Lost, []string{held.LeaseID}) {
				t.Errorf("a heartbeat of attempt %d: %+v, %v", attempt, beat, err)
			}
			if err := w.Release(t.Context(), farmapi.ReleaseRequest{WorkerID: w.ID, Leases: []farmapi.Held{held}}); err != nil {
				t.Errorf("a release of attempt %d: %v", attempt, err)
			}
		}
		if err := w.DeliverResult(t, got); err != nil {
			t.Fatal(err)
		}
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), 1)
		svc.SettledOnce(c, 1)
	})
}

// openedFirst is a store in which the first frame to be opened is opened only after
// before has run.
type openedFirst struct {
	blob.Store
	before func()
}

func (s openedFirst) Open(ctx context.Context, key string) (blob.Reader, error) {
	if strings.HasPrefix(key, "frames/") {
		s.before()
	}
	return s.Store.Open(ctx, key)
}

// A worker that waits long for its answer sends the picture again. The service then
// looks at one picture twice at the same time, and keeps it.
func TestAPictureThatIsSentAgainBesideTheFirstIsKept(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.LeaseLife = time.Hour // no heartbeats are sent
		svc := story.Open(t, config)
		svc.Lone = true // its store is watched
		var w story.ManualWorker
		var got farmapi.LeaseReply
		var again atomic.Bool
		svc.App.Blobs = openedFirst{svc.App.Blobs, func() {
			if again.CompareAndSwap(false, true) {
				if err := w.DeliverResult(t, got); err != nil {
					t.Errorf("the picture that came second: %v", err)
				}
			}
		}}
		svc.Serve()
		c := svc.Caller(story.Credit)
		w = svc.ManualWorker()
		job := c.StartFrames(2) // it is not packed before both deliveries are over
		var err error
		if got, err = w.LeaseOne(t.Context()); err != nil || len(got.Leases) != 1 {
			t.Fatalf("leased %+v, %v", got, err)
		}
		if err := w.DeliverResult(t, got); err != nil {
			t.Errorf("the picture that came first: %v", err)
		}
		svc.Worker(&story.Painter{})
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), 2)
		svc.SettledOnce(c, 2)
	})
}

func wantLeaseLost(t *testing.T, err error) {
	t.Helper()
	refusal, ok := errors.AsType[*farmapi.Error](err)
	if !ok || refusal.Status != 409 || refusal.Code != "lease_lost" {
		t.Errorf("got %v, want 409 lease_lost", err)
	}
}

func TestTwoWorkersShareAJob(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		// No worker finishes a first frame before the other has begun one.
		var begun sync.WaitGroup
		begun.Add(2)
		both := make(chan struct{})
		go func() { begun.Wait(); close(both) }()
		painters := []*story.Painter{{}, {}}
		for _, p := range painters {
			first := sync.OnceFunc(begun.Done)
			p.Before = func(ctx context.Context, _ int) error {
				first()
				select {
				case <-both:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			svc.Worker(p)
		}
		job := c.StartFrames(8)
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), 8)
		if one, other := painters[0].Frames(), painters[1].Frames(); len(one) == 0 || len(other) == 0 || len(one)+len(other) != 8 {
			t.Errorf("one worker painted %v, the other %v", one, other)
		}
		svc.SettledOnce(c, 8)
	})
}

func TestAWorkerKeepsItsResultsWhileTheServerIsDown(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		g := story.BarrierAt(2)
		p := &story.Painter{Before: g.Pass}
		undelivered := make(chan struct{})
		failed := sync.OnceFunc(func() { close(undelivered) })
		svc.Worker(p, func(w *worker.Config) {
			w.Farm = story.ObservedFarm{Client: w.Farm.(*farmapi.Client), Report: func(what string, err error) {
				if what == "delivered" && err != nil {
					failed()
				}
			}}
		})
		job := c.StartFrames(4)
		if _, err := g.Await(story.Patient(t)); err != nil {
			t.Fatal(err)
		}
		svc.Stop()
		g.Open()
		await.Next(t, undelivered, "the worker's try to deliver")
		svc.Restart()
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), 4)
		if got := p.Frames(); !slices.Equal(got, []int{1, 2, 3, 4}) {
			t.Errorf("painted %v, want each frame once", got)
		}
		svc.SettledOnce(c, 4)
	})
}

func TestAWorkerReadsTheFilesOfItsOwnJobsOnly(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		svc.Caller(story.Credit).StartFrames(1)
		holder, other := svc.ManualWorker(), svc.ManualWorker()
		got, err := holder.LeaseOne(story.Patient(t))
		if err != nil || got.Job == nil {
			t.Fatalf("leased %+v, %v", got, err)
		}
		jobID := got.Job.JobID
		project, err := holder.Project(t.Context(), holder.ID, jobID)
		if err != nil || len(project.Files) != 1 || project.Main != demo.Filename || project.Files[0].Path != demo.Filename {
			t.Fatalf("the project is %+v, %v", project, err)
		}
		file := project.Files[0]
		part, err := holder.Part(t.Context(), holder.ID, jobID, file.Parts[0], file.SizeBytes)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(part)
		if err := errors.Join(err, part.Close()); err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != got.Job.InputSHA256 || file.SHA256 != got.Job.InputSHA256 {
			t.Errorf("the %d bytes that came are not the job's file %+v", len(content), file)
		}
		if _, err := holder.Part(t.Context(), holder.ID, jobID, strings.Repeat("0", 64), 1); !refusedWith(err, "invalid_request") {
			t.Errorf("a part that is not the job's: %v", err)
		}
		_, err = other.Project(t.Context(), other.ID, jobID)
		wantLeaseLost(t, err)
		_, err = other.Part(t.Context(), other.ID, jobID, file.Parts[0], file.SizeBytes)
		wantLeaseLost(t, err)
		if err := holder.Release(t.Context(), holder.ReleaseOf(got)); err != nil {
			t.Fatal(err)
		}
		_, err = holder.Part(t.Context(), holder.ID, jobID, file.Parts[0], file.SizeBytes)
		wantLeaseLost(t, err)
	})
}

// TestTheServiceSaysWhatWorkersAreWantedFor without naming a workspace.
func TestTheServiceSaysWhatWorkersAreWantedFor(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		ada, bob := svc.Caller(story.Credit), svc.Caller(story.Credit)
		for caller, frames := range map[*story.Caller]int{&ada: 3, &bob: 5} {
			if _, err := caller.Take(caller.QuoteFrames(frames)); err != nil {
				t.Fatal(err)
			}
		}
		node := svc.NodeKey()
		ask := func() (of []farmapi.FrameDemand) {
			t.Helper()
			got, err := farmapi.NewClient(svc.URL, node.Secret).Demand(t.Context())
			if err != nil || !got.OK {
				t.Fatalf("%+v, %v", got, err)
			}
			for _, w := range got.Workspaces {
				if len(w.Frames) != 1 || len(w.Frames[0].Options) != 0 {
					t.Fatalf("frames that need nothing: %+v", w)
				}
				of = append(of, w.Frames[0])
			}
			slices.SortFunc(of, func(a, b farmapi.FrameDemand) int { return int(a.Waiting + a.Held - b.Waiting - b.Held) })
			return of
		}
		if got := ask(); len(got) != 2 || got[0].Waiting != 3 || got[1].Waiting != 5 || got[0].Held+got[1].Held+got[0].Measured+got[1].Measured != 0 {
			t.Errorf("before a worker came: %+v", got)
		}
		manual := svc.ManualWorker()
		leased, err := manual.LeaseOne(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held, waiting := int64(0), int64(0)
		for _, w := range ask() {
			held, waiting = held+w.Held, waiting+w.Waiting
		}
		if held != 1 || waiting != 7 {
			t.Errorf("with a worker, %d are held and %d wait", held, waiting)
		}
		if err := manual.DeliverResult(t, leased); err != nil {
			t.Fatal(err)
		}
		measured, open := int64(0), int64(0)
		for _, w := range ask() {
			if w.Measured != 0 && (w.Measured != w.Waiting+w.Held || w.MeasuredSeconds <= 0) {
				t.Errorf("of a job with a finished frame: %+v", w)
			}
			measured, open = measured+w.Measured, open+w.Waiting+w.Held
		}
		if measured == 0 || measured == open || open != 7 {
			t.Errorf("after a frame of one of two jobs, %d of %d frames are measured", measured, open)
		}
		if _, err := farmapi.NewClient(svc.URL, "svc_agent_none").Demand(t.Context()); err == nil {
			t.Error("a workspace's key may ask")
		}
	})
}
