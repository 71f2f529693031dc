package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/await"
	"svc.example/internal/work/webhook"
)

const freeText = "sixteen letters and more, ünd others"

func answering(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(strings.Repeat("no\x00 ", 1000)))
	}
}

// TestTriesFollowTheSchedule fails all ten tries of a delivery under a moved clock.
func TestTriesFollowTheSchedule(t *testing.T) {
	t.Parallel()
	each(t, func(_ *testing.T, s *service) {
		r := s.receiver(answering(500))
		s.run()
		jobID := s.endJobWithTarget(r.URL, freeText)
		pauses := contract.WebhookPauses()
		var first hit
		for n := 1; n <= len(pauses); n++ {
			h := r.next(s.t)
			if n == 1 {
				first = h
			}
			if h.id != first.id || !strings.HasPrefix(h.id, "msg_") || !bytes.Equal(h.body, first.body) {
				s.t.Errorf("try %d is another message", n)
			}
			if err := h.signedWith(freeText, true); err != nil {
				s.t.Errorf("try %d: %v", n, err)
			}
			d := s.await(jobID, tried(n))
			a := d.Attempts[n-1]
			if a.Number != n || a.Status == nil || *a.Status != 500 || len(a.Answer) < contract.WebhookAnswerKept || !strings.HasPrefix(a.Answer, "no\uFFFD ") {
				s.t.Errorf("try %d is logged as %+v", n, a)
			}
			if n == len(pauses) {
				if d.Status != webhook.Failed || *d.Reason != webhook.Exhausted || a.NextTryAt != nil {
					s.t.Errorf("after the last try the delivery is %s, reason %v", d.Status, d.Reason)
				}
				break
			}
			wait := d.NextTryAt.Sub(a.StartedAt)
			if least, most := pauses[n]*9/10, pauses[n]*11/10+5*time.Second; wait < least || wait > most {
				s.t.Errorf("after attempt %d it waits %s, want %s to %s", n, wait, least, most)
			}
			s.pass(wait)
		}
		s.pass(48 * time.Hour)
		if len(r.hits) != 0 {
			s.t.Error("it was tried an eleventh time")
		}
		s.audit()
	})
}

func TestAnswerDecidesTheDelivery(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		verdicts := make(chan webhook.Verdict, 100)
		s.Attempted = func(v webhook.Verdict) { verdicts <- v }
		s.run()
		for status, want := range map[int]webhook.Status{
			200: webhook.Delivered, 204: webhook.Delivered, 299: webhook.Delivered, 301: webhook.Pending, 302: webhook.Pending, 307: webhook.Pending,
			400: webhook.Pending, 404: webhook.Pending, 410: webhook.Failed, 429: webhook.Pending, 500: webhook.Pending, 503: webhook.Pending,
		} {
			r := s.receiver(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Location", "/elsewhere")
				rw.WriteHeader(status)
			})
			d := s.await(s.endJobWithTarget(r.URL, ""), tried(1))
			if d.Status != want || *d.Attempts[0].Status != status {
				t.Errorf("%d: it is %s, want %s", status, d.Status, want)
			}
			if status == http.StatusGone && *d.Reason != webhook.Gone {
				t.Errorf("%d: the reason is %s", status, *d.Reason)
			}
			if len(r.hits) != 1 {
				t.Errorf("%d: %d calls; a redirect was followed", status, len(r.hits))
			}
			verdict := webhook.VerdictRefused
			if want == webhook.Delivered {
				verdict = webhook.VerdictDelivered
			}
			if told := await.Next(t, verdicts, "the verdict"); told != verdict {
				t.Errorf("%d: the attempt counts as %s", status, told)
			}
		}
		s.audit()
	})
}

func TestRetryAfterIsNeverUndercut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		s.run()
		for asked, least := range map[string]time.Duration{"3600": time.Hour, "1": 4 * time.Second, "999999999": 24 * time.Hour, "soon": 4 * time.Second} {
			r := s.receiver(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Retry-After", asked)
				rw.WriteHeader(http.StatusServiceUnavailable)
			})
			d := s.await(s.endJobWithTarget(r.URL, ""), tried(1))
			if wait := d.NextTryAt.Sub(d.Attempts[0].StartedAt); wait < least || wait > least*12/10+5*time.Second {
				t.Errorf("Retry-After %s: it waits %s, want %s", asked, wait, least)
			}
		}
	})
}

