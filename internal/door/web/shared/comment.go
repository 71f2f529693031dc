package shared

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/share"
	"svc.example/internal/work/watch"
)

// commentsView is what the page shows of the comments.
type commentsView struct {
	share.Shown
	// Typed is what was typed and refused.
	Typed share.Said
	// Problem is why the last comment was refused; nil when none was.
	Problem *fault.Wire
}

// framePage is the page of a frame.
func framePage(base string, frame int) string { return fmt.Sprintf("%s/frames/%d", base, frame) }

// MostText and MostName are how many characters a comment and a name may have.
func (commentsView) MostText() int { return share.MaxCommentCharacters }

// MostName is described at MostText.
func (commentsView) MostName() int { return share.MaxAuthorCharacters }

// CommentedPath is the page of a frame that has comments.
func (v view) CommentedPath(c share.Commented) string {
	return framePage(v.Base, c.Frame) + "#comments"
}

// comment keeps what a visitor wrote about a frame, and leads back to the frame. What is refused
// stays in the form. Errors: share_not_found, cross_origin_refused.
func (s *Site) comment(w http.ResponseWriter, r visit) error {
	if err := s.ReadForm(r.Request); err != nil {
		return err
	}
	typed := share.Said{Author: r.PostForm.Get("name"), Text: r.PostForm.Get("comment")}
	o, err := s.Jobs.Get(r.Context(), r.WorkspaceID, r.JobID)
	if err != nil {
		return err
	}
	views, err := s.frames(r, o)
	if err != nil {
		return err
	}
	typed.Frame, err = strconv.Atoi(strings.TrimSpace(r.PostForm.Get("frame")))
	if err != nil || !slices.ContainsFunc(views, func(f watch.FrameView) bool { return f.Frame == typed.Frame }) {
		typed.Frame, err = 0, fault.Field("frame", "must be one of the frames on this page")
	}
	if err == nil {
		err = s.Shares.Add(r.Context(), r.Opened, typed)
	}
	if err == nil {
		return s.Show(w, r.Request, page.Page{Location: framePage(r.base, typed.Frame) + "#comments"})
	}
	status, problem := page.Refused(err)
	if status >= http.StatusInternalServerError || status == http.StatusNotFound {
		return err
	}
	if typed.Frame != 0 {
		r.SetPathValue("frame", strconv.Itoa(typed.Frame))
	}
	if problem.RetryAfterSeconds != nil {
		w.Header().Set("Retry-After", strconv.FormatFloat(math.Ceil(*problem.RetryAfterSeconds), 'f', 0, 64))
	}
	return s.show(w, r, commentsView{Typed: typed, Problem: problem}, status)
}

// leadBack leads a browser that opens the address of the form to the page.
func (s *Site) leadBack(w http.ResponseWriter, r visit) error {
	return s.Show(w, r.Request, page.Page{Location: r.base})
}
