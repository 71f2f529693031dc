package api

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/front"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/intake"
)

// rawInput is the raw request of an upload: it is streamed, and never in memory
// as a whole.
type rawInput struct{ request *http.Request }

// Resolve implements huma.Resolver, the way in which huma lets an input see the
// request.
func (in *rawInput) Resolve(ctx huma.Context) []error {
	in.request, _ = humago.Unwrap(ctx)
	return nil
}

// limitStall is the middleware of handlers that read the body themselves. It
// cuts off a body that stalls; huma does so only for bodies that it reads.
func (s *server) limitStall(ctx huma.Context, next func(huma.Context)) {
	s.setStallTimeout(humago.Unwrap(ctx))
	next(ctx)
}

// setStallTimeout bounds how long the body may go without a new byte. Calling
// it twice has no further effect.
func (s *server) setStallTimeout(r *http.Request, w http.ResponseWriter) {
	r.Body = intake.WithPace(r.Body, http.NewResponseController(w), s.UploadStall)
}

// isJSON reports whether the request's body is JSON.
func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// formSlack is how many bytes a form may have in addition to the file:
// boundaries, part headers and small fields.
const formSlack = 64 << 10

// uploadForm is what has been read of a form. End it with abort, which does
// nothing once the file belongs to a quote.
type uploadForm struct {
	// file is what the request's headers say of the file.
	file     intake.File
	received *intake.Received
	// archive is a .zip that waits for the form's end: main may come after it.
	archive *intake.Archive
	// numbers has the whole-number fields by name; nil means that a field did
	// not come.
	numbers map[string]*int
	// texts has the other fields by name; nil means that a field did not come.
	texts map[string]*string
	// came has the known fields that came: a second one would quietly replace the first.
	came map[string]bool
	// late is the last field that came after the file; "" for none.
	late string
}

// text returns a text field; "" when it did not come.
func (f *uploadForm) text(name string) string {
	if t := f.texts[name]; t != nil {
		return *t
	}
	return ""
}

// abort discards the received file.
func (f *uploadForm) abort() {
	if f.archive != nil {
		f.archive.Abort()
	}
	if f.received != nil {
		f.received.Abort()
	}
}

// readForm reads the part "file" and the named fields of an upload, in any
// order. sha256 is the hash that the request's headers give the file; "" when
// they give none. It ignores other parts, as decisions 1 says. The file goes to package
// intake while it arrives; the fields are checked afterwards, because they may
// come later.
//
// The caller ends the form with abort. On an error nothing is left to abort.
// Errors: those of intake.Receive and intake.Form, upload_too_large, field_repeated,
// invalid_request.
func (s *server) readForm(ctx context.Context, in *rawInput, sha256 string, numbers, texts []string) (*uploadForm, error) {
	// The announced length is refused before a byte is read. A caller that
	// announces none is stopped by intake.
	if in.request.ContentLength > contract.MaxUploadBytes+formSlack {
		return nil, intake.TooLarge() // before a byte of it is read
	}
	form, err := intake.OpenForm(in.request)
	if err != nil {
		return nil, err
	}
	f := &uploadForm{
		file:    intake.File{Announced: in.request.ContentLength - formSlack, SHA256: sha256, Later: true},
		numbers: map[string]*int{}, texts: map[string]*string{}, came: map[string]bool{},
	}
	for _, name := range numbers {
		f.numbers[name] = nil
	}
	for _, name := range texts {
		f.texts[name] = nil
	}
	for {
		part, err := form.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = s.readPart(ctx, f, part)
		}
		if err != nil {
			f.abort()
			return nil, err
		}
	}
	if err := f.unpack(ctx); err != nil {
		f.abort()
		return nil, err
	}
	return f, nil
}

// mainField names the .blend to render of an archive. A form that has the field takes
// archives.
const mainField = "main"

// framesField chooses the frames to price.
const framesField = "frames"

// reuseField asks for frames of earlier jobs.
const reuseField = "reuse"

