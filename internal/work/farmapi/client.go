package farmapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"svc.example/internal/ground/plaintext"
	"svc.example/internal/ground/redact"
	"svc.example/internal/ground/tracing"
)

// Client calls the workers' API over HTTP. It is safe for concurrent use. It never
// retries automatically: the worker knows better what may be retried, and when.
type Client struct {
	base string
	key  string
	http *http.Client
	// links is set while the store gives links and this machine reaches it.
	links atomic.Bool
}

// How long a call may take on top of what it asks for; a transfer also gets the
// time its bytes need at slowestBytesPerSecond.
const (
	// callTimeout is for a busy server that waits for its database.
	callTimeout = 30 * time.Second
	// slowestBytesPerSecond still lets the largest upload reach a worker within the
	// hour.
	slowestBytesPerSecond = 32 << 10
)

// maxReplyBytes bounds a JSON reply, so that a wrong server cannot fill the
// worker's memory. The largest reply lists the files of a project.
const maxReplyBytes = 64 << 20

// idleConnections are kept open for the calls that a worker makes at once: a lease,
// a heartbeat, a delivery and a file. Go's default of 2 would cost a handshake for
// each further one.
const idleConnections = 4

// NewClient returns a client of the server at serverURL ("http://host:port",
// without a path of its own) that authenticates with a node key. It opens no
// connection.
func NewClient(serverURL, key string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = idleConnections
	return &Client{base: strings.TrimRight(serverURL, "/"), key: key, http: &http.Client{Transport: tracing.Transport(transport, "svc", true)}}
}

// Error is a refusal that the server replied. After any other error of a Client it
// is unknown whether the server did what it was asked to do.
type Error struct {
	Status          int    // HTTP status
	Code            string // error.code, "" when the reply was not in the server's envelope
	Message         string
	Retryable       bool
	SuggestedAction string        // "" when the reply was not in the server's envelope
	RetryAfter      time.Duration // 0 when the server named none
}

func (e *Error) Error() string {
	return fmt.Sprintf("server replied %d %s: %s", e.Status, plaintext.Line(e.Code), plaintext.Line(e.Message))
}

// Register describes this worker to the server. Error code: synthetic_refused.
func (c *Client) Register(ctx context.Context, req RegisterRequest) (RegisterReply, error) {
	reply, err := call[RegisterReply](ctx, c, PathRegister, req, callTimeout)
	if err == nil {
		c.links.Store(reply.Links)
	}
	return reply, err
}

// Lease asks for frames and waits for them as long as the request allows. When ctx
// ends first, the server may still have given leases, which then lapse.
func (c *Client) Lease(ctx context.Context, req LeaseRequest) (LeaseReply, error) {
	wait := time.Duration(req.WaitSeconds * float64(time.Second))
	return call[LeaseReply](ctx, c, PathLease, req, wait+callTimeout)
}

// Heartbeat extends leases and returns those that are lost.
func (c *Client) Heartbeat(ctx context.Context, req HeartbeatRequest) (HeartbeatReply, error) {
	return call[HeartbeatReply](ctx, c, PathHeartbeat, req, callTimeout)
}

// Fail reports a frame that could not be rendered. Error code: lease_lost.
func (c *Client) Fail(ctx context.Context, req FailRequest) error {
	_, err := call[OKReply](ctx, c, PathFail, req, callTimeout)
	return err
}

// Release gives leases back unrendered.
func (c *Client) Release(ctx context.Context, req ReleaseRequest) error {
	_, err := call[OKReply](ctx, c, PathRelease, req, callTimeout)
	return err
}

// Demand asks what workers are wanted for.
func (c *Client) Demand(ctx context.Context) (reply DemandReply, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := c.request(ctx, http.MethodGet, PathDemand, nil)
	if err != nil {
		return reply, err
	}
	return reply, c.exchange(req, &reply)
}

// Reference asks for the reference rows of a kind of machine.
func (c *Client) Reference(ctx context.Context, req ReferenceRequest) (ReferenceReply, error) {
	return call[ReferenceReply](ctx, c, PathReference, req, callTimeout)
}

// Benchmark submits a signed benchmark receipt. Error code: benchmark_refused; a
// receipt that is well-formed but not believed is a reply, not an error.
func (c *Client) Benchmark(ctx context.Context, req BenchmarkRequest) (BenchmarkReply, error) {
	return call[BenchmarkReply](ctx, c, PathBenchmark, req, callTimeout)
}

