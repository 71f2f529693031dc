package client_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"svc.example/client"
)

// TestPartsOfAZIPAreItsBytes reads across blocks, backwards, at the end and after it.
func TestPartsOfAZIPAreItsBytes(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.zip = make([]byte, 7<<20+11)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(s.zip)
	parts, err := c.ZIPParts(t.Context(), "JOB-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []struct{ off, length int }{{0, 10}, {1<<20 - 3, 6}, {6 << 20, 1<<20 + 11}, {100, 3 << 20}, {len(s.zip) - 1, 1}} {
		got := make([]byte, at.length)
		if n, err := parts.ReadAt(got, int64(at.off)); n != at.length || err != nil || !bytes.Equal(got, s.zip[at.off:at.off+at.length]) {
			t.Errorf("%d bytes at %d: %d, %v", at.length, at.off, n, err)
		}
	}
	if n, err := parts.ReadAt(make([]byte, 5), int64(len(s.zip)-2)); n != 2 || !errors.Is(err, io.EOF) {
		t.Errorf("over the end: %d, %v", n, err)
	}
}

// TestPartsOfAZIPSurviveACutLineAndAnOldLink loses one answer and refuses one link.
func TestPartsOfAZIPSurviveACutLineAndAnOldLink(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.zip = bytes.Repeat([]byte("zip"), 1000)
	s.faults["GET /artifacts/{id}"] = []fault{cutAfter(100), func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		http.Error(w, `{"error":{"code":"unauthenticated","message":"The link has ended."}}`, http.StatusUnauthorized)
	}}
	parts, err := c.ZIPParts(t.Context(), "JOB-1")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(s.zip))
	if _, err := parts.ReadAt(got, 0); err != nil || !bytes.Equal(got, s.zip) {
		t.Errorf("%v", err)
	}
	s.faults["GET /artifacts/{id}"] = []fault{func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		http.Error(w, `{"error":{"code":"result_damaged","message":"It is damaged."}}`, http.StatusGone)
	}}
	fresh, err := c.ZIPParts(t.Context(), "JOB-1")
	if err != nil {
		t.Fatal(err)
	}
	var refused *client.Error
	if _, err := fresh.ReadAt(got, 0); !errors.As(err, &refused) || refused.Code != "result_damaged" {
		t.Errorf("a refusal: %v", err)
	}
}
