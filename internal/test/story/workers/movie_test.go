package workers_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/blender"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/movie"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// movieOf reads the movie of a job by an agent key.
func movieOf(svc *story.Service, c story.Caller, jobID string) story.Answer {
	c.T.Helper()
	return story.Do(c.T, story.Request(c.T, http.MethodGet, svc.URL+"/node/v1/jobs/"+jobID+"/movie", c.Agent.Secret, ""))
}

// TestAMovieIsEncodedWhenItIsAskedForAndGoesWithItsZIP has the synthetic renderer encode.
func TestAMovieIsEncodedWhenItIsAskedForAndGoesWithItsZIP(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		c, stranger := svc.Caller(story.Credit), svc.Caller(0)
		running := c.StartFrames(3).JobID
		movieOf(svc, c, running).Want(t, http.StatusConflict, "render_not_completed")
		stop := svc.Worker(synthetic.Renderer{})
		done := c.Await(running, client.StatusCompleted)
		movieOf(svc, stranger, done.JobID).Want(t, http.StatusNotFound, "render_not_found")
		if files := svc.Files("overviews/" + done.JobID + "/"); len(files) > 0 {
			t.Errorf("nobody has asked for %q", files)
		}

		got, err := c.Movie(story.Patient(t), done.JobID)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(got)
		_ = got.Close()
		if err != nil || !strings.HasPrefix(string(content), "\x00\x00\x00\x14ftypisom") || !strings.HasSuffix(string(content), "3 synthetic frames") {
			t.Errorf("the movie is %q, %v", content, err)
		}
		stop()
		again := movieOf(svc, c, done.JobID)
		again.Want(t, http.StatusOK, string(content))
		if again.Header.Get("Content-Type") != "video/mp4" || !strings.Contains(again.Header.Get("Content-Disposition"), ".mp4") {
			t.Errorf("headers %v", again.Header)
		}
		part := story.Request(t, http.MethodGet, svc.URL+"/node/v1/jobs/"+done.JobID+"/movie", c.Agent.Secret, "")
		part.Header.Set("Range", "bytes=4-7")
		story.Do(t, part).Want(t, http.StatusPartialContent, "ftyp")
		for _, file := range svc.Stored("overviews/" + done.JobID + "/") { // a damaged one is never sent
			svc.Overwrite(file, []byte("\x00\x00\x00\x08ftyp"))
		}
		svc.Restart()
		movieOf(svc, c, done.JobID).Want(t, http.StatusConflict, "movie_not_ready")
		defer svc.Worker(synthetic.Renderer{})()
		if got, err = c.Movie(story.Patient(t), done.JobID); err != nil {
			t.Fatal(err)
		}
		if repaired, err := io.ReadAll(got); err != nil || !bytes.Equal(repaired, content) {
			t.Errorf("it was made again as %q, %v", repaired, err)
		}
		_ = got.Close()
		pass(40 * 24 * time.Hour)
		await.Until(t, "the end of the movie", func() bool { return len(svc.Files("overviews/"+done.JobID+"/")) == 0 })
		movieOf(svc, c, done.JobID).Want(t, http.StatusGone, "artifact_expired")
	})
}

// TestAJobOfTestModeHasAMovie, as its frames painted and not rendered.
func TestAJobOfTestModeHasAMovie(t *testing.T) {
	t.Parallel()
	svc := story.SharedOn(t, "sqlite")
	c := svc.TestCaller()
	done := c.Await(c.StartFrames(2).JobID, client.StatusCompleted)
	got, err := c.Movie(story.Patient(t), done.JobID)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if content, err := io.ReadAll(got); err != nil || !strings.HasSuffix(string(content), "2 synthetic frames") {
		t.Errorf("the movie is %q, %v", content, err)
	}
}

