package console

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/overview"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/watch"
)

// framesOnPage is how many frames a job's page shows at once.
const framesOnPage = 100

// jobView is the content of a job's page.
type jobView struct {
	jobRow
	Cells []cell
	// Shown says which of the frames these are; "" for all.
	Shown string
	// Before and After are the addresses of the frames before and after; "" for none.
	Before, After string
	// Cut reports whether several workers render one frame of the page together.
	Cut bool
	// Whole says why one machine renders each long frame; "" where there is nothing to say.
	Whole string
	// NoOverviews says why there is no contact sheet and no animation; "" where there are both.
	NoOverviews string
	// Reused is how many frames were taken over from earlier jobs.
	Reused int
	// Timeline shows how long each frame took; nil for a few.
	Timeline *timelineView
	// Outputs are how many files the File Output nodes wrote for the accepted frames. WithOutputs
	// is the page of the first frame that has any.
	Outputs     int
	WithOutputs string
	// Flagged are the first frames to check.
	Flagged []cell
	// Live is the address of the stream that keeps the page true; "" for a job that has
	// ended.
	Live string
	// Problem is why the last form was refused; nil when none was.
	Problem *fault.Wire
	// ProofPage is the page on which anyone can verify the receipt; "" while there is no
	// receipt, or the workspace publishes no proofs.
	ProofPage string
	// Comments are the newest ones of visitors.
	Comments jobComments
}

// cell is the place of one frame in the grid.
type cell struct {
	JobID string
	Frame int
	// View is nil until the frame is accepted.
	View *watch.FrameView
	// Cut is the frame in strips, while several workers render it; nil where none or one does.
	Cut *watch.CutFrame
	look
}

// Path is the frame's page.
func (c cell) Path() string { return fmt.Sprintf("%s%s/frames/%d", jobsPath, c.JobID, c.Frame) }

// Small is the address of its small picture, which changes when the frame is rendered again; "" for
// formats that have none.
func (c cell) Small() string {
	if !pixels.Thumbnails(c.View.File) {
		return ""
	}
	return c.Path() + "/small?v=" + c.View.SHA256[:8]
}

// Percent is the job's progress, for a bar.
func (j jobRow) Percent() string { return strconv.FormatFloat(j.ProgressPercent, 'f', 1, 64) }

// ETA says when the last frame is expected and how that was estimated; "" if unknown.
func (j jobRow) ETA() string {
	if j.ETASeconds == nil {
		return ""
	}
	text := "About " + page.SpanText(*j.ETASeconds) + " left"
	if r := j.ETARange; r != nil && r.HighSeconds > 1.3*r.LowSeconds {
		text += fmt.Sprintf(" (%s to %s)", page.SpanText(r.LowSeconds), page.SpanText(r.HighSeconds))
	}
	return text + map[job.EstimateBasis]string{
		job.JobFrames: ", based on the frames so far.", job.FreePreview: ", based on the test frame.",
		job.SimilarScenes: ", based on your last job with a similar scene.", job.FirstFrames: ", based on its first frame.",
	}[*j.ETABasis]
}

