package shared

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/job"
	"svc.example/internal/work/share"
	"svc.example/internal/work/watch"
)

// framesOnPage is how many frames the page lists at once.
const framesOnPage = 120

// view is the content of the page.
type view struct {
	share.Opened
	Base string // the path of the page
	Job  job.Object
	// Frame is the one that is shown, with its neighbours; nil where there is none.
	Frame, Previous, Next *cell
	Cells                 []cell
	// Shown says which of the frames Cells are; "" for all. Before and After are the addresses
	// of others.
	Shown, Before, After string
	// Numbers are all frames, for the player; FPS is its speed.
	Numbers string
	FPS     float64
	// Rendered says with what the frames were rendered; "" before the first.
	Rendered string
	// Proof is what the script verifies, and ProofPage where the whole proof is; nil and ""
	// without a proof.
	Proof     *page.EmbeddedProof
	ProofPage string
	// Said are the comments; what it has shows only where the link takes comments.
	Said commentsView
}

// cell is a frame on the page.
type cell struct {
	base string
	watch.FrameView
}

// Path is the page of the frame.
func (c cell) Path() string { return fmt.Sprintf("%s/frames/%d", c.base, c.FrameView.Frame) }

// Small is the address of its small picture, which changes when the frame is rendered again; "" for
// formats that have none.
func (c cell) Small() string {
	if !pixels.Thumbnails(c.File) {
		return ""
	}
	return c.Path() + "/small?v=" + c.SHA256[:8]
}

// Unshown says why the page has no picture of the frame; "" where it has one.
func (c cell) Unshown() string {
	if pixels.Thumbnails(c.File) {
		return ""
	}
	return fmt.Sprintf("There is no preview of %s files.", strings.TrimPrefix(path.Ext(c.File), "."))
}

// State says how far the job is; "" where all of it is there.
func (v view) State() string {
	switch o := v.Job; {
	case o.Status == job.Completed && v.Frame == nil:
		return "The frames have expired and were removed."
	case o.Status == job.Completed:
		return ""
	case o.Status.Terminal():
		return "This job did not complete and has no frames."
	case v.Frame == nil:
		return "No frame is rendered yet. Load this page again later."
	}
	return fmt.Sprintf("%d of %s are rendered so far. Load this page again for more.", v.Job.FramesCompleted, page.FrameCount(v.Job.FrameCount))
}

// Zip reports whether the visitor may download all frames.
func (v view) Zip() bool { return v.Download && v.Job.DownloadURL != nil }

// page shows a link's page, at the frame that the address names or at the first. It counts the
// view, unless a visitor without script moves to another frame. Errors: frame_not_found.
func (s *Site) page(w http.ResponseWriter, r visit) error {
	return s.show(w, r, commentsView{}, 0)
}

// show is page with what a visitor wrote and a status; 0 means 200.
func (s *Site) show(w http.ResponseWriter, r visit, said commentsView, status int) error {
	v, err := s.view(r)
	if err != nil {
		return err
	}
	if v.Said = said; v.Comments && v.Frame != nil {
		if v.Said.Shown, err = s.Shares.Shown(r.Context(), r.Opened, v.Frame.FrameView.Frame); err != nil {
			return err
		}
	}
	if r.Method == http.MethodGet && r.PathValue("frame") == "" && !r.URL.Query().Has("from") {
		if err := s.Shares.Viewed(r.Context(), r.Opened); err != nil {
			s.Log.Warn("a view of a shared page is not counted", "job_id", r.JobID, "err", err)
		}
	}
	p := page.Page{Template: "shared", Title: v.Job.Filename, Unlisted: true, Forms: v.Comments, Status: status, Content: v}
	if v.Frame != nil {
		if v.Frame.Unshown() == "" {
			p.Scripts = []string{"viewer.js"}
		}
		at := s.Links.SharePage(strings.TrimPrefix(r.base, pathOf(s.Links.SharePage(""))))
		p.Card = &page.Card{Title: v.Job.Filename, Text: page.FrameCount(v.Job.FramesCompleted) + ". " + v.Rendered, URL: at}
		if v.Frame.Unshown() == "" {
			p.Card.Picture = at + "/card.jpg"
		}
	}
	if v.Proof != nil {
		p.Scripts = append(append(p.Scripts, page.ProofScripts()...), "badge.js")
	}
	return s.Show(w, r.Request, p)
}

