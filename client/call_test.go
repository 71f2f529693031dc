package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand"
	"net/http"
	"slices"
	"testing"
	"time"

	"svc.example/client"
)

func picture(size int) []byte {
	data := make([]byte, size)
	rand.New(rand.NewSource(1)).Read(data)
	return data
}

func TestBrokenUploadIsSentAgainWhole(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	const inspect = "POST /node/v1/uploads/inspect"
	s.faults[inspect] = []fault{hangUp(100_000), loseAnswer, refusal(503, "unavailable", nil, nil)}
	file := picture(1 << 20)
	from, to := 2, 8
	var last int64
	quote, err := c.Inspect(t.Context(), client.InspectRequest{
		Filename: "scene.blend", Body: bytes.NewReader(file), FrameStart: &from, FrameEnd: &to,
		Progress: func(sent, total int64) {
			last = sent
			if total != int64(len(file)) {
				t.Errorf("total is reported as %d, the file has %d bytes", total, len(file))
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if tries := len(s.to("/node/v1/uploads/inspect")); tries != 4 {
		t.Errorf("the upload was tried %d times, wanted 4", tries)
	}
	for i, got := range s.uploads {
		if !bytes.Equal(got, file) || s.ranges[i] != "frame_start=2;frame_end=8;" {
			t.Errorf("upload %d arrived with %d bytes and fields %q before it", i, len(got), s.ranges[i])
		}
	}
	if len(s.uploads) != 2 || last != int64(len(file)) {
		t.Errorf("%d uploads arrived whole, progress ended at %d", len(s.uploads), last)
	}
	if quote.QuoteID != "QTE-1" || quote.PriceCents != 3 || quote.UploadID != "UPL-1" || quote.Filename != "scene.blend" {
		t.Errorf("members of both places must be read, got %+v", quote)
	}
}

func TestUploadFromAPipeIsNeverSentTwice(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.faults["POST /node/v1/uploads/inspect"] = []fault{hangUp(1000)}
	_, err := c.Inspect(t.Context(), client.InspectRequest{Filename: "a.blend", Body: io.MultiReader(bytes.NewReader(picture(1 << 20)))})
	if err == nil || len(s.to("/node/v1/uploads/inspect")) != 1 {
		t.Fatalf("half a file cannot be repeated: %d tries, error %v", len(s.to("/node/v1/uploads/inspect")), err)
	}
}

func TestUploadOfUnknownSizeArrivesWhole(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	file := picture(300_000)
	if _, err := c.Inspect(t.Context(), client.InspectRequest{Filename: "a.blend", Body: io.MultiReader(bytes.NewReader(file))}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.uploads[0], file) {
		t.Errorf("%d of %d bytes arrived", len(s.uploads[0]), len(file))
	}
}

func TestRefusedUploadIsNotSent(t *testing.T) {
	t.Parallel()
	s, c, w := setup(t)
	s.faults["POST /node/v1/uploads/inspect"] = []fault{refusal(401, "unauthenticated", nil, nil)}
	var sent int64
	_, err := c.Inspect(t.Context(), client.InspectRequest{Filename: "a.blend", Body: bytes.NewReader(picture(20 << 20)),
		Progress: func(now, _ int64) { sent = max(sent, now) }})
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Code != "unauthenticated" || len(w.taken) != 0 || sent != 0 {
		t.Errorf("%d bytes were sent in %d tries, error %v", sent, len(w.taken)+1, err)
	}
}

type unreadableFile struct{ io.ReadSeeker }

var errDisk = errors.New("disk error")

func (unreadableFile) Read([]byte) (int, error) { return 0, errDisk }

func TestUnreadableFileIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	_, c, w := setup(t)
	_, err := c.Inspect(t.Context(), client.InspectRequest{Filename: "a.blend", Body: unreadableFile{bytes.NewReader(picture(10))}})
	if !errors.Is(err, errDisk) || len(w.taken) != 0 {
		t.Fatalf("wanted the disk error at once, got %v after %d waits", err, len(w.taken))
	}
}

func TestStartAfterALostAnswerIsTheSameJob(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.faults["POST /node/v1/uploads/{id}/start"] = []fault{loseAnswer, loseAnswer}
	job, err := c.Start(t.Context(), &client.Quote{UploadID: "UPL-1", QuoteID: "QTE-1"}, client.StartRequest{LegalAcceptance: client.LegalV1})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.holds) != 1 || job.JobID != "JOB-1" {
		t.Errorf("one quote made %d jobs, the caller got %s", len(s.holds), job.JobID)
	}
}

// TestASecretThatTheServiceMakesSurvivesALostAnswer repeats a start under one
// Idempotency-Key, another one for each start, also while the server says that it still works on it.
func TestASecretThatTheServiceMakesSurvivesALostAnswer(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	const route = "POST /node/v1/uploads/{id}/start"
	s.faults[route] = []fault{loseAnswer, refusal(409, "idempotency_in_progress", http.Header{"Retry-After": {"1"}}, nil)}
	start := func(secret string) {
		t.Helper()
		r := client.StartRequest{LegalAcceptance: client.LegalV1, WebhookURL: "https://example.com/", WebhookSecret: secret}
		if _, err := c.Start(t.Context(), &client.Quote{UploadID: "UPL-1", QuoteID: "QTE-1"}, r); err != nil {
			t.Fatal(err)
		}
	}
	start("")
	start("")
	start("a secret of the caller")
	var keys []string
	for _, r := range s.to("/node/v1/uploads/UPL-1/start") {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
	}
	if len(keys) != 5 || keys[0] == "" || keys[1] != keys[0] || keys[2] != keys[0] || keys[3] == "" || keys[3] == keys[0] || keys[4] == "" || keys[4] == keys[3] {
		t.Errorf("the tries came with the keys %q", keys)
	}
}

func TestEachCallSaysWhoMakesIt(t *testing.T) {
	t.Parallel()
	s, plain, _ := setup(t)
	named, err := client.New(s.URL, "svc_agent_x", client.WithUserAgent("studio/1.2"))
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]*client.Client{"svc-render-go": plain, "studio/1.2 svc-render-go": named} {
		s.polled = []string{`{"job_id":"JOB-1","status":"queued"}`}
		if _, err := c.Job(t.Context(), "JOB-1"); err != nil {
			t.Fatal(err)
		}
		calls := s.to("/node/v1/jobs/JOB-1")
		if got := calls[len(calls)-1].Header.Get("User-Agent"); got != want {
			t.Errorf("the call is by %q, want %q", got, want)
		}
	}
}

func TestBusyServerIsAskedAgainNoSoonerThanItSays(t *testing.T) {
	t.Parallel()
	s, c, w := setup(t)
	s.polled = []string{`{"job_id":"JOB-1","status":"queued","waiting_reason":null}`}
	s.faults["GET /node/v1/jobs/{id}"] = []fault{
		refusal(429, "rate_limited", http.Header{"Retry-After": {"7"}}, nil),
		refusal(503, "unavailable", nil, map[string]any{"retry_after_seconds": 21.5}),
		refusal(500, "internal_error", nil, nil),
	}
	if _, err := c.Job(t.Context(), "JOB-1"); err != nil {
		t.Fatal(err)
	}
	if len(w.taken) != 3 || w.taken[0] != 7*time.Second || w.taken[1] != 21500*time.Millisecond {
		t.Errorf("waits were %v", w.taken)
	}
	if third := w.taken[2]; third < 250*time.Millisecond || third > 500*time.Millisecond {
		t.Errorf("without a word from the server, the wait after the second try is a quarter to half a second; it was %v", third)
	}
}

func TestAWaitUntilADateIsOneOfTheServersClock(t *testing.T) {
	t.Parallel()
	s, c, w := setup(t)
	s.polled = []string{`{"job_id":"JOB-1","status":"queued"}`}
	s.faults["GET /node/v1/jobs/{id}"] = []fault{refusal(503, "unavailable", http.Header{
		"Date": {"Wed, 21 Oct 2015 07:28:00 GMT"}, "Retry-After": {"Wed, 21 Oct 2015 07:28:09 GMT"}}, nil)}
	if _, err := c.Job(t.Context(), "JOB-1"); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.taken, []time.Duration{9 * time.Second}) {
		t.Errorf("waits were %v, want nine seconds", w.taken)
	}
}

