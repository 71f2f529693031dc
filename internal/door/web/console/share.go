package console

import (
	"net/http"
	"strconv"
	"time"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/share"
)

// shareView is the content of the page on which a job is shared.
type shareView struct {
	jobRow
	// Link is the job's link; nil while it is not shared. Its address is known only on the
	// answer that made it.
	Link *share.Share
	// TakesComments says that the service has comments.
	TakesComments bool
	// Problem is why the last form was refused; nil when none was.
	Problem *fault.Wire
}

// share builds the page on which a job is shared.
func (s *Site) share(r *http.Request, who identity.Principal) (page.Page, error) {
	return s.sharePage(r, who, shareView{})
}

func (s *Site) sharePage(r *http.Request, who identity.Principal, v shareView) (page.Page, error) {
	ctx, jobID := r.Context(), r.PathValue("job_id")
	o, err := s.Jobs.Get(ctx, who.WorkspaceID, jobID)
	if err != nil {
		return page.Page{}, err
	}
	v.jobRow, v.TakesComments = rowOf(who, o), s.Shares.Comments > 0
	if v.Link == nil {
		err = s.DB.Read(ctx, func(tx *db.Tx) error {
			link, err := s.Shares.Of(ctx, tx, who.WorkspaceID, jobID)
			if fault.Is(err, fault.ShareNotFound) {
				return nil
			}
			v.Link = &link
			return err
		})
	}
	return page.Page{Template: "share", Title: "Share " + o.Filename, Section: page.JobsSection, Content: &v}, err
}

// makeShare makes the link of a job. It does not redirect: the answer shows the address, which
// is shown only once.
func (s *Site) makeShare(r *http.Request, who identity.Principal) (page.Page, error) {
	ctx := r.Context()
	w := share.Wish{Download: r.PostForm.Get("download") == "yes", Proof: r.PostForm.Get("proof") == "yes", Comments: r.PostForm.Get("comments") == "yes"}
	days, err := strconv.Atoi(r.PostForm.Get("days"))
	if err != nil || days < 1 || time.Duration(days)*24*time.Hour > share.LongestLife {
		err = fault.Field("days", "must be 1 to 365 days")
	}
	var made share.Share
	if err == nil {
		w.Life = time.Duration(days) * 24 * time.Hour
		err = s.DB.Write(ctx, func(tx *db.Tx) (err error) {
			made, err = s.Shares.Make(ctx, tx, who, r.PathValue("job_id"), w)
			return err
		})
	}
	if err == nil {
		return s.sharePage(r, who, shareView{Link: &made})
	}
	return s.refusedShare(r, who, err)
}

// endShare ends the link of a job. Ending it twice is no mistake.
func (s *Site) endShare(r *http.Request, who identity.Principal) (page.Page, error) {
	jobID := r.PathValue("job_id")
	err := s.DB.Write(r.Context(), func(tx *db.Tx) error { return s.Shares.End(r.Context(), tx, who, jobID) })
	if err != nil && !fault.Is(err, fault.ShareNotFound) {
		return page.Page{}, err
	}
	if r.PostForm.Get("from") == "list" {
		return page.Page{Location: sharesPath}, nil
	}
	return page.Page{Location: jobsPath + jobID + "/share"}, nil
}

func (s *Site) refusedShare(r *http.Request, who identity.Principal, err error) (page.Page, error) {
	status, envelope := fault.Envelope(err, "")
	if status >= http.StatusInternalServerError || status == http.StatusNotFound {
		return page.Page{}, err
	}
	p, err := s.sharePage(r, who, shareView{Problem: &envelope.Error})
	p.Status = status
	return p, err
}

// shares builds the page of all links of a workspace.
func (s *Site) shares(r *http.Request, who identity.Principal) (page.Page, error) {
	var all []share.Share
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		all, err = s.Shares.List(r.Context(), tx, who.WorkspaceID)
		return err
	})
	return page.Page{Template: "shares", Title: "Shared jobs", Section: page.JobsSection, Content: all}, err
}

// Shareable reports whether a job can have frames to show.
func (v shareView) Shareable() bool { return v.Status != job.Failed && v.Status != job.Cancelled }

// sharesRoutes adds the pages of links to jobs, and of what visitors write there.
func (s *Site) sharesRoutes(mux *http.ServeMux) {
	one := jobsPath + "{job_id}"
	mux.Handle("GET "+one+"/share", s.Page(s.Admit(s.share)))
	mux.Handle("POST "+one+"/share", s.Page(s.Form(identity.Member, s.makeShare)))
	s.FormAt(mux, one+"/share/end", one+"/share", identity.Member, s.endShare)
	s.FormAt(mux, one+"/share/comments", one+"/share", identity.Member, s.allowComments)
	mux.Handle("GET "+one+"/comments", s.Page(s.Admit(s.comments)))
	s.FormAt(mux, one+"/comments/delete", one+"/comments", identity.Member, s.deleteComments)
	s.FormAt(mux, one+"/comments/{comment_id}/{action}", one+"/comments", identity.Member, s.changeComment)
	mux.Handle("GET "+commentsPath, s.Page(s.Admit(s.openComments)))
	mux.Handle("GET "+sharesPath, s.Page(s.Admit(s.shares)))
}
