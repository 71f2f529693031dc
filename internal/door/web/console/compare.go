package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/watch"
)

// Label names a frame of one of two jobs that are compared.
func (j jobRow) Label() string { return fmt.Sprintf("%s, %s", j.Filename, j.JobID) }

// compare finds the frame that a request compares with: another one of the job, or of another job
// of the workspace, by default the same number there.
func (s *Site) compare(r *http.Request, who identity.Principal, v *frameView, views []watch.FrameView) error {
	q := r.URL.Query()
	with, otherID := page.CutQuery(q.Get("with")), page.CutQuery(q.Get("job"))
	if otherID == v.JobID {
		otherID = ""
	}
	if otherID != "" {
		other, err := s.Jobs.Get(r.Context(), who.WorkspaceID, otherID)
		if fault.Is(err, fault.RenderNotFound) {
			v.WithNone = "The other job was not found."
			return nil
		}
		if err == nil {
			views, err = s.Watch.Frames(r.Context(), who.WorkspaceID, otherID)
		}
		if err != nil {
			return err
		}
		v.Other, with = new(rowOf(who, other)), cmp.Or(with, fmt.Sprint(v.Frame))
		if !v.Other.Pictures() {
			views = nil // they are not kept
		}
		v.OtherNumbers = numbersOf(views)
	}
	if with == "" {
		return nil
	}
	at := place(views, with)
	switch {
	case at >= 0 && cell{View: &views[at]}.Unshown() != "":
		v.WithNone = fmt.Sprintf("Browsers cannot show %s, so there is nothing to compare with.", views[at].File)
	case at >= 0:
		v.With = &cell{JobID: cmp.Or(otherID, v.JobID), Frame: views[at].Frame, View: &views[at], look: v.look}
	case v.Other != nil:
		v.WithNone = fmt.Sprintf("There is no frame %s in %s, so there is nothing to compare with.", with, v.Other.Label())
	default:
		v.WithNone = fmt.Sprintf("Frame %s of this job is not rendered, so there is nothing to compare with.", with)
	}
	return nil
}

// compareView is the content of the page that chooses a job to compare with.
type compareView struct {
	jobRow
	Number string
	// Same have the same file name; Others are the other recent ones.
	Same, Others []candidate
}

// candidate is a job to compare with.
type candidate struct {
	jobRow
	// Comparison is the page that compares the frame with the same one of the job.
	Comparison string
}

// FramePath is the page of the frame.
func (v compareView) FramePath() string { return v.Path() + "/frames/" + v.Number }

// offered is how many recent jobs the page offers of each kind.
const offered = 10

// chooseJob builds the page that chooses a job of the workspace to compare a frame with.
func (s *Site) chooseJob(r *http.Request, who identity.Principal) (page.Page, error) {
	ctx, jobID := r.Context(), r.PathValue("job_id")
	o, err := s.Jobs.Get(ctx, who.WorkspaceID, jobID)
	if err != nil {
		return page.Page{}, err
	}
	v := compareView{jobRow: rowOf(who, o), Number: r.PathValue("frame")}
	if _, err := s.previewOf(r, who); err != nil {
		return page.Page{}, err
	}
	words := strings.Fields(o.Filename)
	for _, text := range []string{strings.Join(words[:min(len(words), job.MaxSearchWords)], " "), ""} {
		all, _, err := s.Jobs.List(ctx, job.ListRequest{WorkspaceID: who.WorkspaceID, Filter: job.Filter{Text: text}, Limit: 2 * offered})
		if fault.Is(err, fault.InvalidRequest) {
			continue // a name that no search takes
		}
		if err != nil {
			return page.Page{}, err
		}
		for _, other := range all {
			v.offer(rowOf(who, other))
		}
	}
	return page.Page{Template: "compare", Title: fmt.Sprintf("Compare frame %s of %s", v.Number, o.Filename), Section: page.JobsSection, Content: v}, nil
}

// offer adds a job that has frames, once.
func (v *compareView) offer(j jobRow) {
	to := &v.Others
	if j.Filename == v.Filename {
		to = &v.Same
	}
	listed := slices.ContainsFunc(*to, func(o candidate) bool { return o.JobID == j.JobID })
	if j.JobID != v.JobID && j.Pictures() && !listed && len(*to) < offered {
		*to = append(*to, candidate{j, v.FramePath() + "?" + url.Values{"job": {j.JobID}}.Encode()})
	}
}
