package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/wallet"
)

// uploadView is the content of an upload's page: what the scene contains, what it will
// cost, and what will look different.
type uploadView struct {
	intake.Inspection
	// Frames is what the field of frames has, and Tags that of tags.
	Frames, Tags string
	Money        wallet.Balance
	Own          ownLimit // of the person who looks
	Look         previewView
	// Configs are the OpenColorIO configurations among the files, for the order to choose one.
	Configs []string
	// Reusable says that earlier jobs have frames that could be taken over.
	Reusable bool
	// Frozen is why the workspace cannot start anything; nil while it can.
	Frozen *freeze.Frozen
	// Problem is why the last form was refused; nil when none was.
	Problem *fault.Wire
	// Unpriced says that the frames in the field are not those of the quote, because they
	// cannot be priced: Problem says why.
	Unpriced bool
	// PartBytes is how the script cuts files that are added.
	PartBytes int64
}

// SceneText is what the scene renders, in words.
func (v uploadView) SceneText() string {
	samples := "samples"
	if v.Scene.Samples == 1 {
		samples = "sample"
	}
	format := cmp.Or(map[string]string{"OPEN_EXR": "OpenEXR", "OPEN_EXR_MULTILAYER": "multilayer OpenEXR"}[v.Scene.OutputFormat], v.Scene.OutputFormat)
	return fmt.Sprintf("%d × %d pixels, %d %s, %s, saved with Blender %s", v.Scene.FrameWidth, v.Scene.FrameHeight, v.Scene.Samples, samples, format, v.Scene.FileVersion)
}

// Missing is how many cents the wallet is short of the price; 0 for none.
func (v uploadView) Missing() int64 { return max(0, v.Quote.PriceCents-v.Money.AvailableCents) }

// Beyond reports whether the price is above what is left of the person's monthly limit.
func (v uploadView) Beyond() bool {
	return v.Own.Cents != nil && v.Quote.PriceCents > v.Own.Left()
}

// Startable reports whether the order can be placed.
func (v uploadView) Startable() bool {
	return v.Quote.Status == quote.Open && v.Quote.Qualified1C && v.Missing() == 0 && !v.Beyond() && v.Frozen == nil
}

// mostKept is how many pictures of frames that are taken over the price shows.
const mostKept = 8

// Kept are frames that the order takes over, with their pictures in earlier jobs: all, or some
// from the first to the last.
func (v uploadView) Kept() (kept []cell) {
	jobs, err := v.Quote.Reused.Jobs()
	if err != nil {
		return nil
	}
	frames := slices.Sorted(maps.Keys(jobs))
	n := min(len(frames), mostKept)
	for i := range n {
		frame := frames[i*(len(frames)-1)/max(1, n-1)]
		kept = append(kept, cell{JobID: jobs[frame], Frame: frame})
	}
	return kept
}

// confirmation is a question that an order answers: its field, and the answer in words.
type confirmation struct{ Field, Text string }

// confirmations are the questions about warnings that usually mean a mistake. What is ordered
// then is paid for, so the person says that it is meant.
var confirmations = map[quote.WarningCode]confirmation{
	quote.WarnFramesOutside: {"outside", "Render the frames outside the scene’s range too"},
	quote.WarnMissingFiles:  {"incomplete", "Render although files are missing"},
}

// Confirmations are the questions of the price.
func (v uploadView) Confirmations() []confirmation { return confirmationsOf(v.Quote) }

func confirmationsOf(q quote.Quote) (all []confirmation) {
	for _, w := range q.Warnings {
		if c, ok := confirmations[w.Code]; ok {
			all = append(all, c)
		}
	}
	return all
}

// confirmed refuses an order whose form leaves a question of its price open.
func confirmed(q quote.Quote, form url.Values) error {
	for _, c := range confirmationsOf(q) {
		if form.Get(c.Field) == "" {
			return fault.New(fault.InvalidRequest, "Check the warnings, then select “%s”.", c.Text)
		}
	}
	return nil
}

// JobID is the job that has taken this price; "" while none has.
func (v uploadView) JobID() string { return v.Quote.JobID }

// previewView is the free preview of an upload.
type previewView struct {
	UploadID string
	// Renders says that the person may order one.
	Renders bool
	// Starts says that a browser orders the first one without being asked.
	Starts bool
	// View is nil before one was ordered.
	View *preview.View
}

