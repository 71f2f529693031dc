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
// key.
func (c *Client) Start(ctx context.Context, uploadID, quoteID string, r StartRequest) (*Job, error) {
	request := struct {
		QuoteID string `json:"quote_id"`
		StartRequest
	}{quoteID, r}
	body, err := jsonBody(request)
	if err != nil {
		return nil, err
	}
	// The first answer alone tells a webhook's secret, and it can get lost.
	x := call{method: http.MethodPost, path: "/node/v1/uploads/" + url.PathEscape(uploadID) + "/start", body: body, key: rand.Text()}
	var job Job
	if err := c.do(ctx, x, &job); err != nil {
		return nil, err
	}
	return &job, nil
}

// Job reads a job. Error: *Error with render_not_found, also for another
// workspace's job.
func (c *Client) Job(ctx context.Context, jobID string) (*Job, error) {
	var job Job
	if err := c.get(ctx, c.jobPath(jobID, ""), &job); err != nil {
		return nil, err
	}
	return &job, nil
}

// Cancel ends a job that no worker has claimed yet; later it is refused with
// render_not_cancellable. A cancelled job costs nothing: its whole reserve is
// released.
func (c *Client) Cancel(ctx context.Context, jobID string) (*Job, error) {
	var job Job
	x := call{method: http.MethodPost, path: c.jobPath(jobID, "/cancel")}
	if err := c.do(ctx, x, &job); err != nil {
		return nil, err
	}
	return &job, nil
}

// Artifact returns where the ZIP of a completed job can be fetched. Each call makes
// a new link, which works for a while only. Error: *Error with render_not_completed
// or artifact_expired.
func (c *Client) Artifact(ctx context.Context, jobID string) (*Artifact, error) {
	var answer struct {
		Download Artifact `json:"download"`
	}
	if err := c.get(ctx, c.jobPath(jobID, "/download"), &answer); err != nil {
		return nil, err
	}
	return &answer.Download, nil
}

// Receipt reads the receipt of a completed job, which [Verify] checks.
func (c *Client) Receipt(ctx context.Context, jobID string) (*Receipt, error) {
	var receipt Receipt
	if err := c.get(ctx, c.jobPath(jobID, "/receipt"), &receipt); err != nil {
		return nil, err
	}
	return &receipt, nil
}

// Proof reads the proof that a completed job's receipt is in the log; [VerifyLog]
// checks it.
func (c *Client) Proof(ctx context.Context, jobID string) (*Proof, error) {
	var proof Proof
	if err := c.get(ctx, c.jobPath(jobID, "/proof"), &proof); err != nil {
		return nil, err
	}
	return &proof, nil
}

// SigningKeys lists the public keys with which receipts are or were signed. The
// route is public. Keep the keys that you trust: those from the server that you
// check prove less.
func (c *Client) SigningKeys(ctx context.Context) ([]SigningKey, error) {
	var answer struct {
		Keys []SigningKey `json:"keys"`
	}
	if err := c.get(ctx, "/v1/signing-keys", &answer); err != nil {
		return nil, err
	}
	return answer.Keys, nil
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
