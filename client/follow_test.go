package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"svc.example/client"
)

// happened is a job of n frames: queued, each frame, completed.
func happened(n int) []string {
	events := []string{`event: job` + "\n" + `data: {"job_id":"JOB-1","status":"queued","frame_count":` + fmt.Sprint(n) + `}`}
	for i := 1; i <= n; i++ {
		events = append(events, fmt.Sprintf("event: frame\ndata: {\"job_id\":\"JOB-1\",\ndata: \"frame\":%d,\"frames_completed\":%d}", i, i))
	}
	return append(events, "event: job\ndata: {\"job_id\":\"JOB-1\",\"status\":\"completed\"}")
}

// frames collects the numbers of frame events.
func frames(into *[]int) func(client.Event) {
	return func(e client.Event) {
		if e.Frame != nil {
			*into = append(*into, e.Frame.Frame)
		}
	}
}

func TestStreamResumesWhereItBroke(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s, c, _ := setup(t)
		defer s.Close()
		s.events = happened(rapid.IntRange(1, 8).Draw(rt, "frames"))
		s.polled = []string{`{"job_id":"JOB-1","status":"rendering"}`}
		for _, cut := range rapid.SliceOfN(rapid.IntRange(0, 600), 0, 5).Draw(rt, "cuts") {
			s.faults["GET /node/v1/jobs/{id}/events"] = append(s.faults["GET /node/v1/jobs/{id}/events"], cutAfter(cut))
		}
		var got []int
		job, err := c.Wait(context.Background(), "JOB-1", frames(&got))
		if err != nil || job.Status != client.StatusCompleted {
			rt.Fatalf("the job was %v, error %v", job, err)
		}
		if len(got) != len(s.events)-2 {
			rt.Fatalf("frames told: %v", got)
		}
		for i, frame := range got {
			if frame != i+1 {
				rt.Fatalf("each frame once and in order, told: %v", got)
			}
		}
	})
}

func TestStreamThatBringsSomethingIsOpenedAgainSoon(t *testing.T) {
	t.Parallel()
	s, c, w := setup(t)
	s.events = happened(8)
	for until := range 9 { // one event more each time
		s.faults["GET /node/v1/jobs/{id}/events"] = append(s.faults["GET /node/v1/jobs/{id}/events"],
			func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) { s.write(w, r, until+1) })
	}
	if _, err := c.Wait(t.Context(), "JOB-1", nil); err != nil {
		t.Fatal(err)
	}
	for i, r := range s.to("/node/v1/jobs/JOB-1/events") {
		want := fmt.Sprint(i)
		if i == 0 {
			want = ""
		}
		if got := r.Header.Get("Last-Event-ID"); got != want {
			t.Errorf("stream %d was opened after event %q, wanted %q", i, got, want)
		}
	}
	for _, d := range w.taken {
		if d > 250*time.Millisecond {
			t.Errorf("waits were %v", w.taken)
		}
	}
}

func TestRepeatedEventsAreYieldedOnce(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.events = happened(3)
	forgetful := func(until int) fault {
		return func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
			r.Header.Del("Last-Event-ID")
			s.write(w, r, until)
		}
	}
	s.faults["GET /node/v1/jobs/{id}/events"] = []fault{forgetful(2), forgetful(3), forgetful(5)}
	var got []int
	if _, err := c.Wait(t.Context(), "JOB-1", frames(&got)); err != nil || fmt.Sprint(got) != "[1 2 3]" {
		t.Errorf("frames told: %v, error %v", got, err)
	}
}

