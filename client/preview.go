package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"svc.example/internal/ground/redact"
)

// Statuses of a preview. The last three end it.
const (
	PreviewQueued    = "queued"
	PreviewRendering = "rendering"
	PreviewReady     = "ready"
	PreviewFailed    = "failed"
	PreviewExpired   = "expired" // no worker had time, or its picture or its upload is gone
)

// UploadPreview is a free preview of a frame of an upload: small and coarse.
type UploadPreview struct {
	PreviewID string `json:"preview_id"`
	UploadID  string `json:"upload_id"`
	Status    string `json:"status"`
	Frame     int    `json:"frame"`
	// WaitingReason is "no_worker_online", "no_capable_worker" or "workers_busy"; "" while a
	// worker is about to take it.
	WaitingReason string `json:"waiting_reason"`
	ImageURL      string `json:"image_url"` // a JPEG, once it is ready; it works for an hour, without a key
	Width         int    `json:"width"`     // pixels
	Height        int    `json:"height"`
	// Findings are what the picture shows that may be wrong, followed by the warnings of
	// the quote.
	Findings []Warning       `json:"findings"`
	Seconds  float64         `json:"seconds"` // that the picture took; 0 before
	Estimate *RenderEstimate `json:"estimate"`
	Failure  *PreviewFailure `json:"failure"`
	// ExpiresAt is when the picture goes, or a queued preview is given up; nil once it has
	// ended without a picture.
	ExpiresAt *time.Time `json:"expires_at"`
}

// RenderEstimate is what the quoted frames would take, as the farm is now.
type RenderEstimate struct {
	FrameLow  float64  `json:"seconds_per_frame_low"` // of one worker
	FrameHigh float64  `json:"seconds_per_frame_high"`
	TotalLow  *float64 `json:"total_seconds_low"` // nil while no worker is online
	TotalHigh *float64 `json:"total_seconds_high"`
}

// PreviewFailure is why there is no picture.
type PreviewFailure struct {
	Code            string `json:"code"`
	Message         string `json:"message"`
	SuggestedAction string `json:"suggested_action"`
}

// Ended reports whether a preview is over: its status changes no more, but that a picture
// goes after a day.
func (p *UploadPreview) Ended() bool {
	return p.Status == PreviewReady || p.Status == PreviewFailed || p.Status == PreviewExpired
}

// OrderPreview asks for a preview of a frame of an upload; frame 0 is the middle of the
// quoted range. It spends nothing. Repeating it for a frame whose preview is in progress
// or done returns that one. Errors: *Error with free_preview_limit_reached, previews_off
// and others.
func (c *Client) OrderPreview(ctx context.Context, uploadID string, frame int) (*UploadPreview, error) {
	request := struct {
		Frame int `json:"frame,omitempty"`
	}{frame}
	var p UploadPreview
	if err := c.post(ctx, c.previewPath(uploadID, 0), request, &p); err != nil {
		return nil, err
	}
	return &p, nil
}

// Preview is OrderPreview and AwaitPreview: it returns once the preview has ended.
func (c *Client) Preview(ctx context.Context, uploadID string, frame int) (*UploadPreview, error) {
	p, err := c.OrderPreview(ctx, uploadID, frame)
	if err != nil {
		return nil, err
	}
	return c.AwaitPreview(ctx, p, nil)
}

// FindPreview reads the newest preview of a frame of an upload; frame 0 is that of any
// frame. Error: *Error with preview_not_found.
func (c *Client) FindPreview(ctx context.Context, uploadID string, frame int) (*UploadPreview, error) {
	var p UploadPreview
	if err := c.get(ctx, c.previewPath(uploadID, frame), &p); err != nil {
		return nil, err
	}
	return &p, nil
}

// Pauses between two reads of a preview in progress: a light scene takes a second or two,
// and one that waits for a worker minutes.
const (
	firstPreviewPause   = 250 * time.Millisecond
	longestPreviewPause = 2 * time.Second
)

// AwaitPreview reads a preview until it has ended. on, which may be nil, gets each state.
func (c *Client) AwaitPreview(ctx context.Context, p *UploadPreview, on func(*UploadPreview)) (*UploadPreview, error) {
	for pause := firstPreviewPause; ; pause = min(pause*3/2, longestPreviewPause) {
		if on != nil {
			on(p)
		}
		if p.Ended() {
			return p, nil
		}
		if err := c.retry.wait(ctx, pause); err != nil {
			return p, err
		}
		next, err := c.FindPreview(ctx, p.UploadID, p.Frame)
		if err != nil {
			return p, err
		}
		p = next
	}
}

// PreviewImage fetches the picture of a preview that is ready.
func (c *Client) PreviewImage(ctx context.Context, p *UploadPreview) (picture []byte, err error) {
	if p.ImageURL == "" {
		return nil, errors.New("the preview has no picture")
	}
	err = c.retry.run(ctx, true, func() error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.ImageURL, nil) // the address is the authorisation
		if err != nil {
			return &unreadable{redact.URLs(err)}
		}
		res, err := c.send(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		picture, err = io.ReadAll(io.LimitReader(res.Body, maxPreview))
		if res.StatusCode != http.StatusOK {
			return errorFrom(res, picture, time.Now())
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("fetch the preview's picture: %w", err)
	}
	return picture, nil
}

// previewPath is where the client's kind of key finds the previews of an upload.
func (c *Client) previewPath(uploadID string, frame int) string {
	path := c.uploadPath(uploadID, "/preview")
	if frame > 0 {
		path += "?frame=" + strconv.Itoa(frame)
	}
	return path
}

// uploadPath is where the client's kind of key finds an upload.
func (c *Client) uploadPath(uploadID, rest string) string {
	uploads := "/node/v1/uploads/"
	if c.AccountKey() {
		uploads = "/v1/uploads/"
	}
	return uploads + url.PathEscape(uploadID) + rest
}
