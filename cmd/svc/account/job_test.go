package account

import (
	"strings"
	"testing"
	"time"

	"svc.example/client"
)

// TestAJobShowsAPriorityThatItWasGivenAndThatItIsPaused: without these a person looks in vain for
// the reason why a job waits.
func TestAJobShowsAPriorityThatItWasGivenAndThatItIsPaused(t *testing.T) {
	t.Parallel()
	for want, j := range map[string]client.Job{
		"priority  80, of 1 to 100":                          {Status: client.StatusQueued, Priority: 80},
		"queued, paused\n":                                   {Status: client.StatusQueued, PausedBy: "workspace", Priority: 50},
		"rendering, paused by the operator of the service\n": {Status: client.StatusRendering, PausedBy: "operator"},
	} {
		var shown strings.Builder
		printJob(&shown, &j, time.Now())
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is not in\n%s", want, &shown)
		}
		if strings.Contains(shown.String(), "priority") != (j.Priority == 80) {
			t.Errorf("the priority of a new job is told, or that of another is not:\n%s", &shown)
		}
	}
}
