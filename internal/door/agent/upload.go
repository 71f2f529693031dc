package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"svc.example/internal/front"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/intake"
)

// uploadLink says how to send a file by a one-time link. An agent cannot put
// 100 MiB into a tool argument, so it runs, or shows, a curl command instead.
type uploadLink struct {
	URL       string `json:"url" jsonschema:"Takes one .blend file by PUT, or by POST as a form's part file, from anyone with the link. Browsers see a page for it."`
	Curl      string `json:"curl" jsonschema:"The exact command; put the file's path in the place of FILE.blend."`
	ExpiresAt moment `json:"expires_at"`
	MaxBytes  count  `json:"max_bytes"`
}

// pending returns the result for an upload whose file has not arrived: it waits
// for the link to be used, or it is being fetched.
func (s *server) pending(a intake.Awaited) inspected {
	out := inspected{OK: true, Status: fetching, UploadID: uploadID(a.UploadID), Warnings: []warning{}}
	again := arguments{"upload_id": a.UploadID}
	if a.Source != "" {
		out.step = call(inspectTool, again, "The file is being fetched. Call svc_inspect with the upload_id after a moment.").wait(pollSoon)
		return out
	}
	link := s.Links.Upload(a.UploadID, a.ExpiresAt)
	out.Status = awaiting
	out.Upload = &uploadLink{
		URL: link, Curl: fmt.Sprintf("curl --fail-with-body --form 'file=@FILE.blend' '%s'", link),
		ExpiresAt: at(a.ExpiresAt), MaxBytes: contract.MaxUploadBytes,
	}
	out.step = call(inspectTool, again, "Send the file with the curl command; or, when you cannot read it, show the url to the person, who opens it in a browser and sends the file there. Then call svc_inspect with the upload_id.").wait(pollDefault)
	return out
}

// waitingLines is the text of an upload whose file has not arrived.
func (i inspected) waitingLines() string {
	if i.Upload == nil {
		return fmt.Sprintf("%s: %s", i.UploadID, i.SuggestedAction)
	}
	return fmt.Sprintf("%s awaits its file until %s:\n%s\nOr in a browser: %s\n%s", i.UploadID, i.Upload.ExpiresAt, i.Upload.Curl, i.Upload.URL, i.SuggestedAction)
}

// received is the response to the sender of a file with curl. It shows neither
// price nor scene: the sender may not be the agent.
type received struct {
	OK              bool   `json:"ok"`
	UploadID        string `json:"upload_id"`
	SHA256          string `json:"sha256"`
	SizeBytes       int64  `json:"size_bytes"`
	SuggestedAction string `json:"suggested_action"`
}

// takeFile receives the file of an awaited upload. The signed link is the only
// authorisation: anyone with the link can upload files until one is accepted.
// Errors: link_invalid, upload_too_large, and those of intake.ReceiveAwaited.
func (s *server) takeFile(w http.ResponseWriter, r *http.Request) error {
	i, err := s.receive(w, r)
	if front.AcceptsHTML(r.Header.Get("Accept")) && (err == nil || judged(err)) {
		// A person sent it from the page of the link, which shows the outcome.
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, r.URL.RequestURI(), http.StatusSeeOther)
		return nil
	}
	if err != nil {
		return safeForAgents(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	// The file is stored; a failed write means the sender is gone.
	_ = json.NewEncoder(w).Encode(received{
		OK: true, UploadID: i.UploadID, SHA256: i.Quote.InputSHA256, SizeBytes: i.Quote.InputSizeBytes,
		SuggestedAction: "Call svc_inspect with this upload_id.",
	})
	return nil
}

// judged reports whether a file was refused for what it is: the upload keeps that reason.
func judged(err error) bool {
	f, is := errors.AsType[*fault.Error](err)
	return is && mayQuoteFile(f.Code)
}

// safeForAgents escapes the texts of an error. An agent often runs the curl
// command itself and reads its output, so this response is a way from the file
// to the model as well.
func safeForAgents(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	safe := *e
	safe.Message, _ = escapeText(e.Message, longMessage)
	safe.Detail = escapeDetail(e.Detail)
	return &safe
}

// receive checks the link, then the announced size, then streams the file to
// package intake. The link is checked against the database's time, so that
// servers with different clocks agree on its end.
func (s *server) receive(w http.ResponseWriter, r *http.Request) (intake.Inspection, error) {
	upload, query := r.PathValue("upload_id"), r.URL.Query()
	err := s.DB.Read(r.Context(), func(tx *db.Tx) error {
		return s.Links.CheckUpload(upload, query.Get("expires"), query.Get("signature"), tx.Time())
	})
	if err != nil {
		return intake.Inspection{}, err
	}
	if r.ContentLength > contract.MaxUploadBytes+formSlack {
		return intake.Inspection{}, intake.TooLarge() // before a byte of it is read
	}
	r.Body = intake.WithPace(r.Body, http.NewResponseController(w), s.UploadStall)
	file, err := filePart(r)
	if err != nil {
		return intake.Inspection{}, err
	}
	return s.Intake.ReceiveAwaited(r.Context(), upload, file)
}

// formSlack is how many bytes a form may have in addition to the file:
// boundaries, part headers and small fields.
const formSlack = 64 << 10

// unnamed is the name of a file that is sent without one.
const unnamed = "upload" + contract.InputExtension

// filePart finds the file in a request: the part "file" of a form, otherwise
// the whole body, as curl --upload-file sends it. It reads no further than the
// beginning of the file. Errors: unsupported_media_type, invalid_request.
func filePart(r *http.Request) (intake.File, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // without one the body is the file
	if !strings.HasPrefix(kind, "multipart/") {
		_, disposition, _ := mime.ParseMediaType(r.Header.Get("Content-Disposition")) // the name is optional
		return intake.File{Name: cmp.Or(disposition["filename"], unnamed), Body: r.Body, Announced: r.ContentLength}, nil
	}
	form, err := intake.OpenForm(r)
	if err != nil {
		return intake.File{}, err
	}
	for {
		part, err := form.Next()
		if errors.Is(err, io.EOF) {
			return intake.File{}, fault.Field("body.file", "is required")
		}
		if err != nil {
			return intake.File{}, err
		}
		if part.FormName() == "file" {
			name, err := intake.NameOf(part)
			return intake.File{Name: name, Body: part, Announced: r.ContentLength - formSlack}, err
		}
	}
}
