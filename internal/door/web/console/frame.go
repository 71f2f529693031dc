package console

import (
	"bufio"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/watch"
)

// frameView is the content of a frame's page: the viewer.
type frameView struct {
	jobRow
	cell
	// Previous and Next are the neighbouring accepted frames; nil for none.
	Previous, Next *cell
	// First and Last are the ends of what is accepted.
	First, Last int
	// With is the frame that this one is compared with; nil for none. Other is its job, nil for
	// the same one, and OtherNumbers are its accepted frames.
	With         *cell
	Other        *jobRow
	OtherNumbers string
	// WithNone says why there is nothing to compare with; "" where there is.
	WithNone string
	// Layers are those of OpenEXR, and Channels those of the layer that is shown; none of other
	// formats, and of a file that is gone.
	Layers   []pixels.Layer
	Channels []string
	// Numbers are all accepted frames, for the flipbook; FPS is its speed.
	Numbers string
	FPS     float64
}

// Query keeps the job that is compared with when another frame is chosen.
func (v frameView) Query() template.URL {
	if v.Other == nil {
		return ""
	}
	return template.URL("?" + url.Values{"job": {v.Other.JobID}}.Encode())
}

// Path is the frame's page.
func (v frameView) Path() string { return v.cell.Path() }

// JobPath is the page of its job.
func (v frameView) JobPath() string { return v.jobRow.Path() }

// Picture is the address of the picture to show: the frame's own file if browsers can show
// it, otherwise what the service makes of it: a view of OpenEXR, or the small picture.
func (c cell) Picture() string {
	switch {
	case shown(c.View.File):
		return c.Path() + "/file?v=" + c.View.SHA256[:8]
	case c.Exposes():
		return fmt.Sprintf("%s/view?v=%s&%s", c.Path(), c.View.SHA256[:8], c.query())
	}
	return c.Small()
}

// look is how OpenEXR is shown.
type look struct{ pixels.Look }

// lookOf reads how a request wants OpenEXR to be shown.
func lookOf(r *http.Request) look {
	q := r.URL.Query()
	return look{pixels.Look{
		Exposure: exposureOf(r), Transform: pixels.TransformOf(q.Get("transform")), Layer: page.CutQuery(q.Get("layer")), Channel: page.CutQuery(q.Get("channel")),
	}}
}

// query writes the look for the address of a picture.
func (l look) query() string {
	text := fmt.Sprintf("exposure=%g&transform=%s", l.Exposure, l.Transform)
	for name, value := range map[string]string{"layer": l.Layer, "channel": l.Channel} {
		if value != "" {
			text += "&" + url.Values{name: {value}}.Encode()
		}
	}
	return text
}

// Transforms are the choices of a view transform.
func (look) Transforms() []pixels.Transform { return pixels.Transforms() }

// Exposes reports whether the picture has more light than a screen shows, so that its viewer
// chooses the exposure.
func (c cell) Exposes() bool {
	return strings.EqualFold(path.Ext(c.View.File), ".exr") && c.View.Width*c.View.Height <= pixels.ViewMost
}

// Whole reports whether Picture has all pixels of the frame.
func (c cell) Whole() bool { return shown(c.View.File) || c.Exposes() }

// Unshown says why the page has no picture of the frame; "" where it has one.
func (c cell) Unshown() string {
	if shown(c.View.File) || pixels.Thumbnails(c.View.File) {
		return ""
	}
	return fmt.Sprintf("Browsers cannot show %s files. Download this one to look at it.", strings.TrimPrefix(path.Ext(c.View.File), "."))
}

