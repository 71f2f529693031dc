package ratelimit

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"svc.example/internal/ground/fault"
)

// Pool is something that all callers use up together, whoever they are, and of which each
// address has a share.
type Pool string

// Pools.
const (
	DeviceCodes  Pool = "device_codes" // devices waiting to sign in
	SignInMail   Pool = "sign_in_mail" // the queue of sign-in links
	Descriptions Pool = "descriptions" // descriptions of programs, which are read from their hosts
	Comments     Pool = "comments"     // comments of visitors on shared jobs, of which a job has a bounded number
)

// PoolShares is the share of each pool that an address has in a process. A whole office can
// have one address, so a share is what dozens of people need.
func PoolShares() map[Pool]Policy {
	return map[Pool]Policy{
		DeviceCodes:  {PerMinute: 10, Burst: 60},
		SignInMail:   {PerMinute: 10, Burst: 30},
		Descriptions: {PerMinute: 20, Burst: 30},
		Comments:     {PerMinute: 10, Burst: 30},
	}
}

// Shares counts what addresses take of the pools. Its zero value is ready. It is safe for
// concurrent use.
type Shares struct {
	mu    sync.Mutex
	pools map[Pool]*Local
}

type shareKey struct{}

// share is what the caller of a request takes from.
type share struct {
	of      *Shares
	address string
}

// Of returns a context whose request takes its shares as the caller at an address.
func (s *Shares) Of(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, shareKey{}, share{s, address})
}

// Share takes one from the share that the caller of ctx has of a pool. What no request asks
// for has no caller, and passes. Error: rate_limited.
func Share(ctx context.Context, pool Pool) error {
	caller, ok := ctx.Value(shareKey{}).(share)
	if !ok {
		return nil
	}
	p := PoolShares()[pool]
	d := caller.of.local(pool).Take(p, caller.address, 1)
	if site := siteOf(caller.address); d.Allowed && site != "" {
		p = p.Times(siteShares)
		d = caller.of.local(pool).Take(p, site, 1)
	}
	if d.Allowed {
		return nil
	}
	return fault.New(fault.RateLimited, "Your network address has asked for too many of these; more than %d at once, or %d a minute, are refused.", p.Burst, p.PerMinute).After(max(d.Retry, time.Second))
}

// siteShares is how many shares a site has. One customer has a whole /48 or /56 of IPv6: with
// a share for each /64 of it, one customer would have all.
const siteShares = 4

// siteOf is the /48 around a subnet of IPv6; "" for an address of IPv4.
func siteOf(address string) string {
	subnet, err := netip.ParsePrefix(address)
	if err != nil {
		return ""
	}
	site, err := subnet.Addr().Prefix(48)
	if err != nil {
		return ""
	}
	return site.String()
}

// local returns the counts of a pool.
func (s *Shares) local(pool Pool) *Local {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pools == nil {
		s.pools = map[Pool]*Local{}
	}
	if s.pools[pool] == nil {
		s.pools[pool] = &Local{}
	}
	return s.pools[pool]
}