// Challenge asks for the challenge of a benchmark run. Error code: rate_limited, with the
// time to wait.
func (c *Client) Challenge(ctx context.Context, req ChallengeRequest) (ChallengeReply, error) {
	return call[ChallengeReply](ctx, c, PathChallenge, req, callTimeout)
}

// Deliver sends a rendered frame; image must hold result.SizeBytes bytes, and outputs those of
// result.Outputs. Their lengths are announced, so that the server recognises a broken delivery.
// Error codes: lease_lost, frame_rejected. If the store gives links, image can be read again and
// there are no outputs, the bytes go to the store, or to the server if that fails.
func (c *Client) Deliver(ctx context.Context, result FrameResult, image io.Reader, outputs ...io.Reader) error {
	if again, ok := image.(io.ReadSeeker); ok && c.links.Load() && len(outputs) == 0 {
		if sent, err := c.deliverByLink(ctx, result, again); sent {
			return err
		}
	}
	return c.deliverBeside(ctx, result, append([]io.Reader{image}, outputs...))
}

// deliverBeside sends a description and its bytes in one request.
func (c *Client) deliverBeside(ctx context.Context, result FrameResult, files []io.Reader) error {
	between, kind, err := deliverParts(result)
	if err == nil && len(files) != len(result.Outputs)+1 {
		err = fmt.Errorf("%d files come with a picture and %d outputs", len(files), len(result.Outputs))
	}
	if err != nil {
		return fmt.Errorf("write the delivery of %s: %w", result.File, err)
	}
	size, body := int64(0), []io.Reader{}
	for i, text := range between {
		size, body = size+int64(len(text)), append(body, bytes.NewReader(text))
		if i < len(files) {
			bytes := result.sizeOf(i)
			size, body = size+bytes, append(body, &exactly{files[i], bytes})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, transferTime(size))
	defer cancel()
	req, err := c.request(ctx, http.MethodPost, PathDeliver, io.MultiReader(body...))
	if err != nil {
		return err
	}
	req.ContentLength = size
	req.Header.Set("Content-Type", kind)
	var reply OKReply
	return c.exchange(req, &reply)
}

// sizeOf is the bytes of a delivery's file: 0 is the picture, and the outputs follow.
func (r FrameResult) sizeOf(i int) int64 {
	if i == 0 {
		return r.SizeBytes
	}
	return r.Outputs[i-1].SizeBytes
}

// deliverParts writes the multipart body around the bytes of its files: before the first one,
// between them and after the last. So the files themselves are streamed and the length known.
func deliverParts(result FrameResult) (between [][]byte, contentType string, err error) {
	meta, err := json.Marshal(result)
	if err != nil {
		return nil, "", err
	}
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	part, err := parts.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="meta"`}, "Content-Type": {"application/json"}})
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(meta); err != nil {
		return nil, "", err
	}
	if _, err := parts.CreateFormFile("file", result.File); err != nil {
		return nil, "", err
	}
	cuts := []int{0, body.Len()}
	for range result.Outputs {
		if _, err := parts.CreateFormFile("output", "output"); err != nil {
			return nil, "", err
		}
		cuts = append(cuts, body.Len())
	}
	if err := parts.Close(); err != nil {
		return nil, "", err
	}
	cuts = append(cuts, body.Len())
	for i, cut := range cuts[1:] {
		between = append(between, body.Bytes()[cuts[i]:cut])
	}
	return between, parts.FormDataContentType(), nil
}

// exactly reads the next left bytes of r, and fails when there are fewer. Without
// it, the form's tail would follow a cut image, and the multipart reader would take
// it for whole.
type exactly struct {
	r    io.Reader
	left int64
}

func (e *exactly) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.EOF && e.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Project lists the files of a job. The worker must hold a lease of the job.
func (c *Client) Project(ctx context.Context, workerID, jobID string) (reply Project, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := c.request(ctx, http.MethodGet, inputPath(workerID, jobID), nil)
	if err != nil {
		return reply, err
	}
	return reply, c.exchange(req, &reply)
}

// Part opens one part of a job's files; size is how many bytes it has and bounds
// the time of the transfer. The caller closes it, and must verify the SHA-256 of
// what it read. The worker must hold a lease of the job. Where the server answers with a
// link to the store, the bytes come from there, or from the server if they do not come.
func (c *Client) Part(ctx context.Context, workerID, jobID, sha256 string, size int64) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, transferTime(size))
	path := inputPath(workerID, jobID, sha256)
	if c.links.Load() {
		if body := c.partByLink(ctx, path); body != nil {
			return &download{body, cancel}, nil
		}
	}
	req, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	res, err := c.do(req)
	if err != nil {
		cancel()
		return nil, err
	}
	return &download{res.Body, cancel}, nil
}

// Strip opens a rendered strip of a frame that the worker finishes; size is how many bytes it
// has. The caller closes it, and must verify the SHA-256 of what it read.
func (c *Client) Strip(ctx context.Context, workerID, jobID, sha256 string, size int64) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, transferTime(size))
	req, err := c.request(ctx, http.MethodGet, pathOf(PathStrips, workerID, jobID, sha256), nil)
	if err != nil {
		cancel()
		return nil, err
	}
	res, err := c.do(req)
	if err != nil {
		cancel()
		return nil, err
	}
	return &download{res.Body, cancel}, nil
}

// inputPath escapes its parts, which come from the server's replies.
func inputPath(workerID string, names ...string) string { return pathOf(PathInput, workerID, names...) }

func pathOf(root, workerID string, names ...string) string {
	for i, name := range names {
		names[i] = url.PathEscape(name)
	}
	return root + strings.Join(names, "/") + "?worker_id=" + url.QueryEscape(workerID)
}

// download ends its request's deadline when it is closed. A deferred cancel in Part
// would end the transfer before it began.
type download struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (d *download) Close() error {
	defer d.cancel()
	return d.ReadCloser.Close()
}

// transferTime bounds a transfer of size bytes. A fixed bound would cut large files
// on slow connections, and none would let a dead connection hold the worker
// forever.
func transferTime(size int64) time.Duration {
	return callTimeout + time.Duration(size/slowestBytesPerSecond)*time.Second
}

// call posts a JSON body and reads a JSON reply.
func call[Reply any](ctx context.Context, c *Client, path string, body any, timeout time.Duration) (reply Reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	sent, err := json.Marshal(body)
	if err != nil {
		return reply, fmt.Errorf("write the request to %s: %w", path, err)
	}
	req, err := c.request(ctx, http.MethodPost, path, bytes.NewReader(sent))
	if err != nil {
		return reply, err
	}
	req.Header.Set("Content-Type", "application/json")
	return reply, c.exchange(req, &reply)
}

// request adds the node key. net/http drops it on a redirect to another domain.
func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("prepare the request to %s: %w", path, redact.URLs(err))
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	return req, nil
}

// exchange does a request and reads its JSON reply. A reply that is not JSON comes
// from no server of ours and is an error without a code.
func (c *Client) exchange(req *http.Request, reply any) error {
	res, err := c.do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(io.LimitReader(res.Body, maxReplyBytes)).Decode(reply); err != nil {
		return fmt.Errorf("read the reply of %s: %w", req.URL.Path, err)
	}
	return nil
}

// do returns a 2xx response, whose body the caller closes, or an error.
func (c *Client) do(req *http.Request) (*http.Response, error) {
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("call the server: %w", redact.URLs(err))
	}
	if res.StatusCode/100 == 2 {
		return res, nil
	}
	defer res.Body.Close()
	return nil, readError(res)
}

// readError decodes a refusal. A reply without the envelope comes most likely from
// a proxy in between, so it counts as retryable: nothing is known of what it means.
func readError(res *http.Response) *Error {
	var envelope struct {
		Error struct {
			Code              string  `json:"code"`
			Message           string  `json:"message"`
			Retryable         bool    `json:"retryable"`
			SuggestedAction   string  `json:"suggested_action"`
			RetryAfterSeconds float64 `json:"retry_after_seconds"`
		} `json:"error"`
	}
	err := json.NewDecoder(io.LimitReader(res.Body, maxReplyBytes)).Decode(&envelope)
	if err != nil || envelope.Error.Code == "" {
		// A proxy in between, most likely: nothing is known of what it means.
		return &Error{Status: res.StatusCode, Message: "not the server's own reply", Retryable: true}
	}
	e := envelope.Error
	return &Error{
		Status: res.StatusCode, Code: e.Code, Message: e.Message, Retryable: e.Retryable, SuggestedAction: e.SuggestedAction,
		RetryAfter: time.Duration(e.RetryAfterSeconds * float64(time.Second)),
	}
}