// frame builds the page of one frame. Errors: render_not_found, frame_not_found.
func (s *Site) frame(r *http.Request, who identity.Principal) (page.Page, error) {
	ctx, jobID := r.Context(), r.PathValue("job_id")
	o, err := s.Jobs.Get(ctx, who.WorkspaceID, jobID)
	if err != nil {
		return page.Page{}, err
	}
	if why := rowOf(who, o).Removed(); why != "" {
		return page.Page{}, fault.New(fault.FrameNotFound, "%s", why)
	}
	views, err := s.Watch.Frames(ctx, who.WorkspaceID, jobID)
	if err != nil {
		return page.Page{}, err
	}
	slices.SortFunc(views, func(a, b watch.FrameView) int { return a.Frame - b.Frame })
	at := place(views, r.PathValue("frame"))
	if at < 0 {
		return page.Page{}, fault.New(fault.FrameNotFound, "Frame %q of this job has not been rendered.", r.PathValue("frame"))
	}
	wanted := lookOf(r)
	cellAt := func(i int) *cell {
		if i < 0 || i >= len(views) {
			return nil
		}
		return &cell{JobID: jobID, Frame: views[i].Frame, View: &views[i], look: wanted}
	}
	v := frameView{jobRow: rowOf(who, o), cell: *cellAt(at), Previous: cellAt(at - 1), Next: cellAt(at + 1), First: views[0].Frame, Last: views[len(views)-1].Frame}
	if v.Unshown() == "" {
		if err := s.compare(r, who, &v, views); err != nil {
			return page.Page{}, err
		}
	}
	if err := s.layers(r, who, &v); err != nil {
		return page.Page{}, err
	}
	v.Numbers = numbersOf(views)
	i, err := s.Intake.Inspected(ctx, who.WorkspaceID, o.UploadID)
	switch {
	case err == nil:
		v.FPS = i.Scene.FPS
	case !fault.Is(err, fault.UploadNotFound):
		return page.Page{}, err
	}
	if v.FPS <= 0 {
		v.FPS = 24
	}
	return page.Page{Template: "frame", Title: fmt.Sprintf("Frame %d of %s", v.Frame, o.Filename), Section: page.JobsSection, Content: &v, Scripts: []string{"viewer.js"}}, nil
}

// mostLayers is how many layers a page offers at most.
const mostLayers = 200

// layers finds what can be shown of OpenEXR.
func (s *Site) layers(r *http.Request, who identity.Principal, v *frameView) error {
	if !v.Exposes() {
		return nil
	}
	found, err := s.Watch.Preview(r.Context(), who.WorkspaceID, v.JobID, v.Frame)
	if err != nil {
		return err
	}
	v.Layers, err = found.Layers(r.Context())
	if fault.Is(err, fault.FrameNotFound) || fault.Is(err, fault.ArtifactExpired) {
		return nil // the page says that the picture is gone
	}
	v.Layers = v.Layers[:min(len(v.Layers), mostLayers)]
	for i, l := range v.Layers {
		if i == 0 || l.Name == v.Layer {
			v.Channels = l.Channels
		}
	}
	return err
}

// numbersOf lists frames.
func numbersOf(views []watch.FrameView) string {
	numbers := make([]int, len(views))
	for i, f := range views {
		numbers[i] = f.Frame
	}
	return framelist.Of(numbers).String()
}

// place is where a frame is among others; -1 for none.
func place(views []watch.FrameView, number string) int {
	n, err := strconv.Atoi(number)
	if err != nil {
		return -1
	}
	return slices.IndexFunc(views, func(f watch.FrameView) bool { return f.Frame == n })
}

// exposureOf reads the exposure that a request asks for, in stops: 0 for none, and for what is
// no number.
func exposureOf(r *http.Request) float64 {
	stops, err := strconv.ParseFloat(r.URL.Query().Get("exposure"), 64)
	if err != nil || math.IsNaN(stops) {
		return 0
	}
	return max(-pixels.MostExposure, min(pixels.MostExposure, math.Round(stops*10)/10))
}

// viewFrame serves OpenEXR as browsers show it, at its full size.
func (s *Site) viewFrame(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	found, err := s.previewOf(r, who)
	if err != nil {
		return err
	}
	shown := lookOf(r)
	tag := fmt.Sprintf("%s at %s", found.SHA256, shown.query())
	return page.SendPicture(w, r, "image/jpeg", tag, page.FrameCacheOf(r, found.SHA256), func() ([]byte, error) {
		return found.View(r.Context(), shown.Look)
	})
}

