package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc.example/client"
)

// line is a network that a test breaks: next are the results of its first requests.
type line struct {
	base http.RoundTripper
	next []error // nil lets a request through
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(l.next) > 0 {
		err := l.next[0]
		l.next = l.next[1:]
		if err != nil {
			return nil, err
		}
	}
	return l.base.RoundTrip(r)
}

var (
	errRefused = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	errNoHost  = &net.OpError{Op: "dial", Err: &net.DNSError{Name: "nowhere.invalid", Err: "no such host", IsNotFound: true}}
	errNoDNS   = &net.OpError{Op: "dial", Err: &net.DNSError{Name: "svc.example", Err: "server misbehaving", IsTemporary: true}}
)

// told is an attempt that was reported, after so many waits.
type told struct {
	client.Retry
	waits int
}

// over returns a client of url whose network fails so, and what it reports about
// attempts.
func over(t *testing.T, url string, failures ...error) (*client.Client, *waits, *[]told) {
	t.Helper()
	all, w := &[]told{}, &waits{}
	network := &http.Client{Transport: &line{base: http.DefaultTransport, next: failures}}
	c, err := client.New(url, "svc_agent_test", client.WithHTTPClient(network), client.WithWait(w.wait), client.WithOnRetry(func(r client.Retry) {
		*all = append(*all, told{r, len(w.taken)})
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c, w, all
}

func TestEachTryThatIsRepeatedIsToldBeforeTheWait(t *testing.T) {
	t.Parallel()
	c, _, told := over(t, "http://127.0.0.1:1", errRefused, errNoDNS, errRefused, errRefused, errRefused, errRefused)
	_, err := c.Job(t.Context(), "JOB-1")
	if !errors.Is(err, syscall.ECONNREFUSED) || len(*told) != 5 {
		t.Fatalf("%d are reported, %v", len(*told), err)
	}
	for i, r := range *told {
		if r.waits != i || r.Try != i+2 || r.Attempts != 6 || r.Err == nil || r.Wait <= 0 || r.Wait > 10*time.Second {
			t.Errorf("the one before try %d: %+v", i+2, r)
		}
	}
}

func TestWhatCannotGetBetterIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	encrypted := httptest.NewUnstartedServer(http.NotFoundHandler())
	encrypted.Config.ErrorLog = log.New(io.Discard, "", 0)
	encrypted.StartTLS()
	other, err := net.Listen("tcp", "127.0.0.1:0") // it speaks no HTTP
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := other.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, "220 mail.example ESMTP\r\n")
			_ = c.Close()
		}
	}()
	ring := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }))
	t.Cleanup(func() {
		plain.Close()
		encrypted.Close()
		ring.Close()
		_ = other.Close()
	})
	for name, c := range map[string]struct {
		url     string
		failure error
	}{
		"an unknown host":                {"http://nowhere.invalid", errNoHost},
		"an untrusted certificate":       {encrypted.URL, nil},
		"TLS where there is none":        {"https" + strings.TrimPrefix(plain.URL, "http"), nil},
		"no TLS header":                  {"https://127.0.0.1:1", tls.RecordHeaderError{Msg: "not TLS"}},
		"another protocol":               {"http://" + other.Addr().String(), nil},
		"redirects in a ring":            {ring.URL, nil},
		"a page without svc's envelopes": {plain.URL, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api, w, told := over(t, c.url, c.failure, c.failure, c.failure)
			_, err := api.Job(t.Context(), "JOB-1")
			if err == nil || len(w.taken) != 0 || len(*told) != 0 {
				t.Errorf("after %d waits: %v", len(w.taken), err)
			}
			_, err = api.Wait(t.Context(), "JOB-1", nil)
			if err == nil || len(w.taken) != 0 {
				t.Errorf("a job is followed for %d waits: %v", len(w.taken), err)
			}
		})
	}
}

// TestALostNetworkDoesNotEndWhatGoesOnForHours loses the name of a server that has
// answered before.
func TestALostNetworkDoesNotEndWhatGoesOnForHours(t *testing.T) {
	t.Parallel()
	s, _, _ := setup(t)
	s.events = happened(2)
	s.polled = []string{`{"job_id":"JOB-1","status":"rendering"}`}
	s.faults["GET /node/v1/jobs/{id}/events"] = []fault{func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) { s.write(w, r, 2) }}
	c, _, told := over(t, s.URL, nil, errNoHost, errNoHost, errNoHost)
	job, err := c.Wait(t.Context(), "JOB-1", nil)
	if err != nil || job.Status != client.StatusCompleted {
		t.Fatalf("%+v, %v", job, err)
	}
	if len(*told) == 0 || (*told)[0].Attempts != 0 {
		t.Errorf("told: %+v", *told)
	}
}

func TestACallWithoutEndIsTriedUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	c, err := client.New("http://127.0.0.1:1", "", client.WithAttempts(client.WithoutEnd),
		client.WithWait(func(ctx context.Context, _ time.Duration) error { return ctx.Err() }),
		client.WithHTTPClient(&http.Client{Transport: &line{next: []error{errRefused}, base: refusing{}}}),
		client.WithOnRetry(func(r client.Retry) {
			if r.Attempts != 0 {
				t.Errorf("it ends after %d", r.Attempts)
			}
			if tries++; tries == 100 {
				cancel()
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Job(ctx, "JOB-1"); err == nil || tries != 100 {
		t.Errorf("after %d tries: %v", tries, err)
	}
}

type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errRefused }
