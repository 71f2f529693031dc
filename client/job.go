package client

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Start spends: it accepts the quote, reserves its price and queues the job.
// Starting the same quote again returns the same job and reserves nothing more.
// Only the call that made the job returns the webhook secret that the service made,
// however often it had to be repeated. Errors: *Error with insufficient_funds,
// quote_expired, quote_not_qualified, spend_limit_reached and others. It takes an agent
// key. Only the two ids of quote are read.
func (c *Client) Start(ctx context.Context, quote *Quote, r StartRequest) (*Job, error) {
	request := struct {
		QuoteID string `json:"quote_id"`
		StartRequest
	}{quote.QuoteID, r}
	body, err := jsonBody(request)
	if err != nil {
		return nil, err
	}
	// Only the first answer contains a webhook's secret, and it can get lost.
	x := call{method: http.MethodPost, path: "/node/v1/uploads/" + url.PathEscape(quote.UploadID) + "/start", body: body, key: rand.Text()}
	var job Job
	if err := c.do(ctx, x, &job); err != nil {
		return nil, err
	}
	return &job, nil
}

// Bounds of a file of the log: a full tile of entries, the largest, has 8704 bytes, and a
// scheduled check must not wait for a silent server for ever.
const (
	maxLogFile  = 64 << 10 // bytes
	logFileTime = time.Minute
)

// LogFile reads a public file of the log of receipts by its path below /log/, such as
// "checkpoint" (C2SP tlog-tiles). Error: *Error with the status 404 for a file that the
// log does not have.
func (c *Client) LogFile(ctx context.Context, path string) (data []byte, err error) {
	path = "/log/" + path
	err = c.retry.run(ctx, true, func() error {
		ctx, cancel := context.WithTimeout(ctx, logFileTime)
		defer cancel()
		body, err := c.openOnce(ctx, path)
		if err != nil {
			return err
		}
		defer body.Close()
		data, err = io.ReadAll(io.LimitReader(body, maxLogFile))
		return err
	})
	if err != nil {
		return nil, &CallError{Server: c.base.String(), Call: "GET " + path, cause: err}
	}
	return data, nil
}

// jobPath is where the client's kind of key finds a job.
func (c *Client) jobPath(jobID, rest string) string {
	jobs := "/node/v1/jobs/"
	if c.AccountKey() {
		jobs = "/v1/renders/"
	}
	return jobs + url.PathEscape(jobID) + rest
}
