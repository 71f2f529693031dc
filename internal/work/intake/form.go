package intake

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/parts"
)

// maxEpilogue bounds what a form may have after its last boundary, in bytes.
const maxEpilogue = 64 << 10

// Form reads an upload's form part by part, for every door that takes one.
type Form struct {
	parts *parts.Reader
	body  io.Reader
}

// OpenForm begins to read a request's form (decisions 25). Errors: unsupported_media_type,
// also for other kinds of multipart, and invalid_request.
func OpenForm(r *http.Request) (*Form, error) {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return nil, fault.New(fault.UnsupportedMedia, "An upload must be multipart/form-data with a part named file.")
	}
	if parameters["boundary"] == "" {
		return nil, fault.Field("header.Content-Type", "has no boundary; let the HTTP library set this header")
	}
	return &Form{parts.NewReader(r.Body, parameters["boundary"]), r.Body}, nil
}

// Next returns the next part, or io.EOF after the last one. By then the whole body
// has arrived. Errors: body_truncated, invalid_request, and the body's own, such as
// upload_too_slow.
func (f *Form) Next() (*multipart.Part, error) {
	part, err := f.parts.Next()
	if errors.Is(err, io.EOF) {
		if n, err := io.CopyN(io.Discard, f.body, maxEpilogue); err == nil && n == maxEpilogue {
			return nil, fault.Field("body", "continues after the last boundary")
		} else if !errors.Is(err, io.EOF) {
			return nil, BrokenForm(err)
		}
		return nil, io.EOF
	}
	if err != nil {
		return nil, BrokenForm(err)
	}
	if part.FormName() == "" && part.FileName() != "" {
		return nil, fault.Field("body", "has a file in a part without a name; name the part file")
	}
	return part, nil
}

// BrokenForm is the error of a form that cannot be read to its end.
func BrokenForm(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f // the body's own reason, such as its speed
	}
	if errors.Is(err, parts.ErrHeaders) {
		return fault.Field("body", "has a part with more than %d bytes of headers", parts.MaxHeaders)
	}
	return fault.New(fault.InvalidRequest, "The form is incomplete or malformed.").Wrap(err)
}

// latin1Name finds a file name that RFC 5987 writes in ISO-8859-1, which package mime
// does not read.
var latin1Name = regexp.MustCompile(`(?i)filename\*\s*=\s*iso-8859-1'[^']*'([^;\s"]+)`)

// NameOf returns the file name of a part, as its sender meant it: RFC 5987 and 2047 are
// decoded, and what browsers escape in a quoted name. Error: invalid_request when it has
// none.
func NameOf(part *multipart.Part) (string, error) {
	name := part.FileName()
	if found := latin1Name.FindStringSubmatch(part.Header.Get("Content-Disposition")); found != nil {
		if plain, err := url.PathUnescape(found[1]); err == nil {
			name = fromLatin1(plain)
		}
	}
	if name == "" {
		return "", fault.Field("body.file", `has no file name: send the part with filename="scene.blend"`)
	}
	if !utf8.ValidString(name) {
		name = fromLatin1(name)
	}
	if plain, err := new(mime.WordDecoder).DecodeHeader(name); err == nil {
		name = plain
	}
	// How browsers write quotes and line ends (the HTML standard, multipart/form-data).
	return strings.NewReplacer("%22", `"`, "%0D", "\r", "%0d", "\r", "%0A", "\n", "%0a", "\n").Replace(name), nil
}

// fromLatin1 reads bytes as ISO-8859-1, the charset of old clients.
func fromLatin1(text string) string {
	runes := make([]rune, len(text))
	for i := range len(text) {
		runes[i] = rune(text[i])
	}
	return string(runes)
}
