package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"svc.example/client"
)

func TestAnErrorEndsWithWhatToDoNext(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"<html>": "Check the address (--server)",
		`{"error":{"code":"insufficient_funds","message":"no","suggested_action":"Credit the wallet."}}`: "Credit the wallet.",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusPaymentRequired)
			_, _ = w.Write([]byte(answer))
		}))
		t.Cleanup(s.Close)
		c, err := client.New(s.URL, "", client.WithAttempts(1))
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Job(t.Context(), "JOB-1")
		lines := strings.Split(withSuggestion(err).Error(), "\n")
		if !strings.Contains(lines[len(lines)-1], want) {
			t.Errorf("%q ends with %q, want %q", answer, lines[len(lines)-1], want)
		}
	}
}