// reuse reads the field of that name. Error: invalid_request.
func (f *uploadForm) reuse() (bool, error) {
	switch text := f.texts[reuseField]; {
	case text == nil, *text == "false":
		return false, nil
	case *text == "true":
		return true, nil
	}
	return false, fault.Field("body."+reuseField, "must be true or false")
}

// unpack makes the project of a received archive.
func (f *uploadForm) unpack(ctx context.Context) (err error) {
	chosen, err := f.settings()
	if err != nil {
		return err
	}
	_, takes := f.texts[mainField]
	main := f.text(mainField)
	switch {
	case f.archive != nil:
		f.received, err = f.archive.Unpack(ctx, main, chosen)
	case f.received == nil:
		err = fault.Field("body.file", "is required")
	case takes && main != "" && main != f.received.Filename():
		err = fault.Field("body.main", "is %q; the file is %q", main, f.received.Filename())
	default:
		err = f.received.Choose(ctx, chosen)
	}
	return err
}

// sha256 is the hash of the bytes that were sent as file.
func (f *uploadForm) sha256() string {
	if f.archive != nil {
		return f.archive.SHA256()
	}
	return f.received.SHA256()
}

// readPart reads one part of a form. A known field may come once: if there were two,
// it would be unclear which one counts.
func (s *server) readPart(ctx context.Context, f *uploadForm, part *multipart.Part) (err error) {
	name := part.FormName()
	_, isNumber := f.numbers[name]
	_, isText := f.texts[name]
	if name != "file" && !isNumber && !isText {
		return nil
	}
	if f.came[name] {
		return fault.New(fault.FieldRepeated, "The form has %s more than once.", name).
			With([]fault.FieldDetail{{Location: "body." + name, Message: "is there more than once"}})
	}
	f.came[name] = true
	if f.came["file"] && name != "file" {
		f.late = name
	}
	switch {
	case isNumber:
		f.numbers[name], err = number(name, part)
	case isText:
		f.texts[name], err = text(name, part)
	default:
		err = s.readFile(ctx, f, part)
	}
	return err
}

// readFile streams the part file to package intake.
func (s *server) readFile(ctx context.Context, f *uploadForm, part *multipart.Part) (err error) {
	file := f.file
	if file.Name, err = intake.NameOf(part); err != nil {
		return err
	}
	file.Body = part
	if _, takes := f.texts[mainField]; takes && intake.IsArchive(file.Name) {
		f.archive, err = s.Intake.ReceiveArchive(ctx, operation.Caller(ctx).WorkspaceID, file)
		return err
	}
	f.received, err = s.Intake.Receive(ctx, operation.Caller(ctx).WorkspaceID, file)
	return err
}

// number reads a form field that is a whole number. It bounds the text, because
// the part can be of any length.
func number(name string, part io.Reader) (*int, error) {
	const longest = 12 // digits; every valid number has fewer
	text, err := io.ReadAll(io.LimitReader(part, longest+1))
	if err != nil {
		return nil, intake.BrokenForm(err)
	}
	n, err := wholeNumber(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fault.Field("body."+name, "must be a whole number")
	}
	return &n, nil
}

// wholeNumber parses a whole number in decimal.
func wholeNumber(text string) (int, error) { return strconv.Atoi(text) }

// text reads any other form field. Its bound is wider than that of any field,
// so that a value that is too long gets the field's own error code.
func text(name string, part io.Reader) (*string, error) {
	const longest = 2 * utf8.UTFMax * contract.MaxWebhookURL
	read, err := io.ReadAll(io.LimitReader(part, longest+1))
	if err != nil {
		return nil, intake.BrokenForm(err)
	}
	if len(read) > longest {
		return nil, fault.Field("body."+name, "has more than %d bytes", longest)
	}
	text := string(read)
	if !front.IsText(text) {
		return nil, fault.Field("body."+name, "is not valid UTF-8")
	}
	return &text, nil
}

// renderer checks the field renderer of a form. Error: unsupported_renderer.
func (f *uploadForm) renderer() error {
	if r := f.texts["renderer"]; r != nil && *r != contract.RendererID {
		return fault.New(fault.UnsupportedRenderer, "There is no renderer %q. The only renderer is %s.", *r, contract.RendererID)
	}
	return nil
}
