package oauth_test

import (
	"context"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/oauth"
)

// guardOf permits what the service of a test may read.
func guardOf(s service) outbound.Config {
	_, guard := newProgram(s.t)
	guard.Roots.AddCert(s.program.Certificate())
	return guard
}

func TestACodeIsGoodForItsProgramAddressAndVerifierAlone(t *testing.T) {
	each(t, func(s service) {
		code := s.allow(s.question()).Get("code")
		for name, c := range map[string]struct {
			code string
			form url.Values
		}{
			"another program":      {oauth.InvalidGrant, s.redemption(code, "client_id", "https://evil.example/client.json")},
			"the command line":     {oauth.InvalidGrant, s.redemption(code, "client_id", oauth.CommandLine)},
			"no program":           {oauth.InvalidClient, s.redemption(code, "client_id", "")},
			"another address":      {oauth.InvalidGrant, s.redemption(code, "redirect_uri", "https://app.example/back")},
			"no address":           {oauth.InvalidGrant, s.redemption(code, "redirect_uri", "")},
			"another verifier":     {oauth.InvalidGrant, s.redemption(code, "code_verifier", verifier+"x")},
			"no verifier":          {oauth.InvalidGrant, s.redemption(code, "code_verifier", "")},
			"the challenge":        {oauth.InvalidGrant, s.redemption(code, "code_verifier", challengeOf(verifier))},
			"another code":         {oauth.InvalidGrant, s.redemption(code + "x")},
			"no code":              {oauth.InvalidGrant, s.redemption("")},
			"another resource":     {oauth.InvalidTarget, s.redemption(code, "resource", public)},
			"a secret":             {oauth.InvalidClient, s.redemption(code, "client_secret", "x")},
			"as a device":          {oauth.InvalidGrant, s.redemption(code, "grant_type", "urn:ietf:params:oauth:grant-type:device_code", "device_code", code)},
			"a password":           {oauth.UnsupportedGrant, s.redemption(code, "grant_type", "password")},
			"the program's own":    {oauth.UnsupportedGrant, s.redemption(code, "grant_type", "client_credentials")},
			"two codes":            {oauth.InvalidRequest, url.Values{"code": {code, code}}},
			"an overlong verifier": {oauth.InvalidGrant, s.redemption(code, "code_verifier", verifier+verifier+verifier)},
		} {
			s.refused(name, c.code, c.form)
		}
		if _, err := s.Token(s.t.Context(), s.redemption(code)); err != nil {
			s.t.Errorf("the program itself, after all that: %v", err)
		}
	})
}

func TestACodeEndsAfterAMinute(t *testing.T) {
	each(t, func(s service) {
		code := s.allow(s.question()).Get("code")
		s.skew.Store(int64(oauth.CodeLife))
		s.refused("after a minute", oauth.InvalidGrant, s.redemption(code))
		s.skew.Store(int64(-time.Hour)) // a clock that was set back revives nothing for long
		code = s.allow(s.question()).Get("code")
		s.skew.Store(0)
		s.refused("of an hour ago", oauth.InvalidGrant, s.redemption(code))
	})
}

func TestACodeUsedTwiceRevokesWhatItGave(t *testing.T) {
	each(t, func(s service) {
		code := s.allow(s.question()).Get("code")
		tokens, err := s.Token(s.t.Context(), s.redemption(code))
		if err != nil {
			s.t.Fatal(err)
		}
		s.refused("again", oauth.InvalidGrant, s.redemption(code))
		if s.opens(tokens.AccessToken, mcp) || s.keys()[0].RevokedAt == nil {
			s.t.Error("the first token still works")
		}
		s.refused("its refresh token", oauth.InvalidGrant, s.refreshing(tokens.RefreshToken))
	})
}

func TestOfManyUsesOfACodeAtOnceNoTokenIsLeft(t *testing.T) {
	each(t, func(s service) {
		code := s.allow(s.question()).Get("code")
		var all sync.WaitGroup
		var given atomic.Int64
		for range 20 {
			all.Go(func() {
				if _, err := s.Token(s.t.Context(), s.redemption(code)); err == nil {
					given.Add(1)
				}
			})
		}
		all.Wait()
		if k := s.keys(); given.Load() != 1 || len(k) != 1 || k[0].RevokedAt == nil {
			s.t.Errorf("%d got tokens, keys %+v", given.Load(), k)
		}
	})
}

func TestARefreshTokenWorksOnceAndKeepsTheKey(t *testing.T) {
	each(t, func(s service) {
		first := s.tokens()
		second, err := s.Token(s.t.Context(), s.refreshing(first.RefreshToken))
		if err != nil || second.AccessToken == first.AccessToken || second.RefreshToken == first.RefreshToken || second.Scope != first.Scope {
			s.t.Fatalf("%+v, %v", second, err)
		}
		if !s.opens(first.AccessToken, mcp) || !s.opens(second.AccessToken, mcp) || len(s.keys()) != 1 {
			s.t.Error("a request in flight would fail, or there is a second key")
		}
		third, err := s.Token(s.t.Context(), s.refreshing(second.RefreshToken))
		if err != nil || s.opens(first.AccessToken, mcp) || !s.opens(third.AccessToken, mcp) {
			s.t.Errorf("more than two access tokens work: %v", err)
		}
		s.refused("the first one, stolen", oauth.InvalidGrant, s.refreshing(first.RefreshToken))
		s.refused("the last one", oauth.InvalidGrant, s.refreshing(third.RefreshToken))
		if s.opens(third.AccessToken, mcp) || s.keys()[0].RevokedAt == nil {
			s.t.Error("the key was not revoked")
		}
	})
}