// Where a wait that no clock can hold is asked for, there is a longest one.
func TestNoServerAsksForMoreThanADay(t *testing.T) {
	t.Parallel()
	s, c, w := setup(t)
	s.polled = []string{`{"job_id":"JOB-1","status":"queued"}`}
	s.faults["GET /node/v1/jobs/{id}"] = []fault{
		refusal(503, "unavailable", nil, map[string]any{"retry_after_seconds": 1e300}),
		refusal(503, "unavailable", http.Header{"Retry-After": {"Fri, 01 Jan 2200 00:00:00 GMT"}}, nil),
		refusal(503, "unavailable", http.Header{"Retry-After": {"99999999999"}}, nil),
	}
	if _, err := c.Job(t.Context(), "JOB-1"); err != nil {
		t.Fatal(err)
	}
	if day := 24 * time.Hour; !slices.Equal(w.taken, []time.Duration{day, day, day}) {
		t.Errorf("waits were %v", w.taken)
	}
}

func TestRefusalIsReturnedAtOnceAndWhole(t *testing.T) {
	t.Parallel()
	s, c, w := setup(t)
	s.faults["POST /node/v1/uploads/{id}/start"] = []fault{refusal(402, "insufficient_funds", nil, map[string]any{
		"suggested_action": "add funds", "detail": map[string]any{"required_cents": 20, "available_cents": 3}})}
	_, err := c.Start(t.Context(), &client.Quote{UploadID: "UPL-1", QuoteID: "QTE-1"}, client.StartRequest{LegalAcceptance: client.LegalV1})
	var refused *client.Error
	if !errors.As(err, &refused) || len(w.taken) != 0 {
		t.Fatalf("wanted a refusal without a wait, got %v after %v", err, w.taken)
	}
	if refused.Status != 402 || refused.Code != "insufficient_funds" || refused.Retryable || refused.RequestID != "req_1" ||
		refused.SuggestedAction != "add funds" || string(refused.Detail) != `{"available_cents":3,"required_cents":20}` {
		t.Errorf("the refusal lost members: %+v, detail %s", refused, refused.Detail)
	}
}

