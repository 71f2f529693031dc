package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/share"
)

// jobsOnPage is how many jobs a page of the list shows.
const jobsOnPage = 25

// jobsView is the content of the list of jobs.
type jobsView struct {
	Jobs []jobRow
	jobsFilter
	Tabs []page.Tab
	// Saved are the filters that the person has saved, and CanSave says that this one is none of
	// them.
	Saved   []savedFilter
	CanSave bool
	// Problem is why the filter cannot be read; nil when it can.
	Problem *fault.Wire
	// Around leads to the newer and the older jobs.
	Around page.Pager
	// Needed are jobs that wait for the person, or failed lately: they come first.
	Needed []jobRow
	// Quotes are prices that nobody has accepted yet.
	Quotes []unstartedQuote
	// Comments is how many comments of visitors are open, up to 100.
	Comments int
	// Unfinished names what an upload of this browser did not finish; "" for none.
	Unfinished string
	// Cards says that the person prefers cards to the table.
	Cards bool
	// Begun says that the workspace has had a job: otherwise the page shows the
	// first steps.
	Begun bool
	// Live is the address of the stream that keeps this page true.
	Live string
}

// unstartedQuote is a price in the list of those that wait for the person.
type unstartedQuote struct{ quote.Unstarted }

// Path is the page of its upload.
func (q unstartedQuote) Path() string { return uploadsPath + q.UploadID }

// Says is how long the price is still locked.
func (q unstartedQuote) Says() string { return page.SpanText(q.Left.Seconds()) + " left" }

// jobRow is a job in the list.
type jobRow struct {
	job.Object
	// Renders says that the person may change and start jobs.
	Renders bool
}

// rowOf is a job as a person sees it.
func rowOf(who identity.Principal, o job.Object) jobRow {
	return jobRow{o, who.Role.Includes(identity.Member)}
}

// Path is the job's page.
func (j jobRow) Path() string { return jobsPath + j.JobID }

// Pictures reports whether there are frames to show: those of a job that failed, was
// cancelled or expired are removed.
func (j jobRow) Pictures() bool { return j.ContactSheetURL != nil }

// Thumbnail is the address of a small picture: the lowest frame that is rendered.
func (j jobRow) Thumbnail() string {
	if !j.Pictures() {
		return ""
	}
	return j.Path() + "/thumbnail"
}

// Ended reports whether the job's state changes no more.
func (j jobRow) Ended() bool {
	return j.Status == job.Completed || j.Status == job.Failed || j.Status == job.Cancelled
}

// State is the job's state in words.
func (j jobRow) State() string { return page.StateText(j.Status) }

// Says is one line on what the person wants to know next.
func (j jobRow) Says() string {
	switch {
	case j.Status == job.Failed && j.Failure != nil:
		return j.Failure.Message
	case j.Status == job.Completed && len(j.Findings) > 0:
		return fmt.Sprintf("%s to check", page.FrameCount(findingFrames(j.Object)))
	case j.WaitingReason != nil:
		return page.WaitText(j.Object)
	case j.ETASeconds != nil:
		return "about " + page.SpanText(*j.ETASeconds) + " left"
	case j.Status == job.AwaitingSubmit:
		return "not submitted yet"
	}
	return ""
}

// CommentText is how many comments of visitors are open; "" for none.
func (v jobsView) CommentText() string {
	switch v.Comments {
	case 0:
		return ""
	case 1:
		return "1 open comment"
	case share.MostCounted:
		return fmt.Sprintf("%d or more open comments", share.MostCounted)
	}
	return fmt.Sprintf("%d open comments", v.Comments)
}

// findingFrames is how many frames a person should check.
func findingFrames(o job.Object) (n int) {
	for _, f := range o.Findings {
		n += f.FrameCount
	}
	return n
}

// jobs builds the list of a workspace's jobs, the newest first.
func (s *Site) jobs(r *http.Request, who identity.Principal) (page.Page, error) {
	if r.URL.Query().Has(layoutField) {
		return page.Page{Location: readFilter(r.URL.Query()).path(), Cookie: s.LayoutCookie(r.URL.Query().Get(layoutField))}, nil
	}
	v, err := s.jobList(r, who)
	if err == nil {
		v.Begun = len(v.Jobs) > 0 || v.jobsFilter != jobsFilter{} || r.URL.Query().Has("before")
		err = s.markSaved(r, who, &v)
		if err == nil && r.URL.RawQuery == "" {
			v.Unfinished = unfinished(r)
			err = s.waiting(r, who, &v)
		}
	}
	v.Cards = page.Cards(r)
	// A browser without script forgets at each reload which jobs are selected.
	p := page.Page{Template: "jobs", Title: "Jobs", Section: page.JobsSection, Content: v, Reload: 60}
	if v.Problem != nil {
		p.Status = http.StatusBadRequest
	}
	if v.Cards {
		p.Sheet = "cards.css"
	}
	return p, err
}

