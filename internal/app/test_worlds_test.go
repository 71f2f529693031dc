package app_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/erase"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/testmode"
)

// tester makes a workspace with a key of test mode. Its client does not try again.
func (s *service) tester(email string) (c *client.Client, workspaceID string) {
	s.t.Helper()
	w := (&apptest.World{App: s.app}).WorkspaceOf(s.t, email, 0)
	var key identity.NewKey
	err := s.app.DB.Write(s.t.Context(), func(tx *db.Tx) (err error) {
		key, err = identity.CreateAgentKey(s.t.Context(), tx, w.ID, identity.AgentTerms{Name: "test", Test: true})
		return err
	})
	if err == nil {
		c, err = client.New(s.base, key.Secret, client.WithAttempts(1))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return c, w.ID
}

// inspected uploads the scene and has n frames priced.
func inspected(t *testing.T, c *client.Client, n int) (*client.Quote, error) {
	t.Helper()
	first := 1
	return c.Inspect(t.Context(), client.InspectRequest{Filename: demo.Filename, Body: bytes.NewReader(demo.Scene()), FrameStart: &first, FrameEnd: &n})
}

func started(t *testing.T, c *client.Client, n int) (*client.Job, error) {
	t.Helper()
	q, err := inspected(t, c, n)
	if err != nil {
		t.Fatal(err)
	}
	return c.Start(t.Context(), q, client.StartRequest{LegalAcceptance: client.LegalV1})
}

func refusedWith(err error, code fault.Code) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && refused.Code == string(code)
}

// TestAServiceThatNobodyTestsHasNoTestWorld: nothing is made before the first request of test
// mode, and it is removed with its workspace, or when it is unused.
func TestAServiceThatNobodyTestsHasNoTestWorld(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var ahead atomic.Int64
		s := start(t, app.Config{Database: url, Skew: func() time.Duration { return time.Duration(ahead.Load()) }})
		c, workspace := s.tester("tester@example.com")
		other, unused := s.tester("other@example.com")
		folder := func(workspace string) bool {
			_, err := os.Stat(filepath.Join(s.app.Config.Data, "test", workspace))
			return err == nil
		}
		if folder(workspace) || folder("") {
			t.Error("a test world exists before any test request")
		}
		for _, c := range []*client.Client{c, other} {
			if _, err := inspected(t, c, 1); err != nil {
				t.Fatal(err)
			}
		}
		var listed []testmode.World
		err := s.app.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
			listed, err = testmode.Worlds(t.Context(), tx)
			return err
		})
		if err != nil || len(listed) != 2 || listed[0].WorkspaceID != unused || listed[1].WorkspaceID != workspace {
			t.Errorf("operators see the worlds %+v, %v; want both, the one that was used last first", listed, err)
		}
		if size, err := app.TestWorldBytes(t.Context(), s.app.Config, workspace); err != nil || size < int64(len(demo.Scene())) {
			t.Errorf("a world with a scene of %d bytes takes %d, %v", len(demo.Scene()), size, err)
		}
		gone := func(workspace string) bool {
			if err := s.app.TendTestWorlds(t.Context()); err != nil {
				t.Error(err)
			}
			return !folder(workspace)
		}
		if gone(workspace) {
			t.Fatal("a world in use is gone")
		}
		err = s.app.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := erase.Workspace(t.Context(), tx, workspace)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if gone(workspace) {
			t.Error("a world is removed while another process may have it open")
		}
		ahead.Add(int64(10 * time.Minute))
		await.Until(t, "the world of an erased workspace is gone", func() bool { return gone(workspace) })
		ahead.Add(int64(8 * 24 * time.Hour))
		if gone(unused) {
			t.Error("a world is removed in the moment in which it ends")
		}
		ahead.Add(int64(10 * time.Minute))
		await.Until(t, "the unused world is gone", func() bool { return gone(unused) })
		if _, err := inspected(t, other, 1); err != nil {
			t.Errorf("a new world in its place: %v", err)
		}
	})
}