// valuesAt serves the values of a pixel of OpenEXR as text, before exposure and transform.
func (s *Site) valuesAt(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	found, err := s.previewOf(r, who)
	if err != nil {
		return err
	}
	q, at := r.URL.Query(), [2]int{}
	for i, name := range []string{"x", "y"} {
		if at[i], err = strconv.Atoi(q.Get(name)); err != nil {
			return fault.New(fault.InvalidRequest, "x and y must be the place of a pixel.")
		}
	}
	text, err := found.Values(r.Context(), page.CutQuery(q.Get("layer")), at[0], at[1])
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "private, no-store")
	_, _ = w.Write(text) // a failed write means the browser is gone
	return nil
}

// previewOf finds the frame that a request names, or the output of it.
func (s *Site) previewOf(r *http.Request, who identity.Principal) (watch.Preview, error) {
	n, err := strconv.Atoi(r.PathValue("frame"))
	if err != nil {
		return watch.Preview{}, fault.New(fault.FrameNotFound, "There is no frame %q.", r.PathValue("frame"))
	}
	return s.Watch.Output(r.Context(), who.WorkspaceID, r.PathValue("job_id"), n, r.URL.Query().Get("output"))
}

// smallFrame serves the small picture of a frame.
func (s *Site) smallFrame(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	found, err := s.previewOf(r, who)
	if err != nil {
		return err
	}
	return page.SendPicture(w, r, "image/jpeg", found.SHA256, page.FrameCacheOf(r, found.SHA256), func() ([]byte, error) { return found.JPEG(r.Context()) })
}

// thumbnail serves the small picture of a job's lowest accepted frame. It changes while the job
// renders.
func (s *Site) thumbnail(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	found, err := s.Watch.FirstPreview(r.Context(), who.WorkspaceID, r.PathValue("job_id"))
	if err != nil {
		return err
	}
	if !pixels.Thumbnails(found.Name()) {
		return page.SendPicture(w, r, "image/svg+xml", found.SHA256, page.PictureCache, func() ([]byte, error) { return unshownTile(found.Name()), nil })
	}
	return page.SendPicture(w, r, "image/jpeg", found.SHA256, page.PictureCache, func() ([]byte, error) { return found.JPEG(r.Context()) })
}

// unshownTile stands for the small picture of a file that has none: it names the format.
func unshownTile(name string) []byte {
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 112 63"><text x="56" y="37" font-family="sans-serif" font-size="16" fill="#fff" text-anchor="middle">%s</text></svg>`,
		template.HTMLEscapeString(strings.ToUpper(strings.TrimPrefix(path.Ext(name), "."))))
}

// shown reports whether browsers show files of a name's kind.
func shown(name string) bool {
	ending := path.Ext(name)
	return name != ending && slices.ContainsFunc(pixels.Formats(), func(f pixels.Format) bool {
		return f.Media != "" && slices.Contains(f.Extensions, ending)
	})
}

// shownAs is the media type of a file by its first bytes, and whether a browser shows it
// ("inline") or saves it ("attachment").
func shownAs(head []byte, name string) (kind, how string) {
	if f, ok := pixels.FormatOf(head); ok && f.Media != "" && shown(name) {
		return f.Media, "inline"
	}
	return "application/octet-stream", "attachment"
}

// wholeFrame serves the file of a frame, or of an output, as it was rendered. What is no picture that
// browsers show is saved, never opened: a worker made it.
func (s *Site) wholeFrame(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	found, err := s.previewOf(r, who)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("ETag", `"`+found.SHA256+`"`)
	h.Set("Cache-Control", page.FrameCacheOf(r, found.SHA256))
	if r.Header.Get("If-None-Match") == `"`+found.SHA256+`"` {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	file, name, size, err := found.File(r.Context())
	if err != nil {
		h.Del("ETag")
		return err
	}
	defer func() { _ = file.Close() }()
	in := bufio.NewReader(file)
	head, _ := in.Peek(16) // a shorter file is no picture
	kind, how := shownAs(head, name)
	if r.URL.Query().Has("save") {
		how = "attachment"
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", how)
	if how == "attachment" {
		h.Set("Content-Disposition", blob.Attachment(path.Base(name)))
	}
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	_, _ = io.Copy(w, in) // a failed write means the browser is gone
	return nil
}
