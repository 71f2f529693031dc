package client_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"svc.example/client"
)

func listed(t testing.TB, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestDownloadResumesWhereItBroke(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s, c, _ := setup(t)
		defer s.Close()
		s.zip = picture(rapid.IntRange(0, 200_000).Draw(rt, "size"))
		for _, cut := range rapid.SliceOfN(rapid.IntRange(0, 100_000), 0, 5).Draw(rt, "cuts") {
			s.faults["GET /artifacts/{id}"] = append(s.faults["GET /artifacts/{id}"], cutAfter(cut))
		}
		folder, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		path := filepath.Join(folder, "scene.zip")
		last := int64(-1)
		_, err = c.Download(context.Background(), "JOB-1", path, func(received, total int64) {
			if received < last || total != int64(len(s.zip)) {
				rt.Fatalf("progress went from %d to %d of %d", last, received, total)
			}
			last = received
		})
		if err != nil {
			rt.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, s.zip) {
			rt.Fatalf("%d of %d bytes, error %v", len(got), len(s.zip), err)
		}
		if names := listed(t, folder); len(names) != 1 {
			rt.Fatalf("left over: %v", names)
		}
	})
}

func TestDownloadThatMakesProgressIsNeverGivenUp(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.zip = picture(50_000)
	for range 40 { // far more breaks than a call has tries
		s.faults["GET /artifacts/{id}"] = append(s.faults["GET /artifacts/{id}"], cutAfter(1000))
	}
	if _, err := c.Download(t.Context(), "JOB-1", filepath.Join(t.TempDir(), "a.zip"), nil); err != nil {
		t.Error(err)
	}
}

// TestARateLimitOfASignedLinkIsNoFailedTry has a link refuse more often than a call has tries.
func TestARateLimitOfASignedLinkIsNoFailedTry(t *testing.T) {
	t.Parallel()
	s, c, w := setup(t)
	s.zip = picture(5000)
	for range 20 {
		s.faults["GET /artifacts/{id}"] = append(s.faults["GET /artifacts/{id}"], func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
		})
	}
	if _, err := c.Download(t.Context(), "JOB-1", filepath.Join(t.TempDir(), "a.zip"), nil); err != nil {
		t.Error(err)
	}
	if want := slices.Repeat([]time.Duration{3 * time.Second}, 20); !slices.Equal(w.taken, want) {
		t.Errorf("it waited %v", w.taken)
	}
}

func TestAnswerThatEndsEarlyWithoutAnErrorIsResumed(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.zip = picture(5000)
	s.faults["GET /artifacts/{id}"] = []fault{func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.Write(s.zip[:2000])
		http.NewResponseController(w).Flush() // no length is announced, so none is missed
	}}
	if _, err := c.Download(t.Context(), "JOB-1", filepath.Join(t.TempDir(), "a.zip"), nil); err != nil {
		t.Error(err)
	}
	if asked := s.to("/artifacts/JOB-1"); len(asked) != 2 || asked[1].Header.Get("Range") != "bytes=2000-" {
		t.Errorf("%d requests", len(asked))
	}
}

func TestLaterCallResumesTheSamePart(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.zip = picture(100_000)
	const route = "GET /artifacts/{id}"
	s.faults[route] = []fault{cutAfter(60_000)}
	for range 6 {
		s.faults[route] = append(s.faults[route], refusal(503, "unavailable", nil, nil))
	}
	path := filepath.Join(t.TempDir(), "scene.zip")
	if _, err := c.Download(t.Context(), "JOB-1", path, nil); err == nil {
		t.Fatal("the server was away all the time")
	}
	if _, err := os.Stat(path); err == nil {
		t.Fatal("half a file has the final name")
	}
	s.faults[route] = nil
	if _, err := c.Download(t.Context(), "JOB-1", path, nil); err != nil {
		t.Fatal(err)
	}
	asked := s.to("/artifacts/JOB-1")
	if got := asked[len(asked)-1].Header.Get("Range"); got != "bytes=60000-" {
		t.Errorf("the second call asked for range %q", got)
	}
	if _, err := c.Download(t.Context(), "JOB-1", path, nil); err != nil || len(s.to("/artifacts/JOB-1")) != len(asked) {
		t.Errorf("a file that is there and right was fetched again, error %v", err)
	}
}

func TestWrongBytesNeverGetTheName(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.zip = picture(5000)
	s.faults["GET /artifacts/{id}"] = []fault{func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.Write(bytes.Repeat([]byte{7}, 5000))
	}}
	folder := t.TempDir()
	_, err := c.Download(t.Context(), "JOB-1", filepath.Join(folder, "scene.zip"), nil)
	if !errors.Is(err, client.ErrDownloadChanged) || len(listed(t, folder)) != 0 {
		t.Fatalf("error %v, left: %v", err, listed(t, folder))
	}
}

func TestExpiredLinkIsReplaced(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.zip = picture(5000)
	s.faults["GET /artifacts/{id}"] = []fault{cutAfter(2000), refusal(401, "unauthenticated", nil, nil), refusal(403, "link_expired", nil, nil)}
	path := filepath.Join(t.TempDir(), "scene.zip")
	if _, err := c.Download(t.Context(), "JOB-1", path, nil); err != nil {
		t.Fatal(err)
	}
	asked := s.to("/artifacts/JOB-1")
	if got := asked[3].URL.Query().Get("link"); got != "4" || asked[3].Header.Get("Range") != "bytes=2000-" {
		t.Errorf("the last try used link %s and range %q", got, asked[3].Header.Get("Range"))
	}
}

func TestServerWithoutRangesSendsTheWholeFileAgain(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.zip = picture(5000)
	s.faults["GET /artifacts/{id}"] = []fault{cutAfter(2000), func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.Write(s.zip)
	}}
	path := filepath.Join(t.TempDir(), "scene.zip")
	if _, err := c.Download(t.Context(), "JOB-1", path, nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, s.zip) {
		t.Errorf("%d bytes arrived, wanted %d", len(got), len(s.zip))
	}
}

func TestKeyIsNeverSentToADownloadLink(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.zip = picture(10)
	if _, err := c.Download(t.Context(), "JOB-1", filepath.Join(t.TempDir(), "a.zip"), nil); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.to("/artifacts/JOB-1") {
		if r.Header.Get("Authorization") != "" {
			t.Error("the agent key went to the link")
		}
	}
}