func TestFollowReadsTheJobWhereThereIsNoStream(t *testing.T) {
	t.Parallel()
	s, c, w := setup(t)
	for range 10 {
		s.faults["GET /node/v1/jobs/{id}/events"] = append(s.faults["GET /node/v1/jobs/{id}/events"], refusal(404, "route_not_found", nil, nil))
	}
	s.polled = []string{
		`{"job_id":"JOB-1","status":"queued"}`,
		`{"job_id":"JOB-1","status":"queued"}`,
		`{"job_id":"JOB-1","status":"rendering"}`,
		`{"job_id":"JOB-1","status":"failed","failure":{"code":"out_of_memory"}}`,
	}
	var told []string
	job, err := c.Wait(t.Context(), "JOB-1", func(e client.Event) { told = append(told, e.Job.Status) })
	if err != nil || job.Failure == nil || job.Failure.Code != "out_of_memory" {
		t.Fatalf("job %+v, error %v", job, err)
	}
	if strings.Join(told, " ") != "queued rendering failed" {
		t.Errorf("each change once, told: %v", told)
	}
	if len(w.taken) != 3 || w.taken[2] <= w.taken[0] {
		t.Errorf("reads must become rarer, waits were %v", w.taken)
	}
}

func TestFollowSurvivesAnOutage(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.events = happened(2)
	for range 40 { // far more than the tries of one call
		s.faults["GET /node/v1/jobs/{id}/events"] = append(s.faults["GET /node/v1/jobs/{id}/events"], hangUp(0))
		s.faults["GET /node/v1/jobs/{id}"] = append(s.faults["GET /node/v1/jobs/{id}"], refusal(502, "", nil, nil))
	}
	var got []int
	job, err := c.Wait(t.Context(), "JOB-1", frames(&got))
	if err != nil || job.Status != client.StatusCompleted || len(got) != 2 {
		t.Fatalf("job %+v, frames %v, error %v", job, got, err)
	}
}

func TestFollowEndsWhenTheJobIsNotThere(t *testing.T) {
	t.Parallel()
	s, c, w := setup(t)
	s.faults["GET /node/v1/jobs/{id}/events"] = []fault{refusal(404, "render_not_found", nil, nil)}
	_, err := c.Wait(t.Context(), "JOB-2", nil)
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Code != "render_not_found" || len(w.taken) != 0 {
		t.Fatalf("wanted render_not_found at once, got %v after %d waits", err, len(w.taken))
	}
}

func TestEventsStopWhenTheCallerDoes(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.events = happened(5)
	var ids []string
	for event, err := range c.Follow(t.Context(), "JOB-1", "2") {
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, event.ID); len(ids) == 2 {
			break
		}
	}
	if strings.Join(ids, " ") != "3 4" || len(s.to("/node/v1/jobs/JOB-1/events")) != 1 {
		t.Errorf("asked for two events after number 2, got %v", ids)
	}
}

// roundTrip is a server without a network, for tests on invented time.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// silent is a connection that says nothing until its request is cancelled.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) { <-s.ctx.Done(); return 0, s.ctx.Err() }
func (silent) Close() error               { return nil }

func TestSilentConnectionCountsAsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		streams := 0
		serve := roundTrip(func(r *http.Request) (*http.Response, error) {
			reply := func(body io.ReadCloser) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: body, Request: r}, nil
			}
			if !strings.HasSuffix(r.URL.Path, "/events") {
				return reply(io.NopCloser(strings.NewReader(`{"job_id":"JOB-1","status":"rendering"}`)))
			}
			if streams++; streams == 1 {
				return reply(silent{r.Context()})
			}
			return reply(io.NopCloser(strings.NewReader("id: 1\nevent: job\ndata: {\"status\":\"completed\"}\n\n")))
		})
		c, err := client.New("http://svc.test", "k", client.WithHTTPClient(&http.Client{Transport: serve}))
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		job, err := c.Wait(t.Context(), "JOB-1", nil)
		if err != nil || job.Status != client.StatusCompleted {
			t.Fatalf("job %+v, error %v", job, err)
		}
		if took := time.Since(begin); took < time.Minute || took > 2*time.Minute {
			t.Errorf("a minute of silence is a lost connection; it took %v", took)
		}
	})
}