// TestRotatedSecretSignsBesideTheNewOneForADay checks the header's two
// signatures, then the one.
func TestRotatedSecretSignsBesideTheNewOneForADay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		r := s.receiver(nil)
		s.run()
		e, old := s.endpoint(r.URL, "")
		if !strings.HasPrefix(old, contract.WebhookSecretPrefix) {
			t.Fatalf("the secret is %q", old)
		}
		fresh, ends, err := s.Rotate(t.Context(), s.workspace, e.EndpointID, freeText)
		if err != nil || fresh != "" || ends.IsZero() {
			t.Fatalf("rotated to %q until %s, %v", fresh, ends, err)
		}
		s.await(s.endJob(), isNow(webhook.Delivered))
		h := r.next(t)
		if a, b := h.signedWith(old, false), h.signedWith(freeText, true); a != nil || b != nil {
			t.Errorf("in the overlap: %v, %v", a, b)
		}
		s.pass(contract.WebhookSecretOverlap + time.Second)
		s.await(s.endJob(), isNow(webhook.Delivered))
		h = r.next(t)
		if a, b := h.signedWith(old, false), h.signedWith(freeText, true); a == nil || b != nil {
			t.Errorf("a day later: %v, %v", a, b)
		}
		s.audit()
	})
}

func TestDisabledEndpointReceivesNothingAndCatchesUpOnDemand(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		var works atomic.Bool
		r := s.receiver(func(rw http.ResponseWriter, _ *http.Request) {
			if !works.Load() {
				rw.WriteHeader(500)
			}
		})
		stop := s.run()
		e, _ := s.endpoint(r.URL, "")
		before := s.endJob()
		s.await(before, tried(1))
		no, yes := false, true
		if e, err := s.Change(t.Context(), s.workspace, e.EndpointID, webhook.Change{Enabled: &no}); err != nil || e.Enabled || *e.DisabledReason != webhook.DisabledByCaller {
			t.Fatalf("%+v, %v", e, err)
		}
		if d := s.await(before, isNow(webhook.Failed)); *d.Reason != webhook.WasDisabled {
			t.Errorf("what waited ended by %s", *d.Reason)
		}
		missed := s.endJob()
		if all, err := s.OfJob(t.Context(), missed); err != nil || len(all) != 0 {
			t.Errorf("%+v, %v for a disabled endpoint", all, err)
		}
		if _, err := s.Test(t.Context(), s.workspace, e.EndpointID); !fault.Is(err, fault.EndpointDisabled) {
			t.Errorf("a test of it: %v", err)
		}
		stop()
		works.Store(true)
		if _, err := s.Change(t.Context(), s.workspace, e.EndpointID, webhook.Change{Enabled: &yes}); err != nil {
			t.Fatal(err)
		}
		s.run()
		if n, err := s.RedeliverSince(t.Context(), s.workspace, e.EndpointID, time.Now().Add(-time.Hour)); err != nil || n != 2 {
			t.Errorf("%d redelivered, %v", n, err)
		}
		s.await(before, isNow(webhook.Delivered))
		s.await(missed, isNow(webhook.Delivered))
		if n, err := s.RedeliverSince(t.Context(), s.workspace, e.EndpointID, time.Now().Add(-time.Hour)); err != nil || n != 0 {
			t.Errorf("again: %d redelivered, %v", n, err)
		}
		s.audit()
	})
}

