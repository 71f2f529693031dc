package console

import (
	"context"
	"net/http"
	"slices"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
)

// selectedPath is where the form of selected jobs leads.
const selectedPath = "/console/jobs"

// mostSelected bounds the jobs of a form: what pages of the list have, and some more.
const mostSelected = 100

// selectedView says what became of the jobs that a person has selected.
type selectedView struct {
	// Title is what was asked for.
	Title string
	Jobs  []selectedJob
	// Refused is how many of the jobs were not changed, or have nothing to download.
	Refused int
	// Back is the list with the filter that it had.
	Back string
}

// selectedJob is one of them.
type selectedJob struct {
	jobRow
	// Download is the address of its frames; "" unless it was asked for.
	Download string
	// Problem is why it was refused; nil when it was not.
	Problem *fault.Wire
}

// act is what a form of selected jobs can ask for.
type act struct {
	title string
	do    func(ctx context.Context, who identity.Principal, jobID string) error
}

// acts are the acts by the value of the form's button. tags are those of the form.
func (s *Site) acts(tags []string) map[string]act {
	change := func(do func(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (job.Object, error)) func(context.Context, identity.Principal, string) error {
		return func(ctx context.Context, who identity.Principal, jobID string) error {
			return s.DB.Write(ctx, func(tx *db.Tx) error {
				_, err := do(ctx, tx, who.WorkspaceID, jobID)
				return err
			})
		}
	}
	return map[string]act{
		"cancel": {"Cancel jobs", change(s.Jobs.Cancel)},
		"tag": {"Tag jobs", change(func(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (job.Object, error) {
			return s.Jobs.AddTags(ctx, tx, workspaceID, jobID, tags)
		})},
		"download": {"Download frames", func(ctx context.Context, who identity.Principal, jobID string) error {
			_, _, err := s.Artifacts.Download(ctx, who.WorkspaceID, jobID)
			return err
		}},
	}
}

// selected does one thing with each of the jobs that a person has selected in the list, and
// shows what became of each. A job is changed or refused for itself: a refusal stops none of
// the others.
func (s *Site) selected(r *http.Request, who identity.Principal) (page.Page, error) {
	ids := slices.Clone(r.PostForm["job"])
	slices.Sort(ids)
	ids = slices.Compact(ids)
	slices.Reverse(ids) // the newest first, as the list has them
	if len(ids) == 0 {
		return page.Page{}, fault.New(fault.InvalidRequest, "No job is selected.").WithAction("Go back and select jobs first.")
	}
	if len(ids) > mostSelected {
		return page.Page{}, fault.New(fault.InvalidRequest, "%d jobs are selected, but one form takes %d.", len(ids), mostSelected)
	}
	tags, err := job.SplitTags(r.PostForm.Get("tags"))
	name := r.PostForm.Get("do")
	if name == "tag" && err == nil && len(tags) == 0 {
		err = fault.New(fault.InvalidRequest, "The form has no tag.").WithAction("Go back and write a tag.")
	}
	if name == "tag" && err != nil {
		return page.Page{}, err
	}
	asked, known := s.acts(tags)[name]
	if !known {
		return page.Page{}, fault.Field("do", "must be cancel, download or tag")
	}
	v := selectedView{Title: asked.title, Back: readFilter(r.URL.Query()).path()}
	for _, jobID := range ids {
		err := asked.do(r.Context(), who, jobID)
		one, err := s.selectedJob(r.Context(), who, jobID, err)
		if err != nil {
			return page.Page{}, err
		}
		if one.Problem != nil {
			v.Refused++
		} else if name == "download" {
			one.Download = one.Path() + "/download"
		}
		v.Jobs = append(v.Jobs, one)
	}
	return page.Page{Template: "selected", Title: v.Title, Section: page.JobsSection, Content: v}, nil
}

// selectedJob reads a job after an act, or its refusal. A job that is not the workspace's
// shows as its id alone. Anything but a refusal is an error.
func (s *Site) selectedJob(ctx context.Context, who identity.Principal, jobID string, refused error) (one selectedJob, err error) {
	if refused != nil {
		status, problem := page.Refused(refused)
		if status >= http.StatusInternalServerError {
			return one, refused
		}
		one.Problem = problem
	}
	o, err := s.Jobs.Get(ctx, who.WorkspaceID, jobID)
	if fault.Is(err, fault.RenderNotFound) && refused != nil {
		o, err = job.Object{JobID: jobID}, nil
	}
	one.jobRow = rowOf(who, o)
	return one, err
}
