package front

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/fault"
)

// ServeContent sends a file, or the part of it that is asked for, as http.ServeContent
// does, with two differences. It ignores a Range that means nothing, as RFC 9110 requires:
// one of another unit, or one that ends before it begins. A refusal has the error body of
// every other refusal.
func (e *Errors) ServeContent(w http.ResponseWriter, r *http.Request, modified time.Time, content io.ReadSeeker) {
	if asked := r.Header.Get("Range"); asked != "" && !meansBytes(asked) {
		r.Header.Del("Range")
	}
	out := &refusalCatcher{ResponseWriter: w}
	http.ServeContent(out, r, "", modified, content)
	if out.status != 0 {
		w.Header().Del("Content-Disposition") // a refusal is no file
	}
	switch out.status {
	case http.StatusRequestedRangeNotSatisfiable:
		err := fault.New(fault.RangeNotSatisfiable, "The file has no bytes in the range %s.", r.Header.Get("Range"))
		if size, found := strings.CutPrefix(w.Header().Get("Content-Range"), "bytes */"); found {
			err = err.With(map[string]string{"size_bytes": size})
		}
		e.Answer(w, r, err)
	case http.StatusPreconditionFailed:
		e.Answer(w, r, fault.New(fault.PreconditionFailed, "The file has changed: it does not match the condition of the request."))
	}
}

// ServeAttachment is ServeContent for a private file that browsers save under a name. sum is the
// SHA-256 of its bytes.
func (e *Errors) ServeAttachment(w http.ResponseWriter, r *http.Request, kind, name, sum string, content io.ReadSeeker) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", blob.Attachment(name))
	h.Set("ETag", `"`+sum+`"`)
	h.Set("Cache-Control", "private, no-cache")
	e.ServeContent(w, r, time.Time{}, content)
}

// ServeStream is ServeContent for a file of size bytes that is read from its beginning only. It
// sends one range at most, and the whole file where several are asked for: those could lead back.
func (e *Errors) ServeStream(w http.ResponseWriter, r *http.Request, size int64, from io.Reader) {
	if strings.Contains(r.Header.Get("Range"), ",") {
		r.Header.Del("Range")
	}
	e.ServeContent(w, r, time.Time{}, &forward{from: from, size: size})
}

// forward seeks in what can only be read: it skips the bytes before its place.
type forward struct {
	from            io.Reader
	size, at, given int64
}

func (f *forward) Seek(offset int64, whence int) (int64, error) {
	f.at = offset + map[int]int64{io.SeekCurrent: f.at, io.SeekEnd: f.size}[whence]
	return f.at, nil
}

func (f *forward) Read(p []byte) (int, error) {
	skipped, err := io.CopyN(io.Discard, f.from, max(0, f.at-f.given))
	f.given += skipped
	if err != nil {
		return 0, err
	}
	n, err := f.from.Read(p)
	f.at, f.given = f.at+int64(n), f.given+int64(n)
	return n, err
}

// byteRanges is the form of a Range in bytes.
var byteRanges = regexp.MustCompile(`^bytes=[ \t]*(\d+-\d*|-\d+)([ \t]*,[ \t]*(\d+-\d*|-\d+))*[ \t]*$`)

// meansBytes reports whether a Range header asks for bytes in a way that can be answered.
func meansBytes(asked string) bool {
	if !byteRanges.MatchString(asked) {
		return false
	}
	for one := range strings.SplitSeq(strings.TrimPrefix(asked, "bytes="), ",") {
		first, last, _ := strings.Cut(strings.TrimSpace(one), "-")
		from, errFrom := strconv.ParseInt(first, 10, 64)
		to, errTo := strconv.ParseInt(last, 10, 64)
		if errFrom == nil && errTo == nil && to < from {
			return false
		}
	}
	return true
}

// refusalCatcher holds back what http.ServeContent refuses in plain text, so that it can be
// answered as an error.
type refusalCatcher struct {
	http.ResponseWriter
	status int // of the refusal; 0 when the response passes through
}

func (c *refusalCatcher) WriteHeader(status int) {
	if status == http.StatusRequestedRangeNotSatisfiable || status == http.StatusPreconditionFailed {
		c.status = status
		return
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *refusalCatcher) Write(p []byte) (int, error) {
	if c.status != 0 {
		return len(p), nil
	}
	return c.ResponseWriter.Write(p)
}

// ReadFrom lets files go out without being copied through the process.
func (c *refusalCatcher) ReadFrom(src io.Reader) (int64, error) {
	return io.Copy(c.ResponseWriter, src)
}

// Unwrap lets http.ResponseController reach the connection.
func (c *refusalCatcher) Unwrap() http.ResponseWriter { return c.ResponseWriter }
