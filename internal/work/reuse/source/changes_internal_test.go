package source

import (
	"testing"

	"svc.example/internal/ground/db/query"
)

// An order is compared with the newest job of the same file, then of another version of it.
func TestTheSameFileIsComparedBeforeAnotherVersionOfIt(t *testing.T) {
	t.Parallel()
	jobs := []query.JobsWithContentKeysRow{ // the newest first
		{JobID: "JOB-5", Filename: "castle.blend"}, {JobID: "JOB-4", Filename: "shot_v3.blend"}, {JobID: "JOB-3", Filename: "shot_v2.blend"},
		{JobID: "JOB-2", Filename: "Shot-010.blend"}, {JobID: "JOB-1", Filename: "0042.blend"},
	}
	for name, want := range map[string]string{
		"shot_v2.blend": "JOB-3", "shot_v4.blend": "JOB-4", "shot.blend": "JOB-4", "shot12.blend": "JOB-4", "shot V7.blend": "JOB-4",
		"Shot-020.blend": "JOB-2", "0042.blend": "JOB-1", "0043.blend": "not related", "shots.blend": "not related",
	} {
		job, related := newest(jobs, name)
		switch {
		case !related && (job.JobID != "JOB-5" || want != "not related"), related && job.JobID != want:
			t.Errorf("%s is compared with %s, related %t; want %s", name, job.JobID, related, want)
		}
	}
}