// Waits says why no worker renders a frame now; "" while one does.
func (j jobRow) Waits() string {
	var text string
	switch {
	case j.WaitingReason != nil:
		text = page.WaitText(j.Object)
	case j.PausedBy != nil:
		text = page.PausedText(j.Object) + "; frames that are being rendered are finished"
	default:
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// Pausable reports whether a person can pause the job now, and Resumable whether one can
// resume it: not what an operator has paused.
func (j jobRow) Pausable() bool { return j.Priority != nil && j.PausedBy == nil }

// Resumable is described at Pausable.
func (j jobRow) Resumable() bool { return j.PausedBy != nil && *j.PausedBy == dispatch.ByWorkspace }

// Removed says why a job that has ended has no frames to show; "" if it has
// frames.
func (j jobRow) Removed() string {
	switch {
	case !j.Ended() || j.Pictures():
		return ""
	case j.Status == job.Completed:
		return "The frames have expired and were removed. The receipt and its proof remain."
	}
	return "A job that does not complete keeps no frames and costs nothing."
}

// Retryable reports whether the whole job is worth another try: it has nothing to show.
func (j jobRow) Retryable() bool { return j.Status == job.Failed || j.Status == job.Cancelled }

// job builds the page of a job.
func (s *Site) job(r *http.Request, who identity.Principal) (page.Page, error) {
	return s.jobPage(r, who, nil)
}

func (s *Site) jobPage(r *http.Request, who identity.Principal, problem *fault.Wire) (page.Page, error) {
	ctx, jobID := r.Context(), r.PathValue("job_id")
	record, err := s.record(ctx, who, jobID) // before the rest, so that the stream misses nothing
	if err != nil {
		return page.Page{}, err
	}
	o, err := s.Jobs.Get(ctx, who.WorkspaceID, jobID)
	if err != nil {
		return page.Page{}, err
	}
	v := jobView{jobRow: rowOf(who, o), Problem: problem, Reused: int(record.FramesReused)}
	if v.ProofPage, err = s.proofPage(ctx, who, o); err != nil {
		return page.Page{}, err
	}
	if v.Comments, err = s.commentsOn(r, who, jobID); err != nil {
		return page.Page{}, err
	}
	views, err := s.Watch.Frames(ctx, who.WorkspaceID, jobID)
	if err != nil {
		return page.Page{}, err
	}
	if len(views) > 0 {
		v.NoOverviews = noOverviews(views[0].File)
	}
	if v.Whole, err = s.whole(ctx, who, jobID); err != nil {
		return page.Page{}, err
	}
	cut, err := s.cutFrames(ctx, who, o)
	if err != nil {
		return page.Page{}, err
	}
	from, err := v.fill(views, cut, r.URL.Query().Get("from"))
	if err != nil {
		return page.Page{}, err
	}
	p := page.Page{Template: "job", Title: o.Filename, Section: page.JobsSection, Content: &v, Scripts: []string{"timeline.js"}}
	if !v.Ended() {
		v.Live = fmt.Sprintf("%s%s/live?seq=%d&from=%d", jobsPath, jobID, record.Seq, from)
		p.Reload = 10
	}
	return p, nil
}

// noOverviews says why frames in files such as this one have no contact sheet and no animation; ""
// where they have both.
func noOverviews(file string) string {
	if pixels.Thumbnails(file) {
		return ""
	}
	return fmt.Sprintf("No contact sheet and no animation: %s files have no preview.", strings.TrimPrefix(path.Ext(file), "."))
}

// proofPage is the address of the page that verifies a job's receipt; "" where there is none.
func (s *Site) proofPage(ctx context.Context, who identity.Principal, o job.Object) (string, error) {
	if o.ReceiptURL == nil {
		return "", nil
	}
	published := false
	err := s.DB.Read(ctx, func(tx *db.Tx) error {
		workspace, _, err := identity.WorkspaceOf(ctx, tx, who.WorkspaceID)
		published = workspace.ProofPage != 0
		return err
	})
	if err != nil || !published {
		return "", err
	}
	_, signed, err := s.Jobs.Receipt(ctx, who.WorkspaceID, o.JobID)
	return s.Links.ProofPage(signed.ReceiptID), err
}

// record reads the row of a job of the workspace.
func (s *Site) record(ctx context.Context, who identity.Principal, jobID string) (record job.Record, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		record, err = job.Find(ctx, tx, who.WorkspaceID, jobID)
		return err
	})
	return record, err
}

// fill puts the frames of a job into the page, starting at the first one with at least the
// given number.
func (v *jobView) fill(views []watch.FrameView, cut map[int]*watch.CutFrame, from string) (first int, err error) {
	all, err := framelist.Parse(v.FrameList, contract.MaxFrames)
	if err != nil {
		return 0, fmt.Errorf("read the frames of %s: %w", v.JobID, err)
	}
	begin := 0
	if n, err := strconv.Atoi(from); err == nil {
		for begin < len(all) && all[begin] < n {
			begin++
		}
	}
	begin = min(begin, max(0, len(all)-1))
	end := min(len(all), begin+framesOnPage)
	accepted := map[int]*watch.FrameView{}
	for i := range views {
		accepted[views[i].Frame] = &views[i]
		if n := len(views[i].Outputs); n > 0 {
			v.Outputs += n
			v.WithOutputs = cmp.Or(v.WithOutputs, cell{JobID: v.JobID, Frame: views[i].Frame}.Path())
		}
	}
	for _, n := range all[begin:end] {
		v.Cells = append(v.Cells, cell{JobID: v.JobID, Frame: n, View: accepted[n], Cut: cut[n]})
		v.Cut = v.Cut || cut[n] != nil
	}
	v.Timeline = timelineOf(all, accepted)
	v.Flagged = flaggedOf(v.JobID, views)
	at := func(i int) string { return fmt.Sprintf("%s%s?from=%d#frames", jobsPath, v.JobID, all[i]) }
	if begin > 0 {
		v.Before = at(max(0, begin-framesOnPage))
	}
	if end < len(all) {
		v.After = at(end)
	}
	if len(all) > framesOnPage {
		v.Shown = fmt.Sprintf("%d to %d of %s", begin+1, end, numbers.Grouped(len(all)))
	}
	if len(all) == 0 {
		return 0, nil
	}
	return all[begin], nil
}

