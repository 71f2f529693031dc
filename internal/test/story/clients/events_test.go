package clients_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
)

// TestAWatcherMissesNoFrameOverARestart follows a job with one watcher that
// stays and one that goes away with the server and comes back with the id of
// the last event it saw.
func TestAWatcherMissesNoFrameOverARestart(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		const frames = 6
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		g := story.BarrierAt(3)
		svc.Worker(&story.Painter{Before: g.Pass})
		job := c.StartFrames(frames)

		type watched struct {
			frames []int
			err    error
		}
		stayed := make(chan watched, 1)
		staying := c.Follow(story.Patient(t), job.JobID, "")
		go func() {
			var seen watched
			for e, err := range staying {
				seen.err = errors.Join(seen.err, err)
				if e.Frame != nil {
					seen.frames = append(seen.frames, e.Frame.Frame)
				}
			}
			stayed <- seen
		}()

		seen, last := watchJob(c, job.JobID, "", 2)
		svc.Stop()
		g.Open() // frames are rendered while the service is down
		svc.Restart()
		rest, _ := watchJob(c, job.JobID, last, frames)
		if len(seen) != 2 || len(rest) != frames-2 {
			t.Errorf("saw frames %v before and %v after the restart, want 2 and %d", seen, rest, frames-2)
		}
		want := []int{1, 2, 3, 4, 5, 6}
		if all := slices.Sorted(slices.Values(append(seen, rest...))); !slices.Equal(all, want) {
			t.Errorf("the watcher that came back saw %v, want each frame once", all)
		}
		saw := await.Next(t, stayed, "the end of the watcher that stayed")
		if all := slices.Sorted(slices.Values(saw.frames)); saw.err != nil || !slices.Equal(all, want) {
			t.Errorf("the watcher that stayed saw %v, %v, want each frame once", all, saw.err)
		}
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), frames)
		svc.SettledOnce(c, frames)
	})
}

// watchJob follows a job after the event with the id after until upTo frames are
// accepted in all, or the job has ended.
func watchJob(c story.Caller, jobID, after string, upTo int) (frames []int, last string) {
	c.T.Helper()
	for e, err := range c.Follow(story.Patient(c.T), jobID, after) {
		if err != nil {
			c.T.Fatal(err)
		}
		last = e.ID
		if e.Frame == nil {
			continue
		}
		frames = append(frames, e.Frame.Frame)
		if e.Frame.FramesCompleted >= upTo {
			break
		}
	}
	return frames, last
}

// TestAJobHasOnlySoManyWatchers opens one event stream of a job more than it may have, and
// again when one of the others has ended.
func TestAJobHasOnlySoManyWatchers(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.Watchers = 2
		svc := story.StartLone(t, config)
		c := svc.Caller(story.Credit)
		job := c.StartFrames(1)
		open := func() *http.Response {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, svc.URL+"/node/v1/jobs/"+job.JobID+"/events", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+c.Agent.Secret)
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = answer.Body.Close() })
			return answer
		}
		first := open()
		if second := open(); first.StatusCode != http.StatusOK || second.StatusCode != http.StatusOK {
			t.Fatalf("the streams are answered %d and %d", first.StatusCode, second.StatusCode)
		}
		refused := open()
		var body struct{ Error struct{ Code string } }
		if err := json.NewDecoder(refused.Body).Decode(&body); err != nil || refused.StatusCode != http.StatusTooManyRequests ||
			body.Error.Code != string(fault.RateLimited) || refused.Header.Get("Retry-After") == "" {
			t.Errorf("one more is answered %d %+v, %v", refused.StatusCode, body, err)
		}
		if err := first.Body.Close(); err != nil {
			t.Fatal(err)
		}
		await.Until(t, "a place for another watcher", func() bool { return open().StatusCode == http.StatusOK })
	})
}
