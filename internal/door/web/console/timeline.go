package console

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/front"
	"svc.example/internal/ground/contract"
	"svc.example/internal/render/framelist"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/watch"
)

// timelineView shows how long each frame of a job took. A script makes a timeline of it, on which
// frames are selected.
type timelineView struct {
	// Frames are all of the job. Times are their seconds, in the same order and separated by
	// commas; nothing stands for a frame that nobody rendered yet, or that was taken over.
	Frames, Times string
	// Flags are the frames to check by what was found, such as "black 3,7-9;repeated 12".
	Flags string
	// Chart is what browsers without script show.
	Chart *page.Columns
}

// Bounds of a timeline.
const (
	// fewestTimes is from how many frames on a chart shows more than a glance at the pictures
	// does.
	fewestTimes = 8
	// mostColumns is how many columns the chart has at most: those of a longer job stand for
	// several frames each.
	mostColumns = 60
	// mostPrecise is how many frames have times of three digits. Those of a longer job have two, of
	// which its page would otherwise have more bytes than of everything else.
	mostPrecise = 1000
	// mostFlagged is how many of the frames to check come before the others.
	mostFlagged = 12
)

// timelineOf draws how long frames took; those that a person should check stand out. It is nil for
// a few frames.
func timelineOf(all framelist.List, accepted map[int]*watch.FrameView) *timelineView {
	v := timelineView{Frames: all.String()}
	times, taken, slowest, digits := make([]string, len(all)), 0, 0.0, 3
	if len(all) > mostPrecise {
		digits = 2
	}
	for i, n := range all {
		if f := accepted[n]; f != nil && f.RenderSeconds > 0 {
			taken, slowest = taken+1, max(slowest, f.RenderSeconds)
			times[i] = strconv.FormatFloat(f.RenderSeconds, 'g', digits, 64)
		}
	}
	if taken < fewestTimes {
		return nil
	}
	v.Times, v.Flags = strings.Join(times, ","), flagsOf(accepted)
	each := (len(all) + mostColumns - 1) / mostColumns
	var columns []page.Column
	for some := range slices.Chunk(all, each) {
		columns = append(columns, columnOf(some, accepted))
	}
	v.Chart = page.Draw(columns)
	v.Chart.From, v.Chart.To = fmt.Sprintf("frame %d", all[0]), fmt.Sprintf("frame %d", all[len(all)-1])
	v.Chart.Middle = "at most " + page.SecondsText(slowest)
	v.Chart.Words = fmt.Sprintf("Render time of %s, %s", page.FrameCount(taken), v.Chart.Middle)
	return &v
}

// columnOf is the column of one frame, or of several that follow each other: the longest time.
func columnOf(some framelist.List, accepted map[int]*watch.FrameView) (c page.Column) {
	for _, n := range some {
		if f := accepted[n]; f != nil {
			c.Value, c.Flag = max(c.Value, f.RenderSeconds), c.Flag || f.Finding != ""
		}
	}
	c.Words = fmt.Sprintf("Frame %d: %s", some[0], page.SecondsText(c.Value))
	if last := some[len(some)-1]; len(some) > 1 {
		c.Words = fmt.Sprintf("Frames %d to %d: at most %s", some[0], last, page.SecondsText(c.Value))
	}
	return c
}

// flagsOf writes the frames to check, by what was found.
func flagsOf(accepted map[int]*watch.FrameView) string {
	by := map[string][]int{}
	for n, f := range accepted {
		if f.Finding != "" {
			by[f.Finding] = append(by[f.Finding], n)
		}
	}
	var parts []string
	for finding, frames := range by {
		parts = append(parts, finding+" "+framelist.Of(frames).String())
	}
	slices.Sort(parts)
	return strings.Join(parts, ";")
}

// flaggedOf gives the cells of the first frames to check.
func flaggedOf(jobID string, views []watch.FrameView) (cells []cell) {
	for i := range views {
		if views[i].Finding != "" && len(cells) < mostFlagged {
			cells = append(cells, cell{JobID: jobID, Frame: views[i].Frame, View: &views[i]})
		}
	}
	return cells
}

// FlaggedList is the frames to check.
func (j jobRow) FlaggedList() string {
	var lists []string
	for _, f := range j.Findings {
		lists = append(lists, f.Frames)
	}
	return strings.Join(lists, ",")
}

// openFrame leads to the first of the frames that a person typed or selected.
func (s *Site) openFrame(r *http.Request, who identity.Principal) (page.Page, error) {
	frames, err := quote.ReadList(r.URL.Query().Get("frames"))
	if err != nil {
		return s.refusedJob(r, who, err)
	}
	return page.Page{Location: cell{JobID: r.PathValue("job_id"), Frame: frames[0]}.Path()}, nil
}

// framesPerRequest is how many frames of a ZIP count as one more request.
const framesPerRequest = 100

// selection sends the files of the frames that a person typed or selected, as a ZIP.
func (s *Site) selection(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	frames, err := quote.ReadList(r.URL.Query().Get("frames"))
	if err != nil {
		return err
	}
	found, err := s.Watch.Select(r.Context(), who.WorkspaceID, r.PathValue("job_id"), frames)
	if err == nil {
		err = front.Charge(r.Context(), min(len(frames), contract.MaxFrames)/framesPerRequest)
	}
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", found.Filename))
	if r.Method == http.MethodHead {
		return nil
	}
	// A ZIP that breaks off has no directory, so that no program takes it for complete.
	if err := found.WriteZIP(r.Context(), w); err != nil && r.Context().Err() == nil {
		s.Log.Error("a ZIP of selected frames broke off", "job_id", r.PathValue("job_id"), "err", err)
	}
	return nil
}
