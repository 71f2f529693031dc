package farm

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"

	"svc.example/internal/ground/fault"
)

// decode reads a JSON body. It refuses unknown members, which are the sign of a
// worker of another version. Errors: unsupported_media_type, invalid_request.
func decode(r *http.Request, into any) error { return decodeAtMost(r, into, maxMeta*4) }

// decodeAtMost is decode of a body of so many bytes.
func decodeAtMost(r *http.Request, into any, most int64) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return fault.New(fault.UnsupportedMedia, "%s accepts application/json only.", path.Base(r.URL.Path))
	}
	d := json.NewDecoder(io.LimitReader(r.Body, most))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fault.New(fault.InvalidRequest, "The body could not be read: %v.", err)
	}
	return nil
}

// clip bounds a worker's text to maxText bytes. It removes NUL and what is not
// UTF-8, since PostgreSQL stores neither: a report must not fail because of a
// log.
func clip(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
}
