package api_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/operator"
)

// TestAWorkspaceSpendsNoMoreThanItsLimitOfADay: one cent too few refuses the start, reserves
// nothing and says what is left; a limit that just covers it admits one job and no second.
func TestAWorkspaceSpendsNoMoreThanItsLimitOfADay(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, s *service) {
		first := s.put(nil, nil)
		price := int64(first.body["price_cents"].(float64))
		limit := func(cents int64) {
			t.Helper()
			s.act(func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.LimitSpending(ctx, tx, s.workspaceOf(first.text("job_id")), cents)
			})
		}
		refused := func(spent, most int64) {
			t.Helper()
			a := s.put(nil, nil)
			if a.status != 402 || a.code() != fault.SpendLimitReached {
				t.Fatalf("beyond the limit: %d %v", a.status, a.body)
			}
			got := fmt.Sprint(a.body["error"].(map[string]any)["detail"])
			if want := fmt.Sprintf("map[required_cents:%d spend_limit_cents:%d spent_cents:%d]", price, most, spent); got != want {
				t.Errorf("detail %s, want %s", got, want)
			}
		}
		wallet := func(limit, spent any) {
			t.Helper()
			a := s.call("GET", "/v1/wallet", s.account, body{})
			if a.body["daily_limit_cents"] != limit || a.body["spent_today_cents"] != spent {
				t.Errorf("the wallet says %v, want a limit of %v and %v spent", a.body, limit, spent)
			}
		}
		wallet(nil, nil)
		limit(2*price - 1)
		wallet(float64(2*price-1), float64(price))
		refused(price, 2*price-1)
		refused(price, 2*price-1) // the refused one does not count
		limit(2 * price)
		second := s.put(nil, nil)
		if second.status >= 300 {
			t.Fatalf("within the limit: %d %v", second.status, second.body)
		}
		refused(2*price, 2*price)
		s.call("POST", "/v1/renders/"+second.text("job_id")+"/cancel", s.account, body{})
		if a := s.put(nil, nil); a.status >= 300 { // a cancelled job does not count
			t.Errorf("after a cancellation: %d %v", a.status, a.body)
		}
		limit(0)
		if a := s.put(nil, nil); a.status >= 300 {
			t.Errorf("without a limit: %d %v", a.status, a.body)
		}
	})
}

// TestStartsAtOnceDoNotShareWhatIsLeftOfADay: of four starts at once, a limit that covers two
// jobs, one of them made before, admits one.
func TestStartsAtOnceDoNotShareWhatIsLeftOfADay(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(_ *testing.T, s *service) {
		first := s.put(nil, nil)
		price := int64(first.body["price_cents"].(float64))
		s.act(func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
			return operator.LimitSpending(ctx, tx, s.workspaceOf(first.text("job_id")), 2*price)
		})
		s.admitsOne(4, func(int) string { return s.account })
	})
}

// admitsOne starts jobs at once, each with a key, of which the limit has room for one.
func (s *service) admitsOne(starts int, key func(i int) string) {
	s.t.Helper()
	statuses := make(chan int, starts)
	for i := range starts {
		form := s.form(nil, "scene.blend", demo.Scene())
		go func() {
			res, _ := s.send("POST", "/v1/renders", key(i), nil, bytes.NewReader(form.data), form.kind)
			statuses <- res.StatusCode
		}()
	}
	got := map[int]int{}
	for range starts {
		got[<-statuses]++
	}
	if got[402] != starts-1 || len(got) != 2 {
		s.t.Errorf("statuses %v, want %d of 402 and one start", got, starts-1)
	}
}
