package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/test/await"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// follow follows the workspace's events after an id until the test ends, or stop.
func (s *service) follow(after string) (got <-chan webhook.Followed, stop func() error) {
	s.t.Helper()
	from, err := s.Place(s.t.Context(), s.workspace, after)
	if err != nil {
		s.t.Fatal(err)
	}
	events, began, ended := make(chan webhook.Followed, 1000), make(chan struct{}), make(chan error, 1)
	ctx, cancel := context.WithCancel(s.t.Context())
	go func() {
		ended <- s.Follow(ctx, s.workspace, webhook.Follower{
			From: from, Begin: func(webhook.Place) error { close(began); return nil },
			Send: func(page []webhook.Followed) error {
				for _, event := range page {
					events <- event
				}
				return nil
			},
			Idle: func() error { return nil },
		})
	}()
	await.Next(s.t, began, "the beginning of the stream")
	return events, func() error { cancel(); return await.Next(s.t, ended, "the end of the stream") }
}

// next is the ids of the next events.
func (s *service) next(from <-chan webhook.Followed, count int) (ids []string) {
	s.t.Helper()
	for range count {
		ids = append(ids, await.Next(s.t, from, "an event").ID)
	}
	return ids
}

func TestAFollowerGetsEachEventOnceAndInOrderWhereverItResumes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		e, _ := s.endpoint("https://127.0.0.1:1024/", "")
		s.endJobs(250)                                                            // more than a page
		if _, err := s.Test(t.Context(), s.workspace, e.EndpointID); err != nil { // is no event of the workspace
			t.Fatal(err)
		}
		s.write(func(ctx context.Context, tx *db.Tx) error {
			other, err := identity.CreateWorkspace(ctx, tx, "other@example.com")
			if err != nil {
				return err
			}
			return webhook.Publish(ctx, tx, webhook.Event{WorkspaceID: other.WorkspaceID, JobID: id.New(id.Job), Type: contract.EventFailed})
		})
		all, stop := s.follow(webhook.Oldest)
		ids := s.next(all, 250)
		if unique := slices.Compact(slices.Sorted(slices.Values(ids))); len(unique) != 250 {
			t.Errorf("%d events are %d", len(ids), len(unique))
		}
		fromNow, stopNow := s.follow("")
		s.endJobs(2)
		fresh := s.next(all, 2)
		if got := s.next(fromNow, 2); !slices.Equal(got, fresh) {
			t.Errorf("a follower from now on gets %v, want %v", got, fresh)
		}
		if err := errors.Join(stop(), stopNow()); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		s.endJobs(1) // while the connection is cut
		resumed, _ := s.follow(ids[99])
		if got, want := s.next(resumed, 153)[:152], slices.Concat(ids[100:], fresh); !slices.Equal(got, want) {
			t.Errorf("after event 100 come %v, want %v", got, want)
		}
		s.audit()
	})
}

func TestAFollowerGetsTheBodyThatAnEndpointGets(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		r := s.receiver(nil)
		s.endpoint(r.URL, "")
		s.run()
		events, _ := s.follow("")
		jobID := s.endJob()
		d := s.await(jobID, isNow(webhook.Delivered))
		event := await.Next(t, events, "an event")
		if call := r.next(t); event.ID != d.EventID || event.Type != d.EventType || event.Body != string(call.body) {
			t.Errorf("got %+v, the endpoint %s", event, call.body)
		}
	})
}

func TestAPlaceIsThatOfAnEventOfTheWorkspace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		if p, err := s.Place(t.Context(), s.workspace, ""); err != nil || p.ID != webhook.Oldest {
			t.Errorf("without an event: %+v, %v", p, err)
		}
		s.endJob()
		p, err := s.Place(t.Context(), s.workspace, "")
		if err != nil || p.ID == webhook.Oldest {
			t.Errorf("with an event: %+v, %v", p, err)
		}
		for _, strange := range []struct{ workspace, after string }{{"WSP-0", p.ID}, {s.workspace, "msg_0"}, {s.workspace, "7"}} {
			if _, err := s.Place(t.Context(), strange.workspace, strange.after); !fault.Is(err, fault.InvalidRequest) {
				t.Errorf("%+v: %v", strange, err)
			}
		}
	})
}

func TestAWorkspaceHasOnlySoManyFollowersAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		s.Followers = 2
		_, stop := s.follow("")
		s.follow("")
		refused := func() error { return s.Follow(t.Context(), s.workspace, webhook.Follower{}) }
		if err := refused(); !fault.Is(err, fault.RateLimited) {
			t.Errorf("a third follower: %v", err)
		}
		if err := stop(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		s.follow("") // the place is free again
	})
}

// TestForgottenEventsAreNotFollowed resumes at an event that is forgotten: what is kept
// after it comes.
func TestForgottenEventsAreNotFollowed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		s.endJobs(3)
		old, _ := s.follow(webhook.Oldest)
		ids := s.next(old, 3)
		s.pass(s.Life + 1)
		s.forget(3)
		s.endJobs(1)
		for _, after := range []string{webhook.Oldest, ids[0]} {
			events, _ := s.follow(after)
			if got := s.next(events, 1); slices.Contains(ids, got[0]) {
				t.Errorf("after %s comes the forgotten %s", after, got)
			}
		}
		s.audit()
	})
}

// TestAFollowersErrorEndsIt is a connection that broke.
func TestAFollowersErrorEndsIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		s.endJob()
		broken := fmt.Errorf("broken")
		err := s.Follow(t.Context(), s.workspace, webhook.Follower{
			From: webhook.Place{ID: webhook.Oldest}, Begin: func(webhook.Place) error { return nil }, Send: func([]webhook.Followed) error { return broken },
		})
		if !errors.Is(err, broken) {
			t.Error(err)
		}
	})
}
