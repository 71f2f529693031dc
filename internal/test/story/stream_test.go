package story_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/watch"
)

// streamEvent is an event as a stream brings it.
type streamEvent struct {
	id, kind string
	preview  struct {
		Frame       int    `json:"frame"`
		ContentType string `json:"content_type"`
		Data        []byte `json:"data"`
	}
	job struct {
		Status          string  `json:"status"`
		ProgressPercent float64 `json:"progress_percent"`
	}
}

// listen reads a job's events behind the one with the id after, as any program
// does that knows nothing but HTTP, until on says enough or the stream ends.
func (c caller) listen(url, jobID, after string, on func(streamEvent) (enough bool)) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(patient(c.t), http.MethodGet, url+"/v1/renders/"+jobID+"/events", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.account.Secret)
	if after != "" {
		request.Header.Set("Last-Event-ID", after)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode == http.StatusNoContent {
		return // the client has the end already (decisions 26)
	}
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		c.t.Fatalf("the stream answers %s: %s", answer.Status, text)
	}
	text := json.NewDecoder(&unframed{from: answer.Body})
	for {
		var raw struct {
			ID, Kind string
			Data     json.RawMessage
		}
		if err := text.Decode(&raw); err != nil {
			return // the stream has ended
		}
		s := streamEvent{id: raw.ID, kind: raw.Kind}
		switch raw.Kind {
		case "preview":
			err = json.Unmarshal(raw.Data, &s.preview)
		case "job":
			err = json.Unmarshal(raw.Data, &s.job)
		}
		if err != nil {
			c.t.Fatal(err)
		}
		if on(s) {
			return
		}
	}
}

// unframed turns server-sent events into JSON objects with id, kind and data.
type unframed struct {
	from io.Reader
	in   bytes.Buffer
	out  bytes.Buffer
}

func (u *unframed) Read(p []byte) (int, error) {
	for u.out.Len() == 0 {
		chunk := make([]byte, 32<<10)
		n, err := u.from.Read(chunk)
		u.in.Write(chunk[:n])
		for {
			event, rest, found := strings.Cut(u.in.String(), "\n\n")
			if !found {
				break
			}
			u.in.Reset()
			u.in.WriteString(rest)
			u.event(event)
		}
		if err != nil && u.out.Len() == 0 {
			return 0, err
		}
	}
	return u.out.Read(p)
}

func (u *unframed) event(text string) {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		fields[name] = value
	}
	if fields["data"] != "" {
		fmt.Fprintf(&u.out, `{"ID":%q,"Kind":%q,"Data":%s}`, fields["id"], fields["event"], fields["data"])
	}
}

// wantPreview checks that a preview is a small JPEG.
func wantPreview(t *testing.T, s streamEvent) {
	t.Helper()
	picture, err := jpeg.Decode(bytes.NewReader(s.preview.Data))
	if err != nil || s.preview.ContentType != "image/jpeg" || picture.Bounds().Dx() > 320 {
		t.Errorf("the preview of frame %d is no small JPEG: %v", s.preview.Frame, err)
	}
}

// TestPreviewsTravelInTheStreamOnceEach goes away behind the second of five
// previews, comes back when the service has been restarted and three more
// frames are in, and sees the others, the last before the job's end.
func TestPreviewsTravelInTheStreamOnceEach(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		c := svc.caller(credit)
		g := barrierAt(3)
		svc.worker(&painter{before: g.pass})
		job := c.start(5)
		var seen []int
		var last string
		note := func(s streamEvent) {
			if s.kind == "preview" {
				wantPreview(t, s)
				seen = append(seen, s.preview.Frame)
			}
			if s.id != "" {
				last = s.id
			}
		}
		c.listen(svc.url, job.JobID, "", func(s streamEvent) bool { note(s); return len(seen) == 2 })
		svc.stop()
		g.open()
		svc.restart()
		ended := ""
		c.listen(svc.url, job.JobID, last, func(s streamEvent) bool {
			note(s)
			if ended != "" {
				t.Errorf("%s came behind the end", s.kind)
			}
			if s.kind == "job" && s.job.Status == client.StatusCompleted {
				ended = s.id
			}
			return false
		})
		if got := slices.Sorted(slices.Values(seen)); !slices.Equal(got, []int{1, 2, 3, 4, 5}) || ended == "" {
			t.Errorf("previews of %v came, and the end %q; want each once, then the end", seen, ended)
		}
		// A client that comes back with the id of the end is told nothing more.
		c.listen(svc.url, job.JobID, ended, func(s streamEvent) bool {
			t.Errorf("%s %s came again", s.kind, s.id)
			return false
		})
		svc.settledOnce(c, 5)
	})
}

