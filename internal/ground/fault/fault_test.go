package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"svc.example/internal/ground/fault"
)

func TestEveryCodeStandsOnceAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	seen := map[fault.Code]bool{}
	for _, row := range fault.Table() {
		if seen[row.Code] {
			t.Errorf("%s is listed twice", row.Code)
		}
		seen[row.Code] = true
		if row.Action == "" {
			t.Errorf("%s does not say what to do", row.Code)
		}
		if (row.Door == fault.DoorJob) != (row.Status == 0) {
			t.Errorf("%s: only failures of jobs have no status", row.Code)
		}
	}
}

func TestTheTextOfAnUnknownErrorIsHidden(t *testing.T) {
	t.Parallel()
	status, body := fault.Envelope(errors.New("pq: password of user svc is hunter2"), "req_1")
	if status != 500 || body.OK || body.Error.Code != fault.Internal || body.Error.RequestID != "req_1" || strings.Contains(body.Error.Message, "hunter2") {
		t.Errorf("got %d %+v", status, body)
	}
}

func TestTheLogSeesTheCauseOfAnError(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk sda1 is full")
	err := fmt.Errorf("store upload: %w", fault.New(fault.Unavailable, "Cannot store the file now.").Wrap(cause))
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "sda1") {
		t.Errorf("the log sees %v", err)
	}
}
