package shared

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"net/http"
	"strconv"

	"golang.org/x/image/draw"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/overview"
	"svc.example/internal/work/watch"
)

// frame finds the frame that a request names. Errors: frame_not_found.
func (s *Site) frame(r visit) (watch.Preview, error) {
	n, err := strconv.Atoi(r.PathValue("frame"))
	if err != nil {
		return watch.Preview{}, fault.New(fault.FrameNotFound, "There is no frame %q.", r.PathValue("frame"))
	}
	return s.Watch.Preview(r.Context(), r.WorkspaceID, r.JobID, n)
}

// smallFrame sends the small picture of a frame.
func (s *Site) smallFrame(w http.ResponseWriter, r visit) error {
	found, err := s.frame(r)
	if err != nil {
		return err
	}
	return page.SendPicture(w, r.Request, "image/jpeg", found.SHA256, page.FrameCacheOf(r.Request, found.SHA256), func() ([]byte, error) { return found.JPEG(r.Context()) })
}

// noDownload refuses what the link does not allow. It says nothing about what there is.
func noDownload() error {
	return fault.New(fault.ShareNotFound, "This link shows the frames and allows no download.").WithAction("Ask the person who sent you the link.")
}

// wholeFrame sends the file of a frame as it was rendered, if the link allows it. A worker made
// it: browsers save it and never open it.
func (s *Site) wholeFrame(w http.ResponseWriter, r visit) error {
	if !r.Download {
		return noDownload()
	}
	found, err := s.frame(r)
	if err != nil {
		return err
	}
	file, name, size, err := found.File(r.Context())
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", blob.Attachment(name))
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	h.Set("Cache-Control", "no-store")
	_, _ = io.Copy(w, file) // a failed write means that the browser is gone
	return nil
}

// download leads to the ZIP, if the link allows it, at an address that works for a while.
func (s *Site) download(w http.ResponseWriter, r visit) error {
	if !r.Download {
		return noDownload()
	}
	_, d, err := s.Artifacts.Download(r.Context(), r.WorkspaceID, r.JobID)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r.Request, d.URL, http.StatusSeeOther)
	return nil
}

// overview returns the handler of the contact sheet or the loop.
func (s *Site) overview(kind overview.Kind) func(http.ResponseWriter, visit) error {
	return func(w http.ResponseWriter, r visit) error {
		found, err := s.Overviews.Find(r.Context(), r.WorkspaceID, r.JobID, kind)
		if err != nil {
			return err
		}
		return page.SendOverview(w, r.Request, kind.ContentType(), found.Tag, found)
	}
}

// The size that sites ask of a card's picture, in pixels.
const cardWide, cardHigh = 1200, 630

// card sends the picture that other sites show with the link: the frame in the middle of the
// job. Errors: frame_not_found.
func (s *Site) card(w http.ResponseWriter, r visit) error {
	o, err := s.Jobs.Get(r.Context(), r.WorkspaceID, r.JobID)
	if err != nil {
		return err
	}
	views, err := s.frames(r, o)
	if err != nil {
		return err
	}
	if len(views) == 0 {
		return fault.New(fault.FrameNotFound, "There is no frame to show.")
	}
	found, err := s.Watch.Preview(r.Context(), r.WorkspaceID, r.JobID, views[len(views)/2].Frame)
	if err != nil {
		return err
	}
	return page.SendPicture(w, r.Request, "image/jpeg", "card-"+found.SHA256, page.FrameCacheOf(r.Request, found.SHA256), func() (card []byte, err error) {
		small, err := found.JPEG(r.Context())
		if err != nil {
			return nil, err
		}
		ratelimit.Work(r.Context(), func() { card, err = drawCard(small) })
		return card, err
	})
}

// drawCard puts a picture in the middle of a card, as large as fits.
func drawCard(small []byte) ([]byte, error) {
	picture, err := jpeg.Decode(bytes.NewReader(small))
	if err != nil {
		return nil, fmt.Errorf("read a small picture: %w", err)
	}
	size := picture.Bounds().Size()
	scale := min(float64(cardWide)/float64(size.X), float64(cardHigh)/float64(size.Y))
	wide, high := int(float64(size.X)*scale), int(float64(size.Y)*scale)
	at := image.Pt((cardWide-wide)/2, (cardHigh-high)/2)
	to := image.NewRGBA(image.Rect(0, 0, cardWide, cardHigh))
	draw.Draw(to, to.Bounds(), image.NewUniform(color.RGBA{17, 20, 24, 255}), image.Point{}, draw.Src)
	draw.ApproxBiLinear.Scale(to, image.Rectangle{at, at.Add(image.Pt(wide, high))}, picture, picture.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, to, &jpeg.Options{Quality: 80}); err != nil {
		return nil, fmt.Errorf("draw a card: %w", err)
	}
	return out.Bytes(), nil
}
