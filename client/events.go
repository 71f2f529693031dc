package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Wait returns a job once it has ended. on, which may be nil, gets each event before that. A
// failed or cancelled job is no error: see Job.Status. [Client.Follow] documents which
// failures it survives.
func (c *Client) Wait(ctx context.Context, jobID string, on func(Event)) (*Job, error) {
	var last *Job
	for event, err := range c.Follow(ctx, jobID, "") {
		if err != nil {
			return nil, err
		}
		if on != nil {
			on(event)
		}
		if event.Job != nil {
			last = event.Job
		}
	}
	return last, nil
}

// Follow yields a job's events after the event with the id after, or from the
// beginning when after is empty, up to the event that makes the job terminal. An
// event is yielded once, however often a stream repeats it; a frame that had to be
// rendered again comes again.
//
// It survives lost connections and restarts of the server until the context ends.
// It reopens the stream where it broke, and reads the job itself while no stream is
// available. It yields an error only when the context ends or the server refuses
// for good; the error is the last thing it yields.
func (c *Client) Follow(ctx context.Context, jobID, after string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := &follower{client: c, jobID: jobID, lastID: after, frame: numberOf(after), yield: yield}
		if err := f.run(ctx); err != nil && !errors.Is(err, errDone) {
			yield(Event{}, fmt.Errorf("follow job %s: %w", jobID, &CallError{Server: c.base.String(), Call: "GET " + c.jobPath(jobID, "/events"), cause: err}))
		}
	}
}

// errDone ends a follower without a failure: the job is terminal, or the caller has
// stopped.
var errDone = errors.New("done")

// follower is the state of one loop over events, over all of its connections.
type follower struct {
	client *Client
	jobID  string
	yield  func(Event, error) bool
	lastID string // of the last event handed on
	frame  uint64 // number of the last frame event handed on
	seen   int    // events handed on from streams
	read   *Job   // as last handed on
}

// run alternates between a stream and, when that brought nothing, one read of the
// job. Once the server has answered, an unknown host is a lost network. So a proxy that cuts streams delays events but loses no end of a job.
func (f *follower) run(ctx context.Context) error {
	for failures := 1; ; failures++ {
		before := f.seen
		err := f.stream(ctx)
		if f.seen > before {
			failures = 1 // the stream works, so the next try follows soon
		} else if !errors.Is(err, errDone) {
			err = f.poll(ctx) // an error when the job does not exist
		}
		answered := f.seen > 0 || f.read != nil
		if errors.Is(err, errDone) || (err != nil && !passing(ctx, err) && !(answered && unknownHost(err))) {
			return err
		}
		if stopped := f.client.retry.pause(ctx, failures, WithoutEnd, err); stopped != nil {
			return stopped
		}
	}
}

// stream yields the events of one connection, until it breaks. A connection without
// even a keep-alive for streamIdle counts as broken.
func (f *follower) stream(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, err := f.client.openStream(ctx, cancel, f.client.jobPath(f.jobID, "/events?previews=false"), f.lastID)
	if err != nil {
		return err
	}
	defer body.Close()
	return readMessages(body, f.hand)
}

// openStream opens a stream of server-sent events after the event with the id after.
// cancel must end ctx; it is called when the stream falls silent.
func (c *Client) openStream(ctx context.Context, cancel context.CancelFunc, path, after string) (io.ReadCloser, error) {
	req, err := c.request(ctx, call{method: http.MethodGet, path: path})
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	res, err := c.send(req)
	if err != nil {
		return nil, err
	}
	body := watch(res.Body, cancel)
	if res.StatusCode != http.StatusOK {
		defer body.Close()
		text, _ := io.ReadAll(io.LimitReader(body, maxAnswer)) // the status alone says enough
		return nil, errorFrom(res, text, time.Now())
	}
	return body, nil
}

// hand yields one message unless it was yielded before: a server may repeat events
// from before the point where the stream broke.
func (f *follower) hand(m message) error {
	number := numberOf(m.id)
	if number < numberOf(f.lastID) || (m.kind == "frame" && number != 0 && number <= f.frame) {
		return nil
	}
	event := Event{ID: m.id}
	var into any
	switch m.kind {
	case "job":
		event.Job = new(Job)
		into = event.Job
	case "frame":
		event.Frame = new(FrameEvent)
		into = event.Frame
	default:
		return nil // a type of a later version
	}
	if err := json.Unmarshal([]byte(m.data), into); err != nil {
		return fmt.Errorf("read event %s: %w", m.id, err)
	}
	if m.id != "" {
		f.lastID = m.id
		f.seen++
	}
	if event.Frame != nil {
		f.frame = number
	}
	return f.give(event)
}

// poll reads the job and yields it when it has changed. It makes one try: run is
// the loop around it.
func (f *follower) poll(ctx context.Context) error {
	var job Job
	if err := f.client.try(ctx, call{method: http.MethodGet, path: f.client.jobPath(f.jobID, "")}, &job); err != nil {
		return err
	}
	if f.read != nil && job.Status == f.read.Status && job.UpdatedAt.Equal(f.read.UpdatedAt) {
		return nil
	}
	return f.give(Event{Job: &job})
}

// give yields an event, and returns errDone when nothing comes after it.
func (f *follower) give(event Event) error {
	if event.Job != nil {
		f.read = event.Job
	}
	if !f.yield(event, nil) || (event.Job != nil && event.Job.Terminal()) {
		return errDone
	}
	return nil
}

// numberOf returns the number at the start of an id. It grows with each change of a
// job; progress events repeat it. 0 without one.
func numberOf(id string) uint64 {
	digits, _, _ := strings.Cut(id, ".")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
