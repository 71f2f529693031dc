package job_test

import (
	"slices"
	"testing"

	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/job"
)

func TestAListOfAStatusHasTheJobsOfThatStatusPageByPage(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace, other := w.Workspace(t), w.Workspace(t)
		var queued, held []string
		for range 5 {
			queued = append(queued, w.Job(t, workspace, 1))
			held = append(held, w.HeldJob(t, workspace, 1))
			w.Job(t, other, 1)
		}
		for status, want := range map[job.Status][]string{job.Queued: queued, job.AwaitingSubmit: held, job.Failed: nil} {
			want = slices.Clone(want)
			slices.Reverse(want) // the newest first
			var got []string
			for before, more := "", true; more; {
				page, follow, err := w.Jobs.List(t.Context(), job.ListRequest{WorkspaceID: workspace, Status: status, Before: before, Limit: 2})
				if err != nil {
					t.Fatal(err)
				}
				if more = follow; more && len(page) != 2 {
					t.Fatalf("%s: a page before the last one has %d jobs", status, len(page))
				}
				for _, o := range page {
					got = append(got, o.JobID)
					before = o.JobID
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", status, got, want)
			}
		}
	})
}
