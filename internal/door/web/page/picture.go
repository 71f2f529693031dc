package page

import (
	"context"
	"net/http"
	"strings"

	"svc.example/internal/front"
)

// How long a browser may show a picture again without asking.
const (
	// FrameCache is for an accepted frame, which changes only where it is rendered again before
	// its job ends. A frame that expires or is erased, or whose share link ends, may stay in its
	// viewer's browser for that long.
	FrameCache = "private, max-age=3600"
	// PictureCache is for a picture that can change: the browser asks whether it did.
	PictureCache = "private, no-cache"
)

// FrameCacheOf is FrameCache for a request that may name the frame's hash: no browser then asks
// whether the picture has changed, not even when its page is loaded again.
func FrameCacheOf(r *http.Request, sha256 string) string {
	if v := r.URL.Query().Get("v"); v != "" && strings.HasPrefix(sha256, v) {
		return FrameCache + ", immutable"
	}
	return FrameCache
}

// SendPicture sends a picture. It is made only for a browser that has another one.
func SendPicture(w http.ResponseWriter, r *http.Request, kind, tag, cache string, content func() ([]byte, error)) error {
	h := w.Header()
	h.Set("ETag", `"`+tag+`"`)
	h.Set("Cache-Control", cache)
	if r.Header.Get("If-None-Match") == `"`+tag+`"` {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	picture, err := content()
	if err != nil {
		h.Del("ETag")
		h.Del("Cache-Control")
		return err
	}
	h.Set("Content-Type", kind)
	_, _ = w.Write(picture) // a failed write means that the browser is gone
	return nil
}

// Overview is what SendOverview needs of one of package overview.
type Overview interface {
	// Requests is how many more requests it counts as.
	Requests() int
	Content(ctx context.Context) ([]byte, error)
}

// SendOverview sends a job's contact sheet or loop, and counts the work of making it.
func SendOverview(w http.ResponseWriter, r *http.Request, kind, tag string, made Overview) error {
	return SendPicture(w, r, kind, tag, PictureCache, func() ([]byte, error) {
		if err := front.Charge(r.Context(), made.Requests()); err != nil {
			return nil, err
		}
		return made.Content(r.Context())
	})
}
