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

// Each page of a list knows where the page before it begins, also after jobs were added.
func TestAListLeadsBackToThePageBefore(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace, other := w.Workspace(t), w.Workspace(t)
		for range 7 {
			w.Job(t, workspace, 1)
			w.HeldJob(t, workspace, 1)
			w.Job(t, other, 1)
		}
		for _, wanted := range []job.ListRequest{
			{WorkspaceID: workspace}, {WorkspaceID: workspace, Status: job.Queued}, {WorkspaceID: workspace, Filter: job.Filter{From: "2001-01-01"}},
			{WorkspaceID: workspace, Status: job.Queued, Filter: job.Filter{From: "2001-01-01"}},
		} {
			wanted.Limit = 3
			var begins []string
			for more := true; more; {
				page, follow, err := w.Jobs.List(t.Context(), wanted)
				if err != nil {
					t.Fatal(err)
				}
				begins, more = append(begins, wanted.Before), follow
				wanted.Before = page[len(page)-1].JobID
			}
			if len(begins) < 3 {
				t.Fatalf("%+v has %d pages", wanted, len(begins))
			}
			w.Job(t, workspace, 1)
			for i, before := range begins {
				wanted.Before = before
				back, err := w.Jobs.Newer(t.Context(), wanted)
				if want := begins[max(0, i-1)]; i != 1 && (err != nil || back != want) {
					t.Errorf("%+v: the page before number %d begins after %q, want %q: %v", wanted, i, back, want, err)
				}
				if i == 1 && (err != nil || back == "") { // the first page has another job now
					t.Errorf("%+v: %q, %v", wanted, back, err)
				}
			}
		}
	})
}
