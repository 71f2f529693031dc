package webhook

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// Oldest is the place before the oldest event that is kept.
const Oldest = "0"

// Bounds of following.
const (
	followPage = 100             // events of one read
	followIdle = 5 * time.Second // without an event before Idle: shorter than the idle timeouts of common proxies
	// followRetry is when a follower beyond the limit may come again.
	followRetry = 5 * time.Second
)

// Followed is an event as a follower gets it: what an endpoint gets, byte for byte.
type Followed struct {
	ID   string // the webhook-id
	Type string
	Body string // JSON, one line
}

// Place is a follower's position among the events of a workspace.
type Place struct {
	ID  string // of the last event that the follower has, or Oldest
	seq int64
}

// Follower receives the events of a workspace. One goroutine at a time calls its
// functions; an error of one ends Follow.
type Follower struct {
	From Place
	// Ends is whether Follow returns once all kept events are sent, instead of waiting
	// for more.
	Ends bool
	// Begin is called once, before the first event, with the place to resume from when
	// the connection breaks before an event has come.
	Begin func(Place) error
	Send  func([]Followed) error
	Idle  func() error
}

// Place finds the place after the event with this id. An empty id is the place after
// the newest event. Errors: invalid_request when the id is none of the workspace's.
func (h *Hooks) Place(ctx context.Context, workspaceID, after string) (p Place, err error) {
	err = h.DB.Read(ctx, func(tx *db.Tx) error {
		switch after {
		case Oldest:
			p = Place{ID: Oldest}
			return nil
		case "":
			newest, err := tx.WebhookEventNewest(ctx, workspaceID)
			if db.IsNotFound(err) {
				p = Place{ID: Oldest}
				return nil
			}
			p = Place{newest.EventID, newest.Seq}
			return err
		}
		seq, err := tx.WebhookEventPlace(ctx, query.WebhookEventPlaceParams{EventID: after, WorkspaceID: workspaceID})
		if db.IsNotFound(err) {
			return fault.Field("header.Last-Event-ID", "is not the id of an event of this workspace")
		}
		p = Place{after, seq}
		return err
	})
	return p, err
}

// Follow sends f each event of the workspace after its place, once and in order, first
// the kept ones, then new ones, until ctx ends. Tests of endpoints are no events here.
// Errors: rate_limited before anything is sent, when the workspace has the maximum
// number of followers in this process; those of f and of ctx.
//
// No event is skipped: the numbers of a workspace's events grow in the order of their
// commits (storeEvent).
func (h *Hooks) Follow(ctx context.Context, workspaceID string, f Follower) error {
	if !h.join(workspaceID) {
		return fault.New(fault.RateLimited, "The workspace has %d event streams, which is the maximum.", h.Followers).After(followRetry)
	}
	defer h.leave(workspaceID)
	// Listening begins before the first read, so that no event falls between the two.
	more, stop := h.DB.Listen(eventTopic(workspaceID))
	defer stop()
	if err := f.Begin(f.From); err != nil {
		return err
	}
	quiet := time.NewTimer(followIdle)
	defer quiet.Stop()
	for {
		sent, err := h.sendBehind(ctx, workspaceID, &f)
		if err != nil || f.Ends {
			return err
		}
		if sent {
			quiet.Reset(followIdle)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-more:
		case <-quiet.C:
			if err := f.Idle(); err != nil {
				return err
			}
			quiet.Reset(followIdle)
		}
	}
}

// sendBehind sends all events after the follower's place, page by page.
func (h *Hooks) sendBehind(ctx context.Context, workspaceID string, f *Follower) (sent bool, err error) {
	for {
		var rows []query.WebhookEventsBehindRow
		err := h.DB.Read(ctx, func(tx *db.Tx) (err error) {
			rows, err = tx.WebhookEventsBehind(ctx, query.WebhookEventsBehindParams{WorkspaceID: workspaceID, Seq: f.From.seq, Max: followPage})
			return err
		})
		if err != nil {
			return sent, fmt.Errorf("read webhook events: %w", err)
		}
		if len(rows) == 0 {
			return sent, nil
		}
		page := make([]Followed, len(rows))
		for i, r := range rows {
			page[i] = Followed{r.EventID, r.Type, r.Body}
			f.From = Place{r.EventID, r.Seq}
		}
		if err := f.Send(page); err != nil {
			return sent, err
		}
		sent = true
	}
}

// join counts a follower of the workspace, unless it has the maximum.
func (h *Hooks) join(workspaceID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.Followers > 0 && h.following[workspaceID] >= h.Followers {
		return false
	}
	h.following[workspaceID]++
	return true
}

func (h *Hooks) leave(workspaceID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.following[workspaceID]--; h.following[workspaceID] == 0 {
		delete(h.following, workspaceID)
	}
}

// eventTopic is the notification topic of a workspace's events.
func eventTopic(workspaceID string) string { return "webhook_event:" + workspaceID }