// TestEndpointThatFailsForDaysIsDisabled fails every call until the breaker
// trips.
func TestEndpointThatFailsForDaysIsDisabled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		r := s.receiver(answering(500))
		s.run()
		e, _ := s.endpoint(r.URL+"/?token=secret", "")
		for day := range int(contract.WebhookBreaker / (24 * time.Hour)) {
			got, err := s.Get(t.Context(), s.workspace, e.EndpointID)
			if err != nil || !got.Enabled {
				t.Fatalf("on day %d: %+v, %v", day, got, err)
			}
			s.await(s.endJob(), func(d webhook.Delivery) bool { return d.Tries > 0 })
			s.pass(24*time.Hour + time.Minute) // the next tries trip it on the last day
		}
		got := s.awaitDisabled(e.EndpointID)
		if *got.DisabledReason != webhook.Failing || got.FailingSince == nil {
			t.Errorf("it was disabled as %+v", got)
		}
		var mails []string
		s.notify(func(_ context.Context, to, _, text string) error {
			mails = append(mails, to+"\n"+text)
			return nil
		})
		if len(mails) != 1 || !strings.HasPrefix(mails[0], "owner@example.com\n") || !strings.Contains(mails[0], e.EndpointID) || strings.Contains(mails[0], "token") {
			t.Errorf("the mails are %q", mails)
		}
		s.audit()
	})
}

func TestOneSuccessKeepsAnEndpointInService(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		var works atomic.Bool
		r := s.receiver(func(rw http.ResponseWriter, _ *http.Request) {
			if !works.Load() {
				rw.WriteHeader(500)
			}
		})
		e, _ := s.endpoint(r.URL, "")
		for day := range 7 { // the fourth is a good one
			works.Store(day == 3)
			jobID := s.endJob()
			stop := s.run()
			s.await(jobID, func(d webhook.Delivery) bool { return d.Tries > 0 })
			stop()
			s.later.Add(int64(25 * time.Hour))
		}
		if got, err := s.Get(t.Context(), s.workspace, e.EndpointID); err != nil || !got.Enabled {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestDeadAndSlowReceiversDelayNobody holds one receiver's calls open and lets
// another refuse, each with a backlog; all others receive their events at once.
func TestDeadAndSlowReceiversDelayNobody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		const others, backlog = 20, 60
		release := make(chan struct{})
		tarpit := s.receiver(func(_ http.ResponseWriter, q *http.Request) { hold(q, release) })
		for range backlog {
			s.endJobWithTarget(tarpit.URL, "")
			s.endJobWithTarget("https://127.0.0.1:1024/", "")
		}
		s.run()
		for range 8 { // the most that a delivery queue may have
			tarpit.next(s.t)
		}
		good := s.receiver(nil)
		for i := range others {
			s.await(s.endJobWithTarget(fmt.Sprintf("%s/%d", good.URL, i), ""), isNow(webhook.Delivered))
		}
		if n := len(tarpit.hits); n != 0 {
			t.Errorf("the slow receiver has %d calls open beyond its share", n)
		}
	})
}

func TestSecretsAreSealedAndShownOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		e, secret := s.endpoint("https://127.0.0.1:1024/", "")
		s.write(func(ctx context.Context, tx *db.Tx) error {
			rows, err := tx.WebhookSecretAfter(ctx, "")
			if err != nil || len(rows) != 1 || strings.Contains(rows[0].Sealed, strings.TrimPrefix(secret, "whsec_")) {
				t.Errorf("%+v, %v", rows, err)
			}
			return nil
		})
		got, err := s.Get(t.Context(), s.workspace, e.EndpointID)
		text, _ := json.Marshal(got)
		if err != nil || bytes.Contains(text, []byte("whsec_")) {
			t.Errorf("%s, %v", text, err)
		}
		if err := s.Delete(t.Context(), s.workspace, e.EndpointID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), s.workspace, e.EndpointID); !fault.Is(err, fault.EndpointNotFound) {
			t.Errorf("a deleted one: %v", err)
		}
		s.audit()
	})
}

func TestWorkspaceHasAtMostTenEndpoints(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		for range contract.MaxWebhookEndpoints {
			s.endpoint("https://127.0.0.1:1024/", "")
		}
		_, _, err := s.Create(t.Context(), s.workspace, webhook.NewEndpoint{URL: "https://127.0.0.1:1024/"})
		if !fault.Is(err, fault.EndpointLimitReached) {
			t.Errorf("the eleventh: %v", err)
		}
	})
}