// Waiting reports whether the picture may still come.
func (v previewView) Waiting() bool {
	return v.View != nil && (v.View.Status == preview.Queued || v.View.Status == preview.Rendering)
}

// Ready reports whether there is a picture.
func (v previewView) Ready() bool { return v.View != nil && v.View.Status == preview.Ready }

// Says is one line on the preview.
func (v previewView) Says() string {
	switch {
	case v.View == nil:
		return ""
	case v.View.Failure != nil:
		return v.View.Failure.Message
	case v.View.Status == preview.Expired:
		return "No machine was free in time. Try again."
	case v.View.WaitingReason != nil && *v.View.WaitingReason == preview.NoWorkerOnline:
		return "Waiting: no machine is online."
	case v.View.WaitingReason != nil:
		return "Waiting for a free machine."
	case v.Waiting():
		return "Rendering."
	case v.View.Estimate != nil && v.View.Estimate.TotalLow != nil:
		return fmt.Sprintf("Your frames should take %s to %s.", page.SpanText(*v.View.Estimate.TotalLow), page.SpanText(*v.View.Estimate.TotalHigh))
	}
	return ""
}

// Seen are the findings of the picture itself: those of the quote are shown
// above.
func (v previewView) Seen() (seen []quote.Warning) {
	for _, f := range v.View.Findings {
		if !quote.IsWarning(f.Code) {
			seen = append(seen, f)
		}
	}
	return seen
}

// Picture is the address of the picture.
func (v previewView) Picture() string { return uploadsPath + v.UploadID + "/look/" + v.View.PreviewID }

// upload builds the page of an upload with its newest price.
func (s *Site) upload(r *http.Request, who identity.Principal) (page.Page, error) {
	return s.uploadPage(r, who, nil, "")
}

// uploadPage builds the page with what was refused, and the frames that could not be priced
// then; "" where that was not the reason.
func (s *Site) uploadPage(r *http.Request, who identity.Principal, problem *fault.Wire, frames string) (page.Page, error) {
	ctx, uploadID := r.Context(), r.PathValue("upload_id")
	v := uploadView{Problem: problem, Unpriced: frames != "", PartBytes: contract.MaxPartBytes}
	var err error
	if v.Inspection, err = s.Intake.Inspected(ctx, who.WorkspaceID, uploadID); err != nil {
		return page.Page{}, err
	}
	v.Frames = cmp.Or(frames, v.Quote.FrameList)
	if v.Look, err = s.newestPreview(ctx, who, uploadID); err != nil {
		return page.Page{}, err
	}
	err = s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if v.Money, err = wallet.Get(ctx, tx, who.WorkspaceID); err == nil {
			v.Frozen, err = freeze.Of(ctx, tx, who.WorkspaceID)
		}
		if err == nil {
			v.Own, err = ownLimitOf(ctx, tx, who)
		}
		if err == nil {
			v.Reusable, err = reuse.Possible(ctx, tx, who.WorkspaceID)
		}
		if err == nil {
			v.Configs, err = colourConfigs(ctx, tx, uploadID)
		}
		if err == nil {
			v.Tags, err = tagField(ctx, tx, who, r.PostForm, v.Quote)
		}
		return err
	})
	v.Look.Starts = v.Look.View == nil && problem == nil && v.Frozen == nil && v.JobID() == "" && !s.Previews.Limits.Off()
	p := page.Page{Template: "upload", Title: v.Quote.Filename, Section: page.NewSection, Content: v}
	if v.Look.Waiting() {
		p.Reload = 3
	}
	if len(v.Scene.MissingFiles) > 0 && v.Look.Renders {
		p.Scripts = []string{"upload.js"}
	}
	return p, err
}

// mostConfigs is how many configurations the order offers at most.
const mostConfigs = 50

