package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/quote"
)

// Header names of the idempotent upload (spec 4.2).
const (
	fingerprintName  = "X-Svc-Request-Fingerprint"
	svcFilename      = "X-Svc-Filename"
	svcRenderer      = "X-Svc-Renderer"
	svcFrameStart    = "X-Svc-Frame-Start"
	svcFrameEnd      = "X-Svc-Frame-End"
	svcFrameCount    = "X-Svc-Frame-Count"
	svcSizeBytes     = "X-Svc-Size-Bytes"
	svcContentSHA256 = "X-Svc-Content-SHA256"
)

// uploadHeaderRule is one of the nine headers.
type uploadHeaderRule struct {
	header string
	line   string // its name in the fingerprint; "" for the two that are not in it
	// form is the pattern of spec 4.2.
	form *regexp.Regexp
}

// Patterns of header values (spec 4.2).
var (
	anyText  = regexp.MustCompile(`^.+$`)
	hex64    = regexp.MustCompile(digest.Pattern)
	positive = regexp.MustCompile(`^[1-9][0-9]*$`)
	natural  = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)
)

// uploadHeaderRules returns the nine headers. Those of the fingerprint are in
// the order of its lines.
func uploadHeaderRules() []uploadHeaderRule {
	return []uploadHeaderRule{
		{operation.IdempotencyKey, "", anyText},
		{fingerprintName, "", hex64},
		{svcFilename, "filename", anyText},
		{svcRenderer, "renderer", anyText},
		{svcFrameStart, "frame_start", positive},
		{svcFrameEnd, "frame_end", positive},
		{svcFrameCount, "frame_count", positive},
		{svcSizeBytes, "size_bytes", natural},
		{svcContentSHA256, "sha256", hex64},
	}
}

// fingerprint returns the lower-case hex SHA-256 of the seven canonical lines
// (spec 4.2). value returns the value of a header, exactly as sent.
func fingerprint(value func(header string) string) string {
	var lines []string
	for _, rule := range uploadHeaderRules() {
		if rule.line != "" {
			lines = append(lines, rule.line+"="+value(rule.header))
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// uploadHeaders are the nine headers of an upload. A nil *uploadHeaders stands
// for an upload without them, and its methods accept that.
type uploadHeaders struct{ header http.Header }

// readUploadHeaders reads the nine headers: all or none (spec 4.2). It returns nil
// when none came. With a JSON body, an Idempotency-Key alone is not part of the group
// (decisions 7).
//
// Everything that can be checked without the body is checked here, so that a
// mistake costs the caller no upload. Errors: idempotency_headers_incomplete,
// invalid_request, fingerprint_mismatch, upload_too_large.
func readUploadHeaders(r *http.Request) (*uploadHeaders, error) {
	h := r.Header
	var missing []string
	for _, rule := range uploadHeaderRules() {
		if h.Get(rule.header) == "" {
			missing = append(missing, rule.header)
		}
	}
	alone := len(missing) == len(uploadHeaderRules())-1 && h.Get(operation.IdempotencyKey) != ""
	if len(missing) == len(uploadHeaderRules()) || (alone && isJSON(r)) {
		return nil, nil
	}
	if len(missing) > 0 {
		return nil, fault.New(fault.IdempotencyHeadersIncomplete, "These idempotency headers are missing: %s.", strings.Join(missing, ", ")).
			With(map[string][]string{"missing": missing})
	}
	for _, rule := range uploadHeaderRules() {
		if !rule.form.MatchString(h.Get(rule.header)) {
			return nil, fault.Field("header."+rule.header, "must match %s", rule.form)
		}
	}
	if want := fingerprint(h.Get); h.Get(fingerprintName) != want {
		return nil, fault.New(fault.FingerprintMismatch, "The fingerprint does not match the headers; expected %s.", want)
	}
	g := &uploadHeaders{h}
	// A file that is too large is refused before a byte of it is read.
	if n, err := wholeNumber(h.Get(svcSizeBytes)); err != nil || n > contract.MaxUploadBytes {
		return nil, intake.TooLarge() // before a byte of it is read
	}
	return g, nil
}

// sentFile is what the headers of an upload must say of it.
type sentFile struct {
	name               string
	size               int64
	sha256             string
	start, end, frames int
}

// matches compares the headers with what was uploaded. Without it a caller
// could store an answer under the fingerprint of another file. Errors:
// size_mismatch, content_hash_mismatch, header_mismatch.
func (g *uploadHeaders) matches(file sentFile) error {
	if g == nil {
		return nil
	}
	number := func(header string) int {
		n, err := wholeNumber(g.header.Get(header))
		if err != nil {
			return -1 // matches nothing
		}
		return n
	}
	if n := number(svcSizeBytes); int64(n) != file.size {
		return fault.New(fault.SizeMismatch, "%s is %d, but the file has %d bytes.", svcSizeBytes, n, file.size)
	}
	if want := g.header.Get(svcContentSHA256); want != file.sha256 {
		return fault.New(fault.ContentHashMismatch, "%s is %s, but the file's SHA-256 is %s.", svcContentSHA256, want, file.sha256)
	}
	name, err := intake.CleanName(g.header.Get(svcFilename))
	if err != nil || name != file.name {
		return fault.New(fault.HeaderMismatch, "%s is %q, but the uploaded file is named %q.", svcFilename, g.header.Get(svcFilename), file.name)
	}
	if r := g.header.Get(svcRenderer); r != contract.RendererID {
		return fault.New(fault.HeaderMismatch, "%s is %q, but the renderer is %q.", svcRenderer, r, contract.RendererID)
	}
	for _, c := range []struct {
		header string
		is     int
	}{{svcFrameStart, file.start}, {svcFrameEnd, file.end}, {svcFrameCount, file.frames}} {
		if n := number(c.header); n != c.is {
			return fault.New(fault.HeaderMismatch, "%s is %s, but the form has %d.", c.header, g.header.Get(c.header), c.is)
		}
	}
	return nil
}

// sha256 returns the hash that the headers give the file; "" without them.
func (g *uploadHeaders) sha256() string {
	if g == nil {
		return ""
	}
	return g.header.Get(svcContentSHA256)
}

// frames returns the frames that the form asks for; those of the headers when
// the form has no frame field. Errors: those of quote.Span.
func (g *uploadHeaders) frames(start, end, count *int) (quote.Frames, error) {
	if g != nil && start == nil && end == nil && count == nil {
		from := func(header string) *int {
			n, err := wholeNumber(g.header.Get(header))
			if err != nil {
				n = -1
			}
			return &n
		}
		start, end, count = from(svcFrameStart), from(svcFrameEnd), from(svcFrameCount)
	}
	return quote.Span(start, end, count)
}