// liveJob streams the parts of a job's page that change: its state, and each frame that
// comes in.
func (s *Site) liveJob(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	ctx, jobID := r.Context(), r.PathValue("job_id")
	seq, err := strconv.ParseInt(r.URL.Query().Get("seq"), 10, 64)
	if err != nil || seq < 0 {
		seq = 0
	}
	if last, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); err == nil && last > seq {
		seq = last
	}
	if _, err := s.record(ctx, who, jobID); err != nil { // a miss must be a 404, before the status is sent
		return err
	}
	return s.stream(w, r, func(out *stream) error {
		send := func(events []watch.Delivery) error {
			if len(events) == 0 {
				return nil
			}
			return s.sendJob(ctx, out, who, jobID, events)
		}
		return s.Watch.Watch(out.ctx, who.WorkspaceID, jobID, watch.Watcher{From: watch.Cursor{Seq: seq}, Send: send, Idle: out.idle})
	})
}

// sendJob sends a job's state once, and the frames that events name.
func (s *Site) sendJob(ctx context.Context, out *stream, who identity.Principal, jobID string, events []watch.Delivery) error {
	o, err := s.Jobs.Get(ctx, who.WorkspaceID, jobID)
	if err != nil {
		return err
	}
	v := jobView{jobRow: rowOf(who, o)}
	switch first, err := s.Watch.FirstPreview(ctx, who.WorkspaceID, jobID); {
	case err == nil:
		v.NoOverviews = noOverviews(first.Name())
	case !fault.Is(err, fault.FrameNotFound):
		return err
	}
	if v.ProofPage, err = s.proofPage(ctx, who, o); err != nil {
		return err
	}
	if v.Whole, err = s.whole(ctx, who, jobID); err != nil {
		return err
	}
	html, err := pages.Fragment("job", "live", &v)
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.Kind != watch.FrameEvent {
			continue
		}
		var f watch.FrameAccepted
		if err := json.Unmarshal(e.Data, &f); err != nil {
			return err
		}
		c := cell{JobID: jobID, Frame: f.Frame, View: &watch.FrameView{Frame: f.Frame, File: f.File, SHA256: f.SHA256, Width: f.Width, Height: f.Height, RenderSeconds: f.RenderSeconds}}
		text, err := pages.Fragment("job", "arrived", c)
		if err != nil {
			return err
		}
		html = append(html, text...)
	}
	return out.html(strconv.FormatInt(events[len(events)-1].After.Seq, 10), html)
}

// refusedJob builds a job's page with what was refused.
func (s *Site) refusedJob(r *http.Request, who identity.Principal, err error) (page.Page, error) {
	status, problem := page.Refused(err)
	if status >= http.StatusInternalServerError || status == http.StatusNotFound {
		return page.Page{}, err
	}
	p, err := s.jobPage(r, who, problem)
	p.Status = status
	return p, err
}

// cancel ends a job that no worker has claimed.
func (s *Site) cancel(r *http.Request, who identity.Principal) (page.Page, error) {
	ctx, jobID := r.Context(), r.PathValue("job_id")
	err := s.DB.Write(ctx, func(tx *db.Tx) error {
		_, err := s.Jobs.Cancel(ctx, tx, who.WorkspaceID, jobID)
		return err
	})
	if err != nil {
		return s.refusedJob(r, who, err)
	}
	return page.Page{Location: jobsPath + jobID}, nil
}

