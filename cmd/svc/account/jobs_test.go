package account

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"svc.example/client"
)

// TestAWatchPrintsEachChangeOnceAndEndsWithTheLastJob looks at four states.
func TestAWatchPrintsEachChangeOnceAndEndsWithTheLastJob(t *testing.T) {
	t.Parallel()
	at := func(status string, frames int) []*client.Job {
		return []*client.Job{
			{JobID: "JOB-2", Status: status, FramesCompleted: frames, FrameCount: 2, Currency: "USD"},
			{JobID: "JOB-1", Status: client.StatusFailed, FrameCount: 3, Currency: "USD"},
		}
	}
	states := [][]*client.Job{at("queued", 0), at("queued", 0), at("rendering", 1), at("completed", 2)}
	var out strings.Builder
	err := watchJobs(t.Context(), &screen{w: &out}, func() (jobs []*client.Job, err error) {
		jobs, states = states[0], states[1:]
		return jobs, nil
	}, time.Millisecond)
	got := regexp.MustCompile(`(?m)^.* UTC `).ReplaceAllString(out.String(), "")
	if want := "JOB-1 failed 0/3\nJOB-2 queued 0/2\nJOB-2 rendering 1/2\nJOB-2 completed 2/2\n"; err != nil || got != want {
		t.Errorf("%v, %q, want %q", err, got, want)
	}
}

func TestAWatchEndsWithCtrlCAndWithARefusal(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var out strings.Builder
	err := watchJobs(ctx, &screen{w: &out}, func() ([]*client.Job, error) {
		cancel()
		return nil, ctx.Err()
	}, time.Hour)
	if err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
	refused := errors.New("refused")
	if err := watchJobs(t.Context(), &screen{w: &out}, func() ([]*client.Job, error) { return nil, refused }, time.Hour); !errors.Is(err, refused) {
		t.Error(err)
	}
}

func TestAScreenIsDrawnOverTheOneBefore(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := screen{w: &out}
	s.show([]string{"a", "b"})
	s.show([]string{"c"})
	s.note("%s", "the line\nis lost")
	s.show([]string{"d"})
	if want := "a\nb\n\x1b[2A\x1b[Jc\nthe line\\nis lost\n\x1b[2A\x1b[Jd\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}

// TestWhatStrangersNameIsShownEscaped: a file's name and a failure come from others.
func TestWhatStrangersNameIsShownEscaped(t *testing.T) {
	t.Parallel()
	j := &client.Job{JobID: "JOB-1", Filename: "a\x1b[2Jb.blend", Currency: "USD", Failure: &client.Failure{Message: "x\ny", Code: "c"}}
	var out strings.Builder
	printJob(&out, j, time.Now())
	listed := strings.Join(listOf([]*client.Job{j}, time.Now()).Lines(80), "\n")
	for _, text := range []string{out.String(), listed} {
		if strings.Contains(text, "\x1b") || !strings.Contains(text, `a\x1b[2Jb`) {
			t.Errorf("%q", text)
		}
	}
	if !strings.Contains(out.String(), `x\ny`) {
		t.Errorf("%q", out.String())
	}
}

func TestOnlyLocalTargetsAreForwardedTo(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"http://127.0.0.1:3000/x": true, "http://[::1]:3000": true, "https://10.1.2.3": true, "http://192.168.0.7:80": true,
		"http://8.8.8.8": false, "http://[2606:4700::1111]": false, "ftp://127.0.0.1": false, "127.0.0.1:3000": false, "http://": false,
	} {
		if _, err := localTarget(address); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}