// layoutField is the parameter by which a person chooses cards or the table.
const layoutField = "layout"

// Layouts lead to the list as a table and as cards.
func (v jobsView) Layouts() (all []page.Tab) {
	for _, l := range []struct {
		name, layout string
		here         bool
	}{{"Table", "", !v.Cards}, {"Cards", page.CardsLayout, v.Cards}} {
		at := v.values()
		at.Set(layoutField, l.layout)
		all = append(all, page.Tab{Name: l.name, Path: page.ConsolePath + "?" + at.Encode(), Here: l.here})
	}
	return all
}

// unfinishedCookie is where upload.js keeps the name of what it uploads until it has arrived.
const unfinishedCookie = "svc_upload"

// unfinished names what an upload of this browser did not finish; "" for none.
func unfinished(r *http.Request) string {
	cookie, err := r.Cookie(unfinishedCookie)
	if err != nil {
		return ""
	}
	name, err := url.PathUnescape(cookie.Value)
	if err != nil {
		return ""
	}
	return plaintext.Line(page.CutQuery(name))
}

// Bounds of what needs the person.
const (
	mostNeeded = 5
	mostQuotes = 5
	neededFor  = 3 * 24 * time.Hour
)

// waiting puts into the view what waits for the person: jobs that wait for their submit, those
// that failed lately, comments of visitors, and prices that were not accepted.
func (s *Site) waiting(r *http.Request, who identity.Principal, v *jobsView) error {
	all, err := s.Jobs.Needing(r.Context(), who.WorkspaceID, neededFor, mostNeeded)
	if err != nil {
		return err
	}
	for _, o := range all {
		v.Needed = append(v.Needed, rowOf(who, o))
	}
	err = s.DB.ReadStatement(r.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		v.Comments, err = share.CountOpen(ctx, tx, who.WorkspaceID)
		return err
	})
	if err != nil {
		return err
	}
	return s.DB.ReadStatement(r.Context(), func(ctx context.Context, tx *db.Tx) error {
		quotes, err := quote.ListUnstarted(ctx, tx, who.WorkspaceID, mostQuotes)
		v.Quotes = nil
		for _, q := range quotes {
			v.Quotes = append(v.Quotes, unstartedQuote{q})
		}
		return err
	})
}

// jobList reads the page of jobs that a request names. A filter that cannot be read shows no
// job, and says why.
func (s *Site) jobList(r *http.Request, who identity.Principal) (jobsView, error) {
	before := r.URL.Query().Get("before")
	v := jobsView{jobsFilter: readFilter(r.URL.Query())}
	v.Tabs = v.tabs()
	wanted := v.request(who.WorkspaceID, before)
	all, more, err := s.Jobs.List(r.Context(), wanted)
	if v.Problem = unreadable(err); v.Problem != nil {
		return v, nil
	}
	if err != nil {
		return v, err
	}
	for _, o := range all {
		v.Jobs = append(v.Jobs, rowOf(who, o))
	}
	around := page.Around{Before: before}
	if more {
		around.Last = all[len(all)-1].JobID
	}
	if around.Newer, err = s.Jobs.Newer(r.Context(), wanted); err != nil {
		return v, err
	}
	v.Around = page.PagerOf("jobs", page.ConsolePath, v.values(), around)
	live := v.values()
	if before != "" {
		live.Set("before", before)
	}
	v.Live = page.ConsolePath + "/live?" + live.Encode()
	return v, nil
}

// liveJobsEvery is how often the stream of the list looks for changes.
const liveJobsEvery = 2 * time.Second

// liveJobs streams the rows of the list that change, and the whole list where other jobs
// belong to it.
func (s *Site) liveJobs(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	return s.stream(w, r, func(out *stream) error {
		shown := shownJobs{}
		for {
			v, err := s.jobList(r, who)
			if err == nil {
				err = shown.update(out, v)
			}
			if err == nil {
				err = out.wait(liveJobsEvery)
			}
			if err != nil {
				return err
			}
		}
	})
}

// shownJobs is what a browser has of the list.
type shownJobs struct {
	ids  string            // of the jobs, in their order; "" before the first look
	rows map[string]string // by id
}

// update sends what has changed since the last call. The first one sends nothing: the page
// has what it finds.
func (shown *shownJobs) update(out *stream, v jobsView) error {
	rows, ids := map[string]string{}, "-"
	for _, j := range v.Jobs {
		text, err := pages.Fragment("jobs", "row", j)
		if err != nil {
			return err
		}
		rows[j.JobID], ids = string(text), ids+j.JobID
	}
	before := *shown
	*shown = shownJobs{ids, rows}
	switch before.ids {
	case "":
		return nil
	case ids:
	default: // a job is new, or not of the chosen state any more
		return out.part("jobs", "rows", v)
	}
	for _, j := range v.Jobs {
		if rows[j.JobID] != before.rows[j.JobID] {
			if err := out.part("jobs", "changed", j); err != nil {
				return err
			}
		}
	}
	return nil
}
