package caller

import (
	"testing"

	"svc.example/client"
)

func TestAJobThatWaitsShowsWhyAndItsPlace(t *testing.T) {
	t.Parallel()
	for want, job := range map[string]client.Job{
		"waiting: no worker is online yet, number 3 in the queue":                  {Status: client.StatusQueued, WaitingReason: "no_worker_online", QueuePosition: new(3)},
		"waiting: none of the workers that are online can render this job":         {Status: client.StatusRendering, WaitingReason: "no_capable_worker"},
		"waiting: the workers report that they cannot work, number 1 in the queue": {Status: client.StatusQueued, WaitingReason: "workers_unable", QueuePosition: new(1)},
		"waiting: no worker that is online has the Blender version and denoising of the frames so far": {
			Status: client.StatusRendering, WaitingReason: "no_matching_blender"},
		"waiting: all workers that can render this job are busy, number 1 in the queue": {Status: client.StatusQueued, WaitingReason: "workers_busy", QueuePosition: new(1)},
		"queued, number 1 in the queue": {Status: client.StatusQueued, QueuePosition: new(1)},
	} {
		if got := waitingText(&job); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := leftText(&client.Job{ETASeconds: new(0.1)}); got != "1s left" {
		t.Errorf("a tenth of a second is %q", got)
	}
}

func TestAPreviewThatWaitsShowsWhy(t *testing.T) {
	t.Parallel()
	for want, reason := range map[string]string{
		"the preview waits: no worker is online":                                       "no_worker_online",
		"the preview waits: none of the workers that are online can render this scene": "no_capable_worker",
		"the preview waits: all workers render frames that are paid for":               "workers_busy",
		"": "",
	} {
		if got := progressOf(&client.UploadPreview{Status: client.PreviewQueued, WaitingReason: reason}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFailedJobSaysWhyAndWhatToDo(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	d.events = "id: 1\nevent: job\ndata: {\"job_id\":\"JOB-1\",\"status\":\"failed\",\"failure\":" +
		"{\"code\":\"out_of_memory\",\"message\":\"Blender ran out of memory\",\"suggested_action\":\"Use smaller textures.\"}}\n\n"
	o, _ := d.options(t)
	_, err := Run(t.Context(), o)
	if err == nil || err.Error() != "job JOB-1 failed: Blender ran out of memory (out_of_memory); nothing was charged. Use smaller textures." {
		t.Errorf("error %v", err)
	}
	if shown := failureOf(err); shown.Code != "out_of_memory" || shown.SuggestedAction != "Use smaller textures." {
		t.Errorf("programs get %+v", shown)
	}
}