// TestAWorkerCannotPassAnythingForAMovie has a worker deliver other bytes than a movie, and a
// movie after another worker has got it.
func TestAWorkerCannotPassAnythingForAMovie(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		c := svc.Caller(story.Credit)
		done := svc.Completed(c)
		farm := farmapi.NewClient(svc.URL, svc.NodeKey().Secret)
		self, err := farm.Register(t.Context(), farmapi.RegisterRequest{Name: "x", BlenderVersion: contract.BlenderVersion, BlenderBuildHash: "x", Device: "CPU", DeviceName: "x", Denoise: "keep"})
		if err != nil {
			t.Fatal(err)
		}
		movieOf(svc, c, done.JobID).Want(t, http.StatusConflict, "movie_not_ready") // and orders it
		for attempt := range movie.MaxFailures {
			got, err := farm.Lease(t.Context(), farmapi.LeaseRequest{WorkerID: self.WorkerID, Max: 1, WaitSeconds: 30, Movies: true})
			if err != nil || got.Job == nil || got.Job.Movie == nil || got.Job.Movie.Frames != 2 {
				t.Fatalf("the worker gets %+v, %v", got.Job, err)
			}
			project, err := farm.Project(t.Context(), self.WorkerID, got.Job.JobID)
			if err != nil || len(project.Files) != 1 {
				t.Fatalf("the movie's project is %+v, %v", project, err)
			}
			if _, err := farm.Project(t.Context(), self.WorkerID, strings.Replace(got.Job.JobID, "MOV-", "JOB-", 1)); !refusedWith(err, "lease_lost") {
				t.Errorf("the files of the job: %v", err)
			}
			content := "\x00\x00\x00\x10ftypisom1234\x00\x00\x00\x08mdat" // without an index
			sum := sha256.Sum256([]byte(content))
			l := got.Leases[0]
			err = farm.Deliver(t.Context(), farmapi.FrameResult{
				WorkerID: self.WorkerID, LeaseID: l.LeaseID, Attempt: l.Attempt, JobID: got.Job.JobID, File: "movie.mp4", SHA256: hex.EncodeToString(sum[:]), SizeBytes: int64(len(content)),
			}, strings.NewReader(content))
			if !refusedWith(err, "frame_rejected") {
				t.Errorf("attempt %d: %v", attempt, err)
			}
		}
		movieOf(svc, c, done.JobID).Want(t, http.StatusConflict, "movie_unavailable")
		if files := svc.Files("overviews/" + done.JobID + "/"); len(files) > 0 {
			t.Errorf("kept: %q", files)
		}
	})
}

// silent is a renderer whose Blender turns out to encode no movies.
type silent struct{ synthetic.Renderer }

type silentSession struct{ worker.Session }

func (r silent) Start(ctx context.Context, o blender.Options) (worker.Session, error) {
	s, err := r.Renderer.Start(ctx, o)
	return silentSession{Session: s}, err
}

func (silentSession) Movie(context.Context, blender.Movie) (string, error) {
	return "", &blender.Error{Code: blender.EncoderUnavailable, Message: "this Blender's FFmpeg lacks an encoder"}
}

// A farm whose Blenders encode no movies completes jobs as others do. A caller that asks for a movie is told
// why there is none, nothing of it counts as failed, and a worker that comes later makes it.
func TestAMovieWaitsForAWorkerThatEncodes(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		stop := svc.Worker(silent{})
		job, err := c.Take(c.QuoteOf(story.MovieScene(t), 2))
		if err != nil {
			t.Fatal(err)
		}
		done := c.Await(job.JobID, client.StatusCompleted)
		plain := c.Await(c.StartFrames(2).JobID, client.StatusCompleted)
		await.Until(t, "the worker to say that it encodes none", func() bool {
			return strings.Contains(string(movieOf(svc, c, done.JobID).Body), "movie_unavailable")
		})
		for _, jobID := range []string{done.JobID, plain.JobID} {
			movieOf(svc, c, jobID).Want(t, http.StatusConflict, "No online worker can encode movies. The movie is made when another one comes online.")
		}
		svc.Read(func(ctx context.Context, tx *db.Tx) error {
			dead, err := lease.DeadLetters(ctx, tx, "", 10)
			if len(dead) > 0 {
				t.Errorf("dead letters: %+v", dead)
			}
			return err
		})
		svc.Worker(synthetic.Renderer{})
		for _, jobID := range []string{done.JobID, plain.JobID} {
			await.Until(t, "the movie of "+jobID, func() bool { return len(svc.Files("overviews/"+jobID+"/movie-")) == 1 })
		}
		stop()
	})
}