// colourConfigs finds the OpenColorIO configurations of an upload, those of the outer folders first.
func colourConfigs(ctx context.Context, tx *db.Tx, uploadID string) (paths []string, err error) {
	m, err := project.ManifestOf(ctx, tx, uploadID)
	if err != nil {
		return nil, err
	}
	for _, f := range m.Files {
		if strings.EqualFold(path.Ext(f.Path), ".ocio") {
			paths = append(paths, f.Path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
	})
	return paths[:min(len(paths), mostConfigs)], nil
}

// Colours says how colours are made, as the file asks: its display, view and look; "" where the
// output is linear.
func (v uploadView) Colours() string {
	c := v.Scene.ColorManagement
	if c.View == "" {
		return ""
	}
	text := fmt.Sprintf("Display %s, view %s", c.Display, c.View)
	if c.Look != "" {
		text += ", look " + c.Look
	}
	return text
}

// tagField is what the field of tags has: what was just sent, or else the tags of the job whose
// frames are rendered again.
func tagField(ctx context.Context, tx *db.Tx, who identity.Principal, form url.Values, q quote.Quote) (string, error) {
	if form.Has("tags") || q.RerenderOf == nil {
		return form.Get("tags"), nil
	}
	tags, err := job.TagsOf(ctx, tx, who.WorkspaceID, *q.RerenderOf)
	return strings.Join(tags, ", "), err
}

// newestPreview reads the newest preview of an upload.
func (s *Site) newestPreview(ctx context.Context, who identity.Principal, uploadID string) (previewView, error) {
	v := previewView{UploadID: uploadID, Renders: who.Role.Includes(identity.Member)}
	found, err := s.Previews.Find(ctx, who.WorkspaceID, uploadID, nil)
	if fault.Is(err, fault.PreviewNotFound) {
		return v, nil
	}
	v.View = &found
	return v, err
}

// refusedUpload builds an upload's page with what was refused.
func (s *Site) refusedUpload(r *http.Request, who identity.Principal, frames string, err error) (page.Page, error) {
	status, problem := page.Refused(err)
	if status >= http.StatusInternalServerError || status == http.StatusNotFound {
		return page.Page{}, err
	}
	p, err := s.uploadPage(r, who, problem, frames)
	p.Status = status
	return p, err
}

// requote locks a price for the frames in the field, and leads back to the page. A script
// calls it while a person types.
func (s *Site) requote(r *http.Request, who identity.Principal) (page.Page, error) {
	if _, err := s.priced(r, who); err != nil {
		return s.refusedUpload(r, who, r.PostForm.Get("frames"), err)
	}
	return page.Page{Location: uploadsPath + r.PathValue("upload_id")}, nil
}

// priced returns the quote of the form's frames and settings: the upload's newest one if it
// has these and is open, otherwise a new one. Errors: upload_not_found, those of
// quote.ReadList and of Intake.Choose and Intake.Requote.
func (s *Site) priced(r *http.Request, who identity.Principal) (q quote.Quote, err error) {
	ctx, uploadID := r.Context(), r.PathValue("upload_id")
	frames, err := quote.ReadList(r.PostForm.Get("frames"))
	if err != nil {
		return q, err
	}
	newest, err := s.Intake.Inspected(ctx, who.WorkspaceID, uploadID)
	if err != nil {
		return q, err
	}
	wanted, err := chosen(r.PostForm, newest.Quote.Settings)
	if err != nil {
		return q, err
	}
	if newest.Quote.Prices(frames) && newest.Quote.Settings == wanted && reuses(newest.Quote, r.PostForm) && newest.Quote.Status == quote.Open {
		return newest.Quote, nil
	}
	choice, err := s.Intake.Choose(ctx, who.WorkspaceID, uploadID, wanted)
	if err != nil {
		return q, err
	}
	asked, err := s.Intake.Compare(ctx, who.WorkspaceID, uploadID, quote.RequestedFrames{List: frames, Choice: choice, AskReuse: r.PostForm.Get("reuse") != ""})
	if err != nil {
		return q, err
	}
	err = s.DB.Write(ctx, func(tx *db.Tx) error {
		i, err := s.Intake.Requote(ctx, tx, who.WorkspaceID, uploadID, asked)
		q = i.Quote
		return err
	})
	return q, err
}

// orderPreview orders a free preview of the frame that the form names, or of the middle
// one.
func (s *Site) orderPreview(r *http.Request, who identity.Principal) (page.Page, error) {
	ctx, uploadID := r.Context(), r.PathValue("upload_id")
	var frame *int
	if text := r.PostForm.Get("frame"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return s.refusedUpload(r, who, "", fault.Field("frame", "must be a whole number"))
		}
		frame = &n
	}
	err := s.DB.Write(ctx, func(tx *db.Tx) error {
		_, err := s.Previews.Order(ctx, tx, who.WorkspaceID, uploadID, frame)
		return err
	})
	if err != nil {
		return s.refusedUpload(r, who, "", err)
	}
	return page.Page{Location: uploadsPath + uploadID + "#look"}, nil
}

