package console

import (
	"fmt"
	"net/http"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/share"
)

// Comments of visitors: how many a page of them shows, and how many the page of their job.
const (
	commentsOnPage = 50
	commentsOnJob  = 3
)

// commentsPath is the page of the open comments on all jobs.
const commentsPath = "/console/comments"

// commentsView is the content of a page of comments.
type commentsView struct {
	// Job is the one that they are on; nil for the open ones of all jobs.
	Job      *jobRow
	Comments []commentRow
	// Around leads to the newer and the older ones.
	Around page.Pager
}

// commentRow is a comment of a visitor.
type commentRow struct {
	share.Comment
	// Renders says that the person may delete it. From is the page that lists it: "open" for
	// that of all jobs, "job" for the job's, "comments" for that of the job's comments.
	Renders bool
	From    string
}

// JobPath is the page of its job, and FramePath that of its frame.
func (c commentRow) JobPath() string { return jobsPath + c.JobID }

// FramePath is described at JobPath.
func (c commentRow) FramePath() string { return fmt.Sprintf("%s/frames/%d", c.JobPath(), c.Frame) }

// Path begins the addresses of its forms.
func (c commentRow) Path() string { return c.JobPath() + "/comments/" + c.CommentID }

func commentRows(who identity.Principal, all []share.Comment, from string) (rows []commentRow) {
	for _, c := range all {
		rows = append(rows, commentRow{c, who.Role.Includes(identity.Member), from})
	}
	return rows
}

// jobComments are what a job's page says of the comments on it.
type jobComments struct {
	Latest []commentRow
	// More says that the page of comments has others.
	More bool
}

// commentsOn reads the newest comments on a job.
func (s *Site) commentsOn(r *http.Request, who identity.Principal, jobID string) (c jobComments, err error) {
	err = s.DB.Read(r.Context(), func(tx *db.Tx) error {
		all, err := share.OfJob(r.Context(), tx, who.WorkspaceID, jobID, "", commentsOnJob+1)
		c = jobComments{commentRows(who, all[:min(len(all), commentsOnJob)], "job"), len(all) > commentsOnJob}
		return err
	})
	return c, err
}

// openComments builds the page of the open comments on all jobs.
func (s *Site) openComments(r *http.Request, who identity.Principal) (page.Page, error) {
	v, err := s.listed(r, who, "", commentsPath, "open")
	return page.Page{Template: "comments", Title: "Comments", Section: page.JobsSection, Content: v}, err
}

// comments builds the page of the comments on a job.
func (s *Site) comments(r *http.Request, who identity.Principal) (page.Page, error) {
	o, err := s.Jobs.Get(r.Context(), who.WorkspaceID, r.PathValue("job_id"))
	if err != nil {
		return page.Page{}, err
	}
	row := rowOf(who, o)
	v, err := s.listed(r, who, o.JobID, row.Path()+"/comments", "comments")
	v.Job = &row
	return page.Page{Template: "comments", Title: "Comments on " + o.Filename, Section: page.JobsSection, Content: v}, err
}

// listed is a page of the comments on a job, or for jobID "" of the open ones on all jobs. The
// list is at path, and its forms lead back to from.
func (s *Site) listed(r *http.Request, who identity.Principal, jobID, path, from string) (v commentsView, err error) {
	around := page.Around{Before: r.URL.Query().Get("before")}
	var found []share.Comment
	err = s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		if jobID == "" {
			found, err = share.Open(r.Context(), tx, who.WorkspaceID, around.Before, commentsOnPage+1)
		} else {
			found, err = share.OfJob(r.Context(), tx, who.WorkspaceID, jobID, around.Before, commentsOnPage+1)
		}
		if err == nil {
			around.Newer, err = share.Newer(r.Context(), tx, who.WorkspaceID, jobID, around.Before, commentsOnPage)
		}
		return err
	})
	found, around.Last = page.Ahead(found, commentsOnPage, func(c share.Comment) string { return c.CommentID })
	v.Comments, v.Around = commentRows(who, found, from), page.PagerOf("comments", path, nil, around)
	return v, err
}

// changeComment marks a comment as done or as open, or deletes it. Deleting it twice is no
// mistake.
func (s *Site) changeComment(r *http.Request, who identity.Principal) (page.Page, error) {
	ctx, jobID, commentID := r.Context(), r.PathValue("job_id"), r.PathValue("comment_id")
	err := s.DB.Write(ctx, func(tx *db.Tx) error {
		switch r.PathValue("action") {
		case "done":
			return share.SetDone(ctx, tx, who, jobID, commentID, true)
		case "open":
			return share.SetDone(ctx, tx, who, jobID, commentID, false)
		case "delete":
			return share.Delete(ctx, tx, who, jobID, commentID)
		}
		return fault.New(fault.RouteNotFound, "There is no such action.")
	})
	if err != nil {
		return page.Page{}, err
	}
	switch r.PostForm.Get("from") {
	case "open":
		return page.Page{Location: commentsPath}, nil
	case "job":
		return page.Page{Location: jobsPath + jobID + "#comments"}, nil
	}
	return page.Page{Location: jobsPath + jobID + "/comments"}, nil
}

// deleteComments deletes all comments on a job.
func (s *Site) deleteComments(r *http.Request, who identity.Principal) (page.Page, error) {
	ctx, jobID := r.Context(), r.PathValue("job_id")
	err := s.DB.Write(ctx, func(tx *db.Tx) error {
		if _, err := job.Find(ctx, tx, who.WorkspaceID, jobID); err != nil {
			return err
		}
		return share.DeleteAll(ctx, tx, who, jobID)
	})
	return page.Page{Location: jobsPath + jobID}, err
}

// allowComments has the link of a job take comments, or no longer.
func (s *Site) allowComments(r *http.Request, who identity.Principal) (page.Page, error) {
	ctx, jobID := r.Context(), r.PathValue("job_id")
	err := s.DB.Write(ctx, func(tx *db.Tx) error {
		_, err := s.Shares.Allow(ctx, tx, who, jobID, r.PostForm.Get("allow") == "yes")
		return err
	})
	if err != nil {
		return s.refusedShare(r, who, err)
	}
	return page.Page{Location: jobsPath + jobID + "/share"}, nil
}