func TestCancellingEndsTheTries(t *testing.T) {
	t.Parallel()
	s, c, w := setup(t)
	for range 20 {
		s.faults["GET /node/v1/jobs/{id}"] = append(s.faults["GET /node/v1/jobs/{id}"], hangUp(0))
	}
	if _, err := c.Job(t.Context(), "JOB-1"); err == nil || len(w.taken) != 5 {
		t.Errorf("6 tries have 5 waits between them, there were %d; error %v", len(w.taken), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Job(ctx, "JOB-1"); !errors.Is(err, context.Canceled) || len(w.taken) != 5 {
		t.Errorf("a caller that gave up must not wait: %v", err)
	}
}

func TestKeyTravelsWithEveryCall(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	s.polled = []string{`{"job_id":"JOB-1","status":"queued"}`}
	if _, err := c.Job(t.Context(), "JOB-1"); err != nil {
		t.Fatal(err)
	}
	if got := s.to("/node/v1/jobs/JOB-1")[0].Header.Get("Authorization"); got != "Bearer svc_agent_test" {
		t.Errorf("authorization was %q", got)
	}
}

func TestAddressMustBeAbsolute(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "localhost:8080", "ftp://host", "http://", "://"} {
		if _, err := client.New(bad, "k"); err == nil {
			t.Errorf("%q was taken for an address", bad)
		}
	}
}
