package identity_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/identity"
)

// deliveries is what was delivered, and what the next one fails with.
type deliveries struct {
	links []string
	fail  error
}

func (d *deliveries) deliver(_ context.Context, email, link string) error {
	d.links = append(d.links, email+" "+link)
	return d.fail
}

func (h service) ask(email string) error {
	return h.write(func(ctx context.Context, tx *db.Tx) error { return identity.RequestLink(ctx, tx, email) })
}

// sent works off what is due and returns how many pieces that were.
func (h service) sent(d *deliveries) (pieces int) {
	h.t.Helper()
	links := identity.Links{DB: h.DB, Address: links.Links{PublicURL: "https://svc.example"}, Deliver: d.deliver}
	queue := lease.Queue{Name: identity.LinkQueue, LongestPause: time.Second, MaxFailures: identity.MaxDeliveries}
	for {
		var got []lease.Lease
		h.must(func(ctx context.Context, tx *db.Tx) (err error) {
			got, err = lease.Claim(ctx, tx, identity.LinkQueue, "test", 1, time.Minute)
			return err
		})
		if len(got) == 0 {
			return pieces
		}
		pieces++
		if err := links.Send(h.t.Context(), got[0]); err != nil {
			h.must(func(ctx context.Context, tx *db.Tx) error {
				_, err := queue.Fail(ctx, tx, got[0], "", err.Error())
				return err
			})
		}
	}
}

// TestOneAddressFillsNoMailQueue: whoever asks for mails to hundreds of people delays nobody.
func TestOneAddressFillsNoMailQueue(t *testing.T) {
	each(t, func(h service) {
		var shares ratelimit.Shares
		ask := func(address, email string) error {
			return h.write(func(ctx context.Context, tx *db.Tx) error {
				return identity.RequestLink(shares.Of(ctx, address), tx, email)
			})
		}
		queued := 0
		for n := range 240 {
			err := ask("198.51.100.1", fmt.Sprintf("%d@example.com", n))
			if err == nil {
				queued++
			} else if !fault.Is(err, fault.RateLimited) {
				h.t.Fatal(err)
			}
		}
		if most := ratelimit.PoolShares()[ratelimit.SignInMail].Burst; queued > 2*most {
			h.t.Errorf("%d mails of one address wait, want about %d", queued, most)
		}
		if err := ask("198.51.100.2", "customer@example.com"); err != nil {
			h.t.Errorf("a customer: %v", err)
		}
	})
}

// TestLinkIsMadeForAnAddressOnly keeps an operator from passing on a link that
// cannot be opened.
func TestLinkIsMadeForAnAddressOnly(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		err := h.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := identity.CreateSignInLink(ctx, tx, "nobody")
			return err
		})
		if !fault.Is(err, fault.InvalidRequest) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRequestedLinkIsSentAndSignsIn(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		if err := h.ask(" Someone@Example.com"); err != nil {
			h.t.Fatal(err)
		}
		d := &deliveries{}
		if h.sent(d) != 1 {
			h.t.Fatalf("delivered %v", d.links)
		}
		token, found := strings.CutPrefix(d.links[0], "someone@example.com https://svc.example/v1/auth/callback?token=")
		if o, err := h.signIn(token, ""); !found || err != nil || o.Person.WorkspaceID != h.workspace {
			h.t.Errorf("got %+v, %v by %s", o, err, d.links[0])
		}
	})
}

// TestOneMailboxGetsABoundedNumberOfLinks: most mail services deliver a+anything@ to a@.
func TestOneMailboxGetsABoundedNumberOfLinks(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		d := &deliveries{}
		for _, email := range []string{"a+1@example.com", "a+2@example.com", "a+2+3@example.com", "a@example.com", "A+4@example.com", "a+@example.com"} {
			if err := h.ask(email); err != nil {
				h.t.Fatal(err)
			}
			h.sent(d)
		}
		if len(d.links) != 3 {
			h.t.Errorf("one mailbox was sent %d links: %q", len(d.links), d.links)
		}
		for _, other := range []string{"ab@example.com", "a@example.org", "x+a@example.com", "a_b@example.com", "a%@example.com"} {
			if err := h.ask(other); err != nil || h.sent(d) != 1 {
				h.t.Errorf("%s got no link, %v", other, err)
			}
		}
	})
}

func TestAddressGetsABoundedNumberOfLinks(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		d := &deliveries{}
		asked := func(times int) int {
			h.t.Helper()
			before := len(d.links)
			for range times {
				if err := h.ask("a@example.com"); err != nil {
					h.t.Fatal(err) // the answer reveals nothing
				}
				h.sent(d)
			}
			return len(d.links) - before
		}
		if n := asked(10); n != 3 {
			h.t.Errorf("%d links of 10", n)
		}
		if err := h.ask("b@example.com"); err != nil || h.sent(d) != 1 {
			h.t.Errorf("another address: %v", err)
		}
		h.skew.Add(int64(contract.SignInLinkLife))
		if n := asked(1); n != 1 {
			h.t.Errorf("%d links a window later", n)
		}
	})
}

func TestConcurrentRequestsSendOneLink(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if err := h.ask("a@example.com"); err != nil {
					h.t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := h.sent(&deliveries{}); n != 1 {
			h.t.Errorf("%d links", n)
		}
	})
}

func TestUndeliverableLinkIsDeletedRetriedAndDeadLettered(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		if err := h.ask("a@example.com"); err != nil {
			h.t.Fatal(err)
		}
		d := &deliveries{fail: errors.New("the mail server is down")}
		for range 10 {
			h.sent(d)
			h.skew.Add(int64(time.Second))
		}
		if len(d.links) != 6 {
			h.t.Errorf("tried %d times", len(d.links))
		}
		for _, link := range d.links {
			_, token, _ := strings.Cut(link, "token=")
			if _, err := h.signIn(token, ""); !fault.Is(err, fault.LinkInvalid) {
				h.t.Errorf("an undelivered link: %v", err)
			}
		}
		d.fail = nil
		if err := h.ask("a@example.com"); err != nil || h.sent(d) != 1 {
			h.t.Errorf("asked again: %v", err) // what was never delivered counts for nothing
		}
	})
}

func TestOnlyAddressesGetLinks(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		for _, bad := range []string{"", "a", "a@", "Somebody <a@example.com>", "a@example.com\r\nBcc: b@example.com", strings.Repeat("a", 250) + "@example.com"} {
			if err := h.ask(bad); !fault.Is(err, fault.InvalidRequest) {
				h.t.Errorf("%q: %v", bad, err)
			}
		}
	})
}
