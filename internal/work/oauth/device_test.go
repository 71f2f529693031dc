package oauth_test

import (
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/oauth"
)

// begin begins a device's sign-in.
func (s service) begin(more ...string) oauth.Device {
	s.t.Helper()
	d, err := s.Begin(s.t.Context(), with(url.Values{"client_id": {oauth.CommandLine}}, more))
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func polling(d oauth.Device, more ...string) url.Values {
	return with(url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "client_id": {oauth.CommandLine}, "device_code": {d.DeviceCode}}, more)
}

// after moves the clock on.
func (s service) after(d time.Duration) { s.skew.Add(int64(d)) }

func (s service) allowDevice(d oauth.Device) error {
	s.t.Helper()
	c, err := s.Clients.Get(s.t.Context(), oauth.CommandLine)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.AllowDevice(s.t.Context(), d.UserCode, c, oauth.Terms{WorkspaceID: s.workspace, SpendLimitCents: 500, Days: 90})
}

func TestADeviceIsLetInByACodeThatAPersonTypes(t *testing.T) {
	each(t, func(s service) {
		d := s.begin("resource", public)
		if d.ExpiresIn != 900 || d.Interval != 5 || d.VerificationURI != public+"/oauth/device" || d.Complete != public+"/oauth/device?user_code="+d.UserCode {
			s.t.Errorf("told %+v", d)
		}
		s.refused("before an answer", oauth.AuthorizationPending, polling(d))
		for _, typed := range []string{d.UserCode, strings.ToLower(d.UserCode), strings.ReplaceAll(d.UserCode, "-", ""), " " + strings.ReplaceAll(d.UserCode, "-", " ") + " "} {
			if w, err := s.Find(s.t.Context(), typed); err != nil || w.UserCode != d.UserCode {
				s.t.Errorf("typed %q: %v", typed, err)
			}
		}
		if err := s.allowDevice(d); err != nil {
			s.t.Fatal(err)
		}
		tokens, err := s.Token(s.t.Context(), polling(d))
		if err != nil || !s.opens(tokens.AccessToken, public) || s.opens(tokens.AccessToken, mcp) || *s.keys()[0].SpendLimitCents != 500 || s.keys()[0].Name != "svc command line" {
			s.t.Errorf("%+v, %v", s.keys(), err)
		}
		s.refused("again", oauth.InvalidGrant, polling(d))
		if s.opens(tokens.AccessToken, public) {
			s.t.Error("a device code that was used twice left a token")
		}
	})
}

func TestADeviceThatAsksTooOftenIsSlowedDown(t *testing.T) {
	each(t, func(s service) {
		d := s.begin()
		s.refused("first", oauth.AuthorizationPending, polling(d))
		s.after(4 * time.Second)
		s.refused("too early", oauth.SlowDown, polling(d))
		s.after(6 * time.Second)
		s.refused("the interval has grown", oauth.SlowDown, polling(d))
		s.after(time.Minute)
		s.refused("in time", oauth.AuthorizationPending, polling(d))
	})
}

func TestADeviceCodeEndsIsAnsweredOnceAndIsItsClients(t *testing.T) {
	each(t, func(s service) {
		d := s.begin()
		s.refused("another client", oauth.InvalidGrant, polling(d, "client_id", s.program.id()))
		s.refused("another code", oauth.InvalidGrant, polling(d, "device_code", d.UserCode))
		s.refused("as a code", oauth.InvalidGrant, s.redemption(d.DeviceCode))
		if err := s.DenyDevice(s.t.Context(), d.UserCode); err != nil {
			s.t.Fatal(err)
		}
		if err := s.allowDevice(d); !fault.Is(err, fault.InvalidRequest) {
			s.t.Errorf("allowed after a no: %v", err)
		}
		s.refused("after a no", oauth.AccessDenied, polling(d))
		late := s.begin()
		s.after(oauth.DeviceLife)
		if err := s.allowDevice(late); !fault.Is(err, fault.InvalidRequest) {
			s.t.Errorf("allowed too late: %v", err)
		}
		s.refused("too late", oauth.ExpiredToken, polling(late))
		for _, typed := range []string{"", "----", "AAAA-AAAA", "BCDF-GHJ", "BCDF-GHJK-L", strings.Repeat("B", 1000)} {
			if _, err := s.Find(s.t.Context(), typed); !fault.Is(err, fault.InvalidRequest) {
				s.t.Errorf("%.20q finds a device: %v", typed, err)
			}
		}
		for name, q := range map[string]url.Values{
			"no client": {}, "a name": {"client_id": {"x"}}, "a resource": {"client_id": {"svc"}, "resource": {"https://x.example"}},
		} {
			if _, err := s.Begin(s.t.Context(), q); err == nil {
				s.t.Errorf("%s: begun", name)
			}
		}
	})
}

func TestADeviceGetsTokensOnceHoweverOftenItAsksAtOnce(t *testing.T) {
	each(t, func(s service) {
		d := s.begin()
		if err := s.allowDevice(d); err != nil {
			s.t.Fatal(err)
		}
		var all sync.WaitGroup
		var given atomic.Int64
		for range 20 {
			all.Go(func() {
				if _, err := s.Token(s.t.Context(), polling(d)); err == nil {
					given.Add(1)
				}
			})
		}
		all.Wait()
		if given.Load() != 1 || len(s.keys()) != 1 {
			s.t.Errorf("%d got tokens, %d keys", given.Load(), len(s.keys()))
		}
	})
}

// TestOneAddressLocksNoOthersDevicesOut asks for as many codes as the service keeps.
func TestOneAddressLocksNoOthersDevicesOut(t *testing.T) {
	each(t, func(s service) {
		var shares ratelimit.Shares
		begin := func(address string) error {
			_, err := s.Begin(shares.Of(s.t.Context(), address), url.Values{"client_id": {oauth.CommandLine}})
			return err
		}
		for range oauth.MaxDevices {
			if err := begin("198.51.100.1"); err != nil && !fault.Is(err, fault.RateLimited) {
				s.t.Fatal(err)
			}
		}
		if err := begin("198.51.100.2"); err != nil {
			s.t.Errorf("a device of another address: %v", err)
		}
	})
}
