package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/intake"
)

// uploadLink says how the agent sends a file of its own.
type uploadLink struct {
	URL       string `json:"url" jsonschema:"Takes one .blend file by PUT, or by POST as multipart/form-data with the part file. It authorises itself; whoever has it can send the file."`
	Curl      string `json:"curl" jsonschema:"The exact command; put the file's path in the place of FILE.blend."`
	ExpiresAt moment `json:"expires_at"`
	MaxBytes  count  `json:"max_bytes"`
}

// pending is an upload whose file has not arrived.
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
	out.step = call(inspectTool, again, "Send the file with the curl command, or have its owner send it; then call svc_inspect with the upload_id.").wait(pollDefault)
	return out
}

func (i inspected) waitingLines() string {
	if i.Upload == nil {
		return fmt.Sprintf("%s: %s", i.UploadID, i.SuggestedAction)
	}
	return fmt.Sprintf("%s awaits its file until %s:\n%s\n%s", i.UploadID, i.Upload.ExpiresAt, i.Upload.Curl, i.SuggestedAction)
}

// received is the answer to the sender of a file.
type received struct {
	OK              bool   `json:"ok"`
	UploadID        string `json:"upload_id"`
	SHA256          string `json:"sha256"`
	SizeBytes       int64  `json:"size_bytes"`
	SuggestedAction string `json:"suggested_action"`
}

// takeFile receives the file of an awaited upload. The signed link authorises it.
func (s *server) takeFile(w http.ResponseWriter, r *http.Request) error {
	i, err := s.receive(w, r)
	if err != nil {
		return forReaders(err)
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

// forReaders makes an error's texts harmless: an agent may read what curl says.
func forReaders(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	safe := *e
	safe.Message, _ = quoted(e.Message, longMessage)
	safe.Detail = plainDetail(e.Detail)
	return &safe
}

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
	r.Body = intake.WithStallTimeout(r.Body, http.NewResponseController(w), s.UploadStall)
	name, file, err := filePart(r)
	if err != nil {
		return intake.Inspection{}, err
	}
	return s.Intake.ReceiveAwaited(r.Context(), upload, name, file)
}

// formSlack is what a form may have beside the file.
const formSlack = 64 << 10

// unnamed is the name of a file that is sent without one.
const unnamed = "upload" + contract.InputExtension

// filePart finds the file in a request: the part file of a form, else the whole
// body.
func filePart(r *http.Request) (name string, file io.Reader, err error) {
	kind, parameters, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // without one the body is the file
	if kind != "multipart/form-data" {
		_, disposition, _ := mime.ParseMediaType(r.Header.Get("Content-Disposition")) // the name is optional
		return cmp.Or(disposition["filename"], unnamed), r.Body, nil
	}
	form := multipart.NewReader(r.Body, parameters["boundary"])
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return "", nil, fault.Field("body.file", "is required")
		}
		if err != nil {
			return "", nil, fault.New(fault.InvalidRequest, "The form breaks off or is malformed.").Wrap(err)
		}
		if part.FormName() == "file" {
			return part.FileName(), part, nil
		}
	}
}
