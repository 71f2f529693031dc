package ratelimit_test

import (
	"context"
	"fmt"
	"testing"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
)

func TestAnAddressHasItsShareOfEachPool(t *testing.T) {
	t.Parallel()
	for pool, share := range ratelimit.PoolShares() {
		var s ratelimit.Shares
		one, other := s.Of(t.Context(), "198.51.100.1"), s.Of(t.Context(), "198.51.100.2")
		got := 0
		for range 10_000 {
			if ratelimit.Share(one, pool) == nil {
				got++
			}
		}
		if got < share.Burst || got > 2*share.Burst {
			t.Errorf("%s: one address gets %d of 10,000, want about %d", pool, got, share.Burst)
		}
		if err := ratelimit.Share(one, pool); !fault.Is(err, fault.RateLimited) {
			t.Errorf("%s: beyond its share: %v", pool, err)
		}
		if err := ratelimit.Share(other, pool); err != nil {
			t.Errorf("%s: another address: %v", pool, err)
		}
	}
	var s ratelimit.Shares
	got := 0
	for subnet := range 10_000 {
		if ratelimit.Share(s.Of(t.Context(), fmt.Sprintf("2001:db8:1:%x::/64", subnet)), ratelimit.DeviceCodes) == nil {
			got++
		}
	}
	if share := ratelimit.PoolShares()[ratelimit.DeviceCodes]; got > 8*share.Burst {
		t.Errorf("the subnets of one site get %d of 10,000", got)
	}
	if err := ratelimit.Share(s.Of(t.Context(), "2001:db8:2:1::/64"), ratelimit.DeviceCodes); err != nil {
		t.Errorf("another site: %v", err)
	}
	if err := ratelimit.Share(context.Background(), ratelimit.DeviceCodes); err != nil {
		t.Errorf("what no request asks for: %v", err)
	}
}