func TestManyRefreshesAtOnceGetTheSameTokens(t *testing.T) {
	each(t, func(s service) {
		token := s.tokens().RefreshToken
		var all sync.WaitGroup
		var given sync.Map
		for range 20 {
			all.Go(func() {
				t, err := s.Token(s.t.Context(), s.refreshing(token))
				given.Store(t.RefreshToken+" "+t.AccessToken, err)
			})
		}
		all.Wait()
		different := 0
		given.Range(func(_, err any) bool {
			if different++; err != nil {
				s.t.Error(err)
			}
			return true
		})
		if different != 1 || s.keys()[0].RevokedAt != nil {
			s.t.Errorf("%d different answers; the key is %+v", different, s.keys()[0])
		}
	})
}

func TestARefreshWidensNothing(t *testing.T) {
	each(t, func(s service) {
		tokens := s.tokens("scope", "render:read")
		s.refused("to spend", oauth.InvalidScope, s.refreshing(tokens.RefreshToken, "scope", "render:read render:spend"))
		s.refused("to another resource", oauth.InvalidTarget, s.refreshing(tokens.RefreshToken, "resource", public))
		s.refused("to another program", oauth.InvalidGrant, s.refreshing(tokens.RefreshToken, "client_id", oauth.CommandLine))
		s.refused("of an access token", oauth.InvalidGrant, s.refreshing(tokens.AccessToken))
		s.refused("of nothing", oauth.InvalidGrant, s.refreshing(""))
		if s.opens(tokens.RefreshToken, mcp) {
			s.t.Error("a refresh token opens the tools")
		}
		if again, err := s.Token(s.t.Context(), s.refreshing(tokens.RefreshToken, "scope", "render:read", "resource", mcp)); err != nil || again.Scope != "render:read" {
			s.t.Errorf("as it was: %+v, %v", again, err)
		}
	})
}

func TestTokensEndAtTheirTimesByTheDatabasesClock(t *testing.T) {
	each(t, func(s service) {
		tokens := s.tokens()
		s.skew.Store(int64(oauth.AccessLife - time.Minute))
		if !s.opens(tokens.AccessToken, mcp) {
			s.t.Error("ended too early")
		}
		s.skew.Store(int64(oauth.AccessLife))
		if s.opens(tokens.AccessToken, mcp) {
			s.t.Error("an access token works after an hour")
		}
		s.skew.Store(int64(29 * 24 * time.Hour))
		tokens, err := s.Token(s.t.Context(), s.refreshing(tokens.RefreshToken))
		if err != nil || !s.opens(tokens.AccessToken, mcp) {
			s.t.Fatalf("a refresh before the key's end: %v", err)
		}
		s.skew.Store(int64(30 * 24 * time.Hour))
		if s.opens(tokens.AccessToken, mcp) {
			s.t.Error("a token outlives its key")
		}
		s.refused("after the key's end", oauth.InvalidGrant, s.refreshing(tokens.RefreshToken))
	})
}

func TestARevokedTokenEndsItsKeyAndOthersLearnNothing(t *testing.T) {
	each(t, func(s service) {
		for _, which := range []func(oauth.Tokens) string{
			func(t oauth.Tokens) string { return t.AccessToken }, func(t oauth.Tokens) string { return t.RefreshToken },
		} {
			tokens := s.tokens()
			for _, form := range []url.Values{
				{"token": {"svc_agent_unknown"}}, {"token": {which(tokens)}, "client_id": {oauth.CommandLine}}, {"token": {which(tokens) + "x"}},
			} {
				if err := s.Revoke(s.t.Context(), form); err != nil || !s.opens(tokens.AccessToken, mcp) {
					s.t.Errorf("%v: %v", form, err)
				}
			}
			for range 2 { // again is no error
				if err := s.Revoke(s.t.Context(), url.Values{"token": {which(tokens)}, "client_id": {s.program.id()}}); err != nil {
					s.t.Error(err)
				}
			}
			if s.opens(tokens.AccessToken, mcp) {
				s.t.Error("a revoked token works")
			}
			s.refused("its refresh token", oauth.InvalidGrant, s.refreshing(tokens.RefreshToken))
		}
		if err := s.Revoke(s.t.Context(), url.Values{}); err == nil {
			s.t.Error("nothing was revoked")
		}
	})
}

func TestAPersonRevokesAProgramAsAnyKey(t *testing.T) {
	each(t, func(s service) {
		tokens := s.tokens()
		keyID := s.keys()[0].KeyID
		s.must(func(ctx context.Context, tx *db.Tx) error {
			return identity.RevokeAgentKey(ctx, tx, s.workspace, keyID)
		})
		if s.opens(tokens.AccessToken, mcp) {
			s.t.Error("its token works")
		}
		s.refused("its refresh token", oauth.InvalidGrant, s.refreshing(tokens.RefreshToken))
	})
}

func TestAnErasedWorkspaceKeepsNoTokensAndNoRequests(t *testing.T) {
	each(t, func(s service) {
		tokens, code := s.tokens(), s.allow(s.question()).Get("code")
		for range 2 {
			s.must(func(ctx context.Context, tx *db.Tx) error { return oauth.Erase(ctx, tx, s.workspace) })
		}
		if s.opens(tokens.AccessToken, mcp) {
			s.t.Error("its token works")
		}
		s.refused("its code", oauth.InvalidGrant, s.redemption(code))
		s.refused("its refresh token", oauth.InvalidGrant, s.refreshing(tokens.RefreshToken))
	})
}
