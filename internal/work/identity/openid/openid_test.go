package openid_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity/openid"
)

// issuer answers what is asked of its metadata by answer.
func issuer(t *testing.T, answer func(w http.ResponseWriter, own string)) *openid.Issuer {
	t.Helper()
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w, s.URL) }))
	t.Cleanup(s.Close)
	return openid.New(openid.Config{Issuer: s.URL, ClientID: "svc"}, "https://svc.example/callback")
}

func metadata(w http.ResponseWriter, own string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":"%s/authorise","token_endpoint":"%s/token","jwks_uri":"%s/keys"}`, own, own, own, own)
}

// TestCallerThatGivesUpDoesNotStopOthers has two people begin while the issuer is
// slow: the first one leaves at once, and the second is served when it answers.
func TestCallerThatGivesUpDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	asked, answers := make(chan struct{}, 1), make(chan struct{})
	i := issuer(t, func(w http.ResponseWriter, own string) {
		asked <- struct{}{}
		<-answers
		metadata(w, own)
	})
	begin := func(ctx context.Context) chan error {
		ended := make(chan error, 1)
		go func() {
			_, _, err := i.Start(ctx)
			ended <- err
		}()
		return ended
	}
	ctx, leave := context.WithCancel(t.Context())
	first := begin(ctx)
	<-asked
	second := begin(t.Context())
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that gave up got %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := <-begin(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that came and gave up got %v", err)
	}
	close(answers)
	if err := <-second; err != nil {
		t.Errorf("the caller that waited got %v", err)
	}
	if _, _, err := i.Start(t.Context()); err != nil {
		t.Errorf("the later caller got %v", err)
	}
	if len(asked) != 0 {
		t.Error("the issuer was asked twice")
	}
}

func TestDiscoveryIsRetriedUntilTheIssuerAnswers(t *testing.T) {
	t.Parallel()
	times := 0
	i := issuer(t, func(w http.ResponseWriter, own string) {
		if times++; times == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		metadata(w, own)
	})
	if _, _, err := i.Start(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("while it is away: %v", err)
	}
	if _, _, err := i.Start(t.Context()); err != nil {
		t.Errorf("once it is back: %v", err)
	}
}
