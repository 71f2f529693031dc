package fault_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/fault"
)

func TestEveryCodeStandsOnceAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	seen := map[fault.Code]bool{}
	for _, row := range fault.Table() {
		if seen[row.Code] {
			t.Errorf("%s stands twice", row.Code)
		}
		seen[row.Code] = true
		if row.Action == "" {
			t.Errorf("%s does not say what to do", row.Code)
		}
		if (row.Door == fault.DoorJob) != (row.Status == 0) {
			t.Errorf("%s: only failure codes of jobs have no status", row.Code)
		}
	}
}

func TestUnknownErrorLeaksNothing(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	rec.Header().Set(fault.RequestIDHeader, "req_1")
	fault.Respond(rec, errors.New("pq: password of user svc is hunter2"))
	if rec.Code != 500 || strings.Contains(rec.Body.String(), "hunter2") {
		t.Fatalf("got %d %s", rec.Code, rec.Body)
	}
	var body fault.Body
	if err := json.Unmarshal(rec.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	if body.OK || body.Error.Code != fault.Internal || body.Error.RequestID != "req_1" {
		t.Fatalf("got %+v", body)
	}
}

func TestCauseIsForTheLogAndNotForTheWire(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk sda1 is full")
	err := fmt.Errorf("store upload: %w", fault.New(fault.Unavailable, "Cannot store the file now.").Wrap(cause).After(1500*time.Millisecond))
	if !errors.Is(err, cause) {
		t.Fatal("the log must see the cause")
	}
	rec := httptest.NewRecorder()
	fault.Respond(rec, err)
	if rec.Code != 503 || strings.Contains(rec.Body.String(), "sda1") {
		t.Fatalf("got %d %s", rec.Code, rec.Body)
	}
	if rec.Header().Get("Retry-After") != "2" || !strings.Contains(rec.Body.String(), `"retry_after_seconds":1.5`) {
		t.Fatalf("got %v %s", rec.Header(), rec.Body)
	}
}
