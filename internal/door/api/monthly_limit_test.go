package api_test

import (
	"fmt"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
)

// limited is the person who owns a workspace, with two keys of theirs.
type limited struct {
	*service
	who  identity.Principal
	keys [2]string
}

func (s *service) limited() limited {
	s.t.Helper()
	l := limited{service: s}
	err := s.app.DB.Write(s.t.Context(), func(tx *db.Tx) error {
		p, err := identity.CreateWorkspace(s.t.Context(), tx, s.owner)
		l.who = identity.Principal{WorkspaceID: p.WorkspaceID, Credential: identity.Credential{Kind: identity.SessionCredential, PersonID: p.PersonID}}
		for i := range l.keys {
			var key identity.NewKey
			if err == nil {
				key, err = identity.CreateOwnAccountKey(s.t.Context(), tx, l.who, "mine", false)
			}
			l.keys[i] = key.Secret
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

// limit sets the person's own limit; below 0 for none.
func (l limited) limit(cents int64) {
	l.t.Helper()
	limit := &cents
	if cents < 0 {
		limit = nil
	}
	err := l.app.DB.Write(l.t.Context(), func(tx *db.Tx) error {
		return identity.SetMonthlyLimit(l.t.Context(), tx, l.who, l.who.Credential.PersonID, limit)
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l limited) start(key string) answer {
	l.t.Helper()
	return l.call("POST", "/v1/renders", key, l.form(nil, "scene.blend", demo.Scene()))
}

// begun is start that must succeed.
func (l limited) begun(key string) answer {
	l.t.Helper()
	a := l.start(key)
	if a.status >= 300 {
		l.t.Fatalf("start: %d %v", a.status, a.body)
	}
	return a
}

// TestAPersonSpendsNoMoreThanTheirLimitOfAMonth, with all their keys together. What others start
// does not count, nor does a job that was cancelled.
func TestAPersonSpendsNoMoreThanTheirLimitOfAMonth(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, s *service) {
		l := s.limited()
		if a := s.put(nil, nil); a.status >= 300 { // by a key of an operator
			t.Fatalf("%d %v", a.status, a.body)
		}
		first := l.begun(l.keys[0])
		price := int64(first.body["price_cents"].(float64))
		refused := func(spent, most int64) {
			t.Helper()
			for _, key := range l.keys {
				a := l.start(key)
				if a.status != 402 || a.code() != fault.SpendLimitReached {
					t.Fatalf("beyond the limit: %d %v", a.status, a.body)
				}
				got := fmt.Sprint(a.body["error"].(map[string]any)["detail"])
				if want := fmt.Sprintf("map[required_cents:%d spend_limit_cents:%d spent_cents:%d]", price, most, spent); got != want {
					t.Errorf("detail %s, want %s", got, want)
				}
			}
		}
		wallet := func(key string, limit, spent any) {
			t.Helper()
			a := s.call("GET", "/v1/wallet", key, body{})
			if a.body["monthly_limit_cents"] != limit || a.body["spent_this_month_cents"] != spent {
				t.Errorf("the wallet says %v, want a limit of %v and %v spent", a.body, limit, spent)
			}
		}
		wallet(l.keys[1], nil, nil)
		l.limit(2*price - 1)
		wallet(l.keys[1], float64(2*price-1), float64(price))
		wallet(s.account, nil, nil)
		refused(price, 2*price-1)
		refused(price, 2*price-1) // the refused ones do not count
		if a := s.put(nil, nil); a.status >= 300 {
			t.Errorf("a key of an operator: %d %v", a.status, a.body)
		}
		l.limit(2 * price)
		second := l.begun(l.keys[1])
		refused(2*price, 2*price)
		s.call("POST", "/v1/renders/"+second.text("job_id")+"/cancel", l.keys[0], body{})
		l.begun(l.keys[0]) // a cancelled job does not count
		l.limit(0)
		refused(2*price, 0)
		l.limit(-1)
		l.begun(l.keys[1])
		s.sound()
	})
}

// TestStartsAtOnceDoNotShareWhatIsLeftOfAPersonsMonth: of six starts at once by two keys, a limit
// that covers two jobs, one of them made before, admits one.
func TestStartsAtOnceDoNotShareWhatIsLeftOfAPersonsMonth(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(_ *testing.T, s *service) {
		l := s.limited()
		l.limit(2 * int64(l.begun(l.keys[0]).body["price_cents"].(float64)))
		s.admitsOne(6, func(i int) string { return l.keys[i%len(l.keys)] })
	})
}

// TestAPersonWhoHasJustLeftStartsNothing by a request that was authenticated before.
func TestAPersonWhoHasJustLeftStartsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		gone := s.limited().who
		gone.Credential.PersonID, gone.Scopes = "PER-00000000000000000000000000000000", identity.AllScopes()
		err := s.app.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := s.app.Jobs(links.Links{}).Start(t.Context(), tx, job.StartRequest{Principal: gone, UploadID: s.upload, QuoteID: s.quote, Flow: job.FlowJobAPI})
			return err
		})
		if !fault.Is(err, fault.InsufficientRole) {
			t.Errorf("a start: %v", err)
		}
	})
}
