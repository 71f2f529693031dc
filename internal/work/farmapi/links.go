package farmapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"svc.example/internal/ground/redact"
)

// AskLink is the query parameter by which a worker asks for a link to a part's bytes.
const AskLink = "link"

// LinkReply says where the bytes of a part are. Without a URL the server sends them.
type LinkReply struct {
	OK  bool   `json:"ok"`
	URL string `json:"url,omitempty"`
}

// deliverByLink sends the bytes to the store and the description to the server. sent is
// false when the bytes did not get to the store: image is then at its start again.
func (c *Client) deliverByLink(ctx context.Context, result FrameResult, image io.ReadSeeker) (sent bool, err error) {
	to, err := call[StageReply](ctx, c, PathStage, result, callTimeout)
	if err != nil {
		return true, err
	}
	if to.URL == "" {
		return false, nil
	}
	began := time.Now()
	if err := c.put(ctx, to, result.SizeBytes, image); err != nil {
		c.links.Store(false) // until the server registers this worker again
		if _, again := image.Seek(0, io.SeekStart); again != nil {
			return true, fmt.Errorf("read the image again: %w", errors.Join(again, err))
		}
		return false, nil
	}
	result.Staged = to.Key
	if told := result.Times; told != nil { // the server does not see these bytes come
		times := *told
		times.Transfer += time.Since(began).Seconds()
		result.Times = &times
	}
	_, err = call[OKReply](ctx, c, PathDeliver, result, callTimeout)
	return true, err
}

// put sends bytes to the store. That they are there already is no error: the link is
// good for these only, and an answer was lost.
func (c *Client) put(ctx context.Context, to StageReply, size int64, image io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, transferTime(size))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, to.URL, &exactly{image, size})
	if err != nil {
		return redact.URLs(err)
	}
	req.ContentLength = size
	for name, value := range to.Header {
		req.Header.Set(name, value)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return redact.URLs(err)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 && res.StatusCode != http.StatusPreconditionFailed {
		return fmt.Errorf("the store answers %s", res.Status)
	}
	return nil
}

// partByLink opens a part in the store. It returns nil if the server has to send it:
// the server also knows what a missing part means.
func (c *Client) partByLink(ctx context.Context, path string) io.ReadCloser {
	req, err := c.request(ctx, http.MethodGet, path+"&"+url.Values{AskLink: {"1"}}.Encode(), nil)
	if err != nil {
		return nil
	}
	var at LinkReply
	if err := c.exchange(req, &at); err != nil || at.URL == "" {
		return nil
	}
	// The store gets no node key.
	if req, err = http.NewRequestWithContext(ctx, http.MethodGet, at.URL, nil); err != nil {
		return nil
	}
	res, err := c.http.Do(req)
	if err != nil {
		c.links.Store(false)
		return nil
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return nil
	}
	return res.Body
}