// previewState answers the part of the page with the preview. A browser that opens its address,
// which is also that of the form, gets the whole page.
func (s *Site) previewState(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	if r.Header.Get("HX-Request") == "" {
		return s.Show(w, r, page.Page{Location: uploadsPath + url.PathEscape(r.PathValue("upload_id"))})
	}
	v, err := s.newestPreview(r.Context(), who, r.PathValue("upload_id"))
	if err != nil {
		return err
	}
	text, err := pages.Fragment("upload", "look", v)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(text) // a failed write means the browser is gone
	return nil
}

// previewPicture serves the picture of a preview.
func (s *Site) previewPicture(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	picture, err := s.Previews.Picture(r.Context(), who.WorkspaceID, r.PathValue("preview_id"))
	if err != nil {
		return err
	}
	return page.SendPicture(w, r, "image/jpeg", r.PathValue("preview_id"), page.PictureCache, func() ([]byte, error) { return picture, nil })
}

// start begins the job at the price that the page has shown. The same form sent again
// leads to the same job. Frames that were edited after that price was made start nothing:
// the page shows their own price first.
func (s *Site) start(r *http.Request, who identity.Principal) (page.Page, error) {
	ctx, uploadID, quoteID := r.Context(), r.PathValue("upload_id"), r.PostForm.Get("quote_id")
	if r.PostForm.Get("terms") != contract.LegalAcceptance {
		return s.refusedUpload(r, who, "", fault.New(fault.LegalRequired, "Accept the terms to render."))
	}
	var tags []string // nil where the form has no field
	if r.PostForm.Has("tags") {
		var err error
		if tags, err = job.SplitTags(r.PostForm.Get("tags")); err != nil {
			return s.refusedUpload(r, who, "", err)
		}
	}
	var o job.Object
	err := s.DB.Write(ctx, func(tx *db.Tx) error {
		shown, err := quote.Take(ctx, tx, who.WorkspaceID, uploadID, quoteID)
		if err == nil {
			err = asShown(shown, r.PostForm)
		}
		if err == nil && shown.JobID == "" {
			err = confirmed(shown, r.PostForm)
		}
		if err == nil {
			o, err = s.Jobs.Start(ctx, tx, job.StartRequest{Principal: who, UploadID: uploadID, QuoteID: quoteID, Flow: job.FlowJobAPI, Tags: tags})
		}
		return err
	})
	if errors.Is(err, errEdited) {
		q, err := s.priced(r, who)
		if err != nil {
			return s.refusedUpload(r, who, r.PostForm.Get("frames"), err)
		}
		return s.refusedUpload(r, who, "", fault.New(fault.InvalidRequest, "You changed the order. %s now cost %s: check the price, then press Render.",
			page.FrameCount(q.FrameCount), numbers.Dollars(q.PriceCents)))
	}
	if err != nil {
		return s.refusedUpload(r, who, "", err)
	}
	return page.Page{Location: jobsPath + o.JobID}, nil
}

// reuses reports whether a quote takes frames over, or not, as a form asks.
func reuses(q quote.Quote, form url.Values) bool {
	return (q.Reused != nil) == (form.Get("reuse") != "")
}

// errEdited says that the fields of the order differ from the price that the page showed.
var errEdited = errors.New("the order was edited")

// asShown compares the frames and settings of a form with the quote that it starts. A form
// without the fields starts what the quote has. Error: errEdited.
func asShown(q quote.Quote, form url.Values) error {
	text := form.Get("frames")
	frames, err := quote.ReadList(text)
	if text != "" && (err != nil || !q.Prices(frames) || !reuses(q, form)) {
		return errEdited
	}
	if wanted, err := chosen(form, q.Settings); err != nil || wanted != q.Settings {
		return errEdited
	}
	return nil
}

// chosen are the settings of a form. What it has no field for is as in the quote that the
// page shows. Error: invalid_settings.
func chosen(form url.Values, s settings.Settings) (settings.Settings, error) {
	for _, f := range s.Fields() {
		text := strings.TrimSpace(form.Get(f.Name))
		switch {
		case !form.Has(f.Name):
		case f.Text != nil:
			*f.Text = text
		case text == "":
			*f.Number = 0
		default:
			n, err := strconv.Atoi(text)
			if err != nil || n < f.Least || n > f.Most {
				return s, quote.BadSettings(settings.Refuse(f.Name, text, "must be a whole number from %d to %d", f.Least, f.Most))
			}
			*f.Number = n
		}
	}
	return quote.ReadSettings(s)
}