// queued returns the handler of a form that changes a job's place in the queue, or its tags.
func (s *Site) queued(do func(ctx context.Context, tx *db.Tx, workspaceID, jobID string, form url.Values) error) func(*http.Request, identity.Principal) (page.Page, error) {
	return func(r *http.Request, who identity.Principal) (page.Page, error) {
		ctx, jobID := r.Context(), r.PathValue("job_id")
		err := s.DB.Write(ctx, func(tx *db.Tx) error { return do(ctx, tx, who.WorkspaceID, jobID, r.PostForm) })
		if err != nil {
			return s.refusedJob(r, who, err)
		}
		return page.Page{Location: jobsPath + jobID}, nil
	}
}

func (s *Site) pause(ctx context.Context, tx *db.Tx, workspaceID, jobID string, _ url.Values) error {
	_, err := s.Jobs.Pause(ctx, tx, workspaceID, jobID, dispatch.ByWorkspace)
	return err
}

func (s *Site) resume(ctx context.Context, tx *db.Tx, workspaceID, jobID string, _ url.Values) error {
	_, err := s.Jobs.Resume(ctx, tx, workspaceID, jobID, dispatch.ByWorkspace)
	return err
}

func (s *Site) prioritize(ctx context.Context, tx *db.Tx, workspaceID, jobID string, form url.Values) error {
	priority, err := page.Priority(form.Get("priority"))
	if err == nil {
		_, err = s.Jobs.SetPriority(ctx, tx, workspaceID, jobID, priority)
	}
	return err
}

func (s *Site) tag(ctx context.Context, tx *db.Tx, workspaceID, jobID string, form url.Values) error {
	tags, err := job.SplitTags(form.Get("tags"))
	if err == nil {
		_, err = s.Jobs.SetTags(ctx, tx, workspaceID, jobID, tags)
	}
	return err
}

// rerender locks a price for frames of an ended job, and leads to it.
func (s *Site) rerender(r *http.Request, who identity.Principal) (page.Page, error) {
	ctx, jobID := r.Context(), r.PathValue("job_id")
	frames, err := quote.ReadList(r.PostForm.Get("frames"))
	var lock func(context.Context, *db.Tx) (intake.Inspection, error)
	if err == nil {
		lock, err = s.Intake.Rerender(ctx, who.WorkspaceID, jobID, frames)
	}
	var i intake.Inspection
	if err == nil {
		err = s.DB.Write(ctx, func(tx *db.Tx) (err error) {
			i, err = lock(ctx, tx)
			return err
		})
	}
	if err != nil {
		return s.refusedJob(r, who, err)
	}
	return page.Page{Location: uploadsPath + i.UploadID}, nil
}

// overview returns the handler of a job's contact sheet or loop.
func (s *Site) overview(kind overview.Kind) func(http.ResponseWriter, *http.Request, identity.Principal) error {
	return func(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
		found, err := s.Overviews.Find(r.Context(), who.WorkspaceID, r.PathValue("job_id"), kind)
		if err != nil {
			return err
		}
		return page.SendOverview(w, r, kind.ContentType(), found.Tag, found)
	}
}

// log serves what Blender said, frame after frame.
func (s *Site) log(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	jobID := r.PathValue("job_id")
	if _, err := s.Jobs.Get(r.Context(), who.WorkspaceID, jobID); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	if err := s.Watch.WriteLog(r.Context(), who.WorkspaceID, jobID, io.Writer(w)); err != nil && r.Context().Err() == nil {
		s.Log.Error("a log broke off", "job_id", jobID, "err", err)
	}
	return nil
}

// download leads to the ZIP, at an address that works for a while.
func (s *Site) download(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	_, d, err := s.Artifacts.Download(r.Context(), who.WorkspaceID, r.PathValue("job_id"))
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, d.URL, http.StatusSeeOther)
	return nil
}

// receipt serves the signed receipt as a file.
func (s *Site) receipt(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	o, signed, err := s.Jobs.Receipt(r.Context(), who.WorkspaceID, r.PathValue("job_id"))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "receipt-"+o.JobID+".json"))
	_, _ = w.Write(signed.Envelope) // a failed write means the browser is gone
	return nil
}