// view reads what the page shows. Errors: frame_not_found.
func (s *Site) view(r visit) (v view, err error) {
	ctx := r.Context()
	v = view{Opened: r.Opened, Base: r.base}
	if v.Job, err = s.Jobs.Get(ctx, r.WorkspaceID, r.JobID); err != nil {
		return v, err
	}
	views, err := s.frames(r, v.Job)
	if err != nil {
		return v, err
	}
	if err := v.place(views, r.PathValue("frame")); err != nil {
		return v, err
	}
	v.list(views, r.URL.Query().Get("from"))
	if v.Rendered = rendered(v.Job); v.Frame != nil {
		if v.FPS, err = s.speed(r, v.Job); err != nil {
			return v, err
		}
	}
	if r.Proof && v.Job.ReceiptURL != nil {
		err = s.prove(r, &v)
	}
	return v, err
}

// frames lists the frames that a visitor can see, by their numbers.
func (s *Site) frames(r visit, o job.Object) ([]watch.FrameView, error) {
	if o.Status.Terminal() && o.DownloadURL == nil { // it has none, or they have expired
		return nil, nil
	}
	views, err := s.Watch.Frames(r.Context(), r.WorkspaceID, r.JobID)
	slices.SortFunc(views, func(a, b watch.FrameView) int { return a.Frame - b.Frame })
	return views, err
}

// place chooses the frame to show: the first, or that of a number. Errors: frame_not_found.
func (v *view) place(views []watch.FrameView, number string) error {
	at := 0
	if number != "" {
		n, err := strconv.Atoi(number)
		at = slices.IndexFunc(views, func(f watch.FrameView) bool { return err == nil && f.Frame == n })
		if at < 0 {
			return fault.New(fault.FrameNotFound, "Frame %q of this job has not been rendered.", number)
		}
	}
	cellAt := func(i int) *cell {
		if i < 0 || i >= len(views) {
			return nil
		}
		return &cell{v.Base, views[i]}
	}
	v.Frame, v.Previous, v.Next = cellAt(at), cellAt(at-1), cellAt(at+1)
	numbers := make([]int, len(views))
	for i, f := range views {
		numbers[i] = f.Frame
	}
	v.Numbers = framelist.Of(numbers).String()
	return nil
}

// list fills the list of frames, from the first with at least the given number.
func (v *view) list(views []watch.FrameView, from string) {
	begin := 0
	if n, err := strconv.Atoi(from); err == nil {
		begin = max(0, slices.IndexFunc(views, func(f watch.FrameView) bool { return f.Frame >= n }))
	}
	end := min(len(views), begin+framesOnPage)
	for _, f := range views[begin:end] {
		v.Cells = append(v.Cells, cell{v.Base, f})
	}
	if len(views) <= framesOnPage {
		return
	}
	at := func(i int) string { return fmt.Sprintf("%s?from=%d#frames", v.Base, views[i].Frame) }
	v.Shown = fmt.Sprintf("%d to %d of %s", begin+1, end, numbers.Grouped(int64(len(views))))
	if begin > 0 {
		v.Before = at(max(0, begin-framesOnPage))
	}
	if end < len(views) {
		v.After = at(end)
	}
}

// speed is the scene's frames a second; Blender's own default once the upload is gone.
func (s *Site) speed(r visit, o job.Object) (float64, error) {
	const usual = 24
	i, err := s.Intake.Inspected(r.Context(), r.WorkspaceID, o.UploadID)
	if fault.Is(err, fault.UploadNotFound) || (err == nil && i.Scene.FPS <= 0) {
		return usual, nil
	}
	return i.Scene.FPS, err
}

// prove adds the proof of a completed job, unless its workspace hides its proof pages.
func (s *Site) prove(r visit, v *view) error {
	_, signed, err := s.Jobs.Receipt(r.Context(), r.WorkspaceID, r.JobID)
	if err != nil {
		return err
	}
	proof, err := s.Jobs.Public(r.Context(), signed.ReceiptID)
	if fault.Is(err, fault.ReceiptNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	v.ProofPage = pathOf(s.Links.ProofPage(signed.ReceiptID))
	embedded, err := page.EmbedProof(proof)
	v.Proof = &embedded
	return err
}

// rendered says with what the frames of a job were rendered; "" before the first.
func rendered(o job.Object) string {
	switch {
	case o.FramesCompleted == 0:
		return ""
	case o.Engine == "none":
		return "Painted for a test; nothing was rendered."
	case o.DeviceName != nil:
		return fmt.Sprintf("Rendered with %s %s on %s.", o.Application, o.Version, *o.DeviceName)
	}
	return fmt.Sprintf("Rendered with %s %s.", o.Application, o.Version)
}

// pathOf is the path of an address of this service. A page names its own files by their paths,
// because a browser may reach the service under another host.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Path
}