func TestTestModeIsBounded(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, app.Config{Database: url, TestMode: app.TestMode{Frames: 2, Worlds: 1, Storage: 3 * int64(len(demo.Scene()))}})
		c, _ := s.tester("tester@example.com")
		if _, err := started(t, c, 3); !refusedWith(err, fault.QuoteNotQualified) {
			t.Errorf("a job of too many frames: %v", err)
		}
		if _, err := started(t, c, 2); err != nil {
			t.Error(err)
		}
		other, _ := s.tester("other@example.com")
		if _, err := inspected(t, other, 1); !refusedWith(err, fault.Unavailable) {
			t.Errorf("one world more than there may be: %v", err)
		}
		full := s.with(t, app.TestMode{Storage: int64(len(demo.Scene())) / 2})
		c, _ = full.tester("tester@example.com")
		if _, err := inspected(t, c, 1); !refusedWith(err, fault.StorageLimitReached) {
			t.Errorf("more bytes than a world may have: %v", err)
		}
		off := s.with(t, app.TestMode{Off: true})
		c, _ = off.tester("tester@example.com")
		if _, err := inspected(t, c, 1); !refusedWith(err, fault.WrongMode) {
			t.Errorf("where test mode is off: %v", err)
		}
	})
}

// with starts another service, with other bounds.
func (s *service) with(t *testing.T, bounds app.TestMode) *service {
	t.Helper()
	return start(t, app.Config{Database: dbtest.URL(t, s.app.DB.Engine()), TestMode: bounds})
}

// TestATestWorldKnowsAPersonAsTheirWorkspaceDoes: a role that has changed holds in test mode
// from the next request, in each session, and who is no member any more is let in nowhere.
func TestATestWorldKnowsAPersonAsTheirWorkspaceDoes(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, app.Config{Database: url})
		w := (&apptest.World{App: s.app}).WorkspaceOf(t, "founder@example.com", 0)
		sessions := []string{apptest.Join(t, s.app.DB, w.ID, "colleague@example.com", identity.Viewer), ""}
		err := s.app.DB.Write(t.Context(), func(tx *db.Tx) error {
			link, err := identity.CreateSignInLink(t.Context(), tx, "colleague@example.com")
			if err != nil {
				return err
			}
			second, err := identity.SignIn(t.Context(), tx, link, "")
			sessions[1] = second.Token
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		change := func(do func(tx *db.Tx, founder identity.Principal, colleague string) error) {
			t.Helper()
			err := s.app.DB.Write(t.Context(), func(tx *db.Tx) error {
				people, err := identity.Members(t.Context(), tx, w.ID)
				if err != nil {
					return err
				}
				founder := identity.Principal{WorkspaceID: w.ID, Role: identity.Owner, Credential: identity.Credential{Kind: identity.SessionCredential, Email: people[0].Email, PersonID: people[0].PersonID}}
				return do(tx, founder, people[1].PersonID)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		alert := func(session, prefix string, want int) {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.base+prefix+"/v1/wallet/alert", strings.NewReader(`{"below_cents":0}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.AddCookie(&http.Cookie{Name: contract.SessionCookie, Value: session})
			r.AddCookie(&http.Cookie{Name: contract.ModeCookie, Value: contract.ModeTest})
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("a change by an owner only: %s, want %d", answer.Status, want)
			}
		}
		for _, role := range []identity.Role{"", identity.Owner, identity.Viewer, identity.Owner, identity.Viewer} {
			want := http.StatusForbidden
			if role == identity.Owner {
				want = http.StatusOK
			}
			if role != "" {
				change(func(tx *db.Tx, founder identity.Principal, colleague string) error {
					return identity.SetRole(t.Context(), tx, founder, colleague, role)
				})
			}
			alert(sessions[0], "", want)
			alert(sessions[0], "/test/"+w.ID, want)
			sessions[0], sessions[1] = sessions[1], sessions[0]
		}
		change(func(tx *db.Tx, founder identity.Principal, colleague string) error {
			return identity.SetRole(t.Context(), tx, founder, colleague, identity.Owner)
		})
		alert(sessions[0], "", http.StatusOK)
		change(func(tx *db.Tx, founder identity.Principal, colleague string) error {
			return identity.Remove(t.Context(), tx, founder, colleague)
		})
		alert(sessions[0], "", http.StatusUnauthorized)
		alert(sessions[0], "/test/"+w.ID, http.StatusUnauthorized)
	})
}
