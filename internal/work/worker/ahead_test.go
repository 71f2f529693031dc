package worker_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/test/await"
	"svc.example/internal/work/farmapi"
)

// distinct is a server whose jobs have a file each, which takes long to come.
type distinct struct {
	*server
	delay time.Duration
	began chan struct{}  // filled when a file is asked for
	ended chan time.Time // when the worker gave one up
}

func newDistinct(s *server, delay time.Duration) *distinct {
	return &distinct{server: s, delay: delay, began: make(chan struct{}, 10), ended: make(chan time.Time, 10)}
}

func textOf(jobID string) string { return "the scene of " + jobID }

func (d *distinct) Lease(ctx context.Context, req farmapi.LeaseRequest) (farmapi.LeaseReply, error) {
	reply, err := d.server.Lease(ctx, req)
	if reply.Job != nil {
		reply.Job.InputSHA256 = sumOf(textOf(reply.Job.JobID))
	}
	return reply, err
}

func (d *distinct) Project(_ context.Context, _, jobID string) (farmapi.Project, error) {
	sum := sumOf(textOf(jobID))
	return farmapi.Project{OK: true, Main: "scene.blend", Files: []farmapi.File{
		{Path: "scene.blend", SHA256: sum, SizeBytes: int64(len(textOf(jobID))), Parts: []string{sum}},
	}}, nil
}

func (d *distinct) Part(ctx context.Context, _, jobID, _ string, _ int64) (io.ReadCloser, error) {
	d.began <- struct{}{}
	if err := rest(ctx, d.delay); err != nil {
		d.ended <- time.Now()
		return nil, err
	}
	return io.NopCloser(strings.NewReader(textOf(jobID))), nil
}

// TestTheNextJobsFilesAreThereBeforeTheLastFrameEnds: the pace of earlier frames tells
// when that is, and in a job of one frame its own progress.
func TestTheNextJobsFilesAreThereBeforeTheLastFrameEnds(t *testing.T) {
	for name, frames := range map[string]int{"by the pace": 2, "by the progress": 1} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s, p := newServer(frames), newPainter()
				s.add("JOB-2", 1)
				p.frameTime = 20 * time.Second
				b := newBench(t, s, p)
				b.config.Farm = newDistinct(s, 1500*time.Millisecond)
				stop := b.run()
				defer stop()
				b.untilDelivered(frames + 1)
				if gap := p.began[frames].Sub(p.began[frames-1]) - p.frameTime; gap > 100*time.Millisecond {
					t.Errorf("the next job's frame began %s after the last of this one", gap)
				}
				if want := "scene.blend: " + textOf("JOB-2") + "\n"; p.opens[len(p.opens)-1] != want {
					t.Errorf("Blender was given %q, want %q", p.opens, want)
				}
			})
		})
	}
}

func TestALostLeaseEndsTheFetchOfItsFiles(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(2), newPainter()
		s.add("JOB-2", 1)
		p.frameTime = 20 * time.Second
		p.fault = func(frame int) error {
			if frame == 2 { // it takes longer than the one before
				await.Pass(time.Minute)
			}
			return nil
		}
		farm := newDistinct(s, 0)
		b := newBench(t, s, p)
		b.config.Farm = farm
		stop := b.run()
		defer stop()
		b.untilDelivered(1)
		s.change(func() { farm.delay = time.Hour })
		<-farm.began // the first job's
		<-farm.began
		s.change(func() { s.jobs[1].frames[0].closed = true })
		lost := time.Now()
		if took := (<-farm.ended).Sub(lost); took > 6*time.Second { // a heartbeat is sent every 5 s
			t.Errorf("the fetch continued for %s without a lease", took)
		}
		if n := len(s.delivered()); n != 1 {
			t.Errorf("%d frames are delivered: the fetch ended with the frame, not with its lease", n)
		}
		b.untilDelivered(2)
		if len(s.fails) != 0 {
			t.Errorf("a lost lease failed: %v", s.fails)
		}
	})
}

// TestAStoppedWorkerGivesBackWhatItFetchesFor ends, as every test in a bubble, only when
// nothing is running.
func TestAStoppedWorkerGivesBackWhatItFetchesFor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(2), newPainter()
		s.add("JOB-2", 1)
		p.frameTime = 20 * time.Second
		farm := newDistinct(s, 0)
		b := newBench(t, s, p)
		b.config.Farm = farm
		stop := b.run()
		b.untilDelivered(1)
		s.change(func() { farm.delay = time.Hour })
		<-farm.began // the first job's
		<-farm.began
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(s.released, "JOB-2/1") || len(farm.ended) == 0 {
			t.Errorf("released %v; the fetch was ended: %v", s.released, len(farm.ended) > 0)
		}
	})
}
