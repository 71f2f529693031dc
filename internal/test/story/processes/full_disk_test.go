package processes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/script"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
)

// onSmallDisk serves from a disk of its own, a tmpfs of 40 MiB that only the service
// sees. It returns the service and the place of its data as this process reaches it.
func onSmallDisk(t *testing.T) (svc *story.Service, data string) {
	t.Helper()
	mount := t.TempDir()
	wrapper := script.Write(t, filepath.Join(t.TempDir(), "svc"),
		fmt.Sprintf("exec bwrap --die-with-parent --dev-bind / / --size %d --tmpfs %q %q \"$@\"\n", 40<<20, mount, apptest.Binary(t)))
	// The database is elsewhere: SQLite would resolve the path below to this process's own.
	database := dbtest.URL(t, "postgres")
	s, err := serveBinary(t, wrapper, mount, os.Environ(), "--worker", "none", "--min-free", "1MiB", "--database", database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.stop() }) // bwrap ends by the signal, and the service with it
	pid := s.cmd.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	data = fmt.Sprintf("/proc/%s/root%s", strings.Fields(string(children))[0], mount)
	config := app.Config{Data: data, Database: database, Log: story.LogOf(t)}
	beside, err := app.Open(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := beside.Close(); err != nil {
			t.Error(err)
		}
	})
	return &story.Service{T: t, Config: config, App: beside, URL: s.address}, data
}

// fill writes a file until the disk has no room left.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for _, block := range []int{1 << 20, 4 << 10, 1} {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, block))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
}

func TestAFullDiskDelaysWorkAndLosesNone(t *testing.T) {
	t.Parallel()
	svc, data := onSmallDisk(t)
	c := svc.Caller(story.Credit)
	w := svc.ManualWorker()
	job := c.StartFrames(1)
	got, err := w.LeaseOne(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(data, "ballast")
	fill(t, ballast)
	once, err := client.New(svc.URL, c.Agent.Secret, client.WithAttempts(1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = once.Inspect(story.Patient(t), client.InspectRequest{Filename: "a.blend", Body: bytes.NewReader(apptest.PlainScene(t))})
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable || refused.Code != "unavailable" || refused.RetryAfter == 0 {
		t.Errorf("an upload to a full disk: %v (%+v), want 503 with Retry-After", err, refused)
	}
	var farm *farmapi.Error
	if err := w.DeliverResult(t, got); !errors.As(err, &farm) || farm.Status != http.StatusServiceUnavailable || farm.RetryAfter == 0 {
		t.Errorf("a frame for a full disk: %v (%+v), want 503 with Retry-After", err, farm)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := w.DeliverResult(t, got); err != nil {
		t.Errorf("the frame once there is room: %v", err)
	}
	c.Fetch(c.Await(job.JobID, client.StatusCompleted), 1)
	svc.SettledOnce(c, 1)
	svc.Audit()
}
