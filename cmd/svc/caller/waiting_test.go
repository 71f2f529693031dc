package caller

import (
	"testing"

	"svc.example/client"
)

func TestAJobThatWaitsShowsWhyAndItsPlace(t *testing.T) {
	t.Parallel()
	for want, job := range map[string]client.Job{
		"waiting: no worker is online yet, number 3 in the queue":                       {Status: client.StatusQueued, WaitingReason: "no_worker_online", QueuePosition: new(3)},
		"waiting: none of the workers that are online can render this job":              {Status: client.StatusRendering, WaitingReason: "no_capable_worker"},
		"waiting: all workers that can render this job are busy, number 1 in the queue": {Status: client.StatusQueued, WaitingReason: "workers_busy", QueuePosition: new(1)},
		"queued, number 1 in the queue":                                                 {Status: client.StatusQueued, QueuePosition: new(1)},
	} {
		if got := waitingText(&job); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := leftText(&client.Job{ETASeconds: new(0.1)}); got != "1s left" {
		t.Errorf("a tenth of a second is %q", got)
	}
}