// TestAStreamResumesAtAnotherServer has two servers over one PostgreSQL: frames
// come in at the one, a watcher goes from the other to the first and back.
func TestAStreamResumesAtAnotherServer(t *testing.T) {
	t.Parallel()
	config := app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "postgres"), Log: logOf(t)}
	one := start(t, config)
	two := start(t, config)
	c := one.caller(credit)
	g := barrierAt(3)
	one.worker(&painter{before: g.pass})
	job := c.start(4)
	var frames, previews int
	var last string
	count := func(s streamEvent) {
		switch s.kind {
		case "frame":
			frames++
		case "preview":
			previews++
		}
		last = s.id
	}
	c.listen(two.url, job.JobID, "", func(s streamEvent) bool { count(s); return frames == 2 && previews == 2 })
	c.listen(one.url, job.JobID, last, func(s streamEvent) bool { count(s); g.open(); return frames == 3 })
	c.listen(two.url, job.JobID, last, func(s streamEvent) bool { count(s); return false })
	if frames != 4 || previews != 4 {
		t.Errorf("%d frames and %d previews came, want each once", frames, previews)
	}
	one.settledOnce(c, 4)
}

func TestProgressInsideAFrameIsSent(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		config.LeaseLife = 3 * lapse // a worker on a busy machine keeps its frame
		svc := start(t, config)
		c := svc.caller(credit)
		g := barrierAt(2)
		svc.worker(&painter{before: func(ctx context.Context, frame int) error {
			if frame == 2 {
				tell, _ := ctx.Value(progressKey{}).(func(float64))
				tell(0.5)
			}
			return g.pass(ctx, frame)
		}})
		job := c.start(2)
		c.listen(svc.url, job.JobID, "", func(s streamEvent) bool { return s.job.ProgressPercent == 75 })
		half, err := c.Job(patient(t), job.JobID)
		if err != nil || half.ETASeconds == nil || half.ETARange == nil || half.ETARange.LowSeconds > *half.ETASeconds || half.ETARange.HighSeconds < *half.ETASeconds {
			t.Errorf("in the middle of the last frame: %+v, %v", half, err)
		}
		g.open()
		c.await(job.JobID, client.StatusCompleted)
	})
}

// TestManyWatchersGetTheSameEvent has a crowd watch a job: each of them is
// handed the very same events, which were read and encoded once.
func TestManyWatchersGetTheSameEvent(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		const crowd = 200
		config.Watchers = crowd
		svc := start(t, config)
		c := svc.caller(credit)
		g := barrierAt(1)
		svc.worker(&painter{before: g.pass})
		job := c.start(3)
		if _, err := g.await(patient(t)); err != nil {
			t.Fatal(err)
		}
		reader := svc.app.Watch(svc.app.Jobs(svc.app.Links(svc.url)))
		var mu sync.Mutex
		received := map[*watch.Event]int{} // frames, by how many have received them
		var there, all sync.WaitGroup
		there.Add(crowd)
		for range crowd {
			all.Go(func() {
				first := sync.OnceFunc(there.Done)
				defer first() // one that sees nothing is not waited for
				err := reader.Watch(patient(t), c.workspace, job.JobID, watch.Watcher{Previews: true, Idle: func() error { return nil }, Send: func(events []watch.Delivery) error {
					first()
					mu.Lock()
					defer mu.Unlock()
					for _, e := range events {
						if e.Kind != watch.JobEvent {
							received[e.Event]++
						}
					}
					return nil
				}})
				if err != nil {
					t.Error(err)
				}
			})
		}
		there.Wait()
		g.open()
		all.Wait()
		if len(received) != 6 {
			t.Errorf("%d different events for 3 frames and their previews", len(received))
		}
		for e, n := range received {
			if n != crowd {
				t.Errorf("%s %d was told to %d of %d", e.Kind, e.Seq, n, crowd)
			}
		}
		svc.settledOnce(c, 3)
	})
}
