package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/redact"
)

// maxAnswer bounds a JSON answer that is read into memory, in bytes. A receipt of
// the largest job, 10000 frames, needs about 6 MiB twice.
const maxAnswer = 64 << 20

// askFirst is the size of a body, in bytes, above which the client sends Expect:
// 100-continue. Otherwise a refusal would be lost when the server closes the
// connection during the upload.
const askFirst = 1 << 20

// Client calls one server with one key. It never changes after [New] and is
// safe for concurrent use. It needs no closing.
type Client struct {
	base  *url.URL
	key   func() string                         // a function, because no verb of fmt prints what it returns
	keys  func(context.Context) (string, error) // nil for key alone
	http  *http.Client
	agent string // the User-Agent of all calls
	retry retry
}

// Option configures a Client in [New]. If two set the same thing, the last one
// counts.
type Option func(*Client)

// WithHTTPClient uses h for all connections, such as one with a proxy or a
// certificate authority of your own. It must have no Timeout, which would cut long
// transfers. Bound calls with their contexts instead.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// ErrNoKey says that the source of a client's keys has none any more, and that asking again
// does not help.
var ErrNoKey = errors.New("there is no key")

// WithKeySource makes each request ask source for its key, for one that changes while the
// client is used, such as an access token. source must be safe for concurrent use. Its
// error is that of the call, which is tried again unless it wraps [ErrNoKey]. The key given
// to [New] then only determines the kind.
func WithKeySource(source func(context.Context) (string, error)) Option {
	return func(c *Client) { c.keys = source }
}

// userAgent is how calls identify their program.
const userAgent = "svc-render-go"

// WithUserAgent puts the caller's name, such as "studio/1.2", before the client's own in
// the User-Agent of all calls.
func WithUserAgent(name string) Option {
	return func(c *Client) { c.agent = name + " " + userAgent }
}

// WithWait replaces how the client waits between tries, as tests do. wait must
// return the context's error when the context ends first.
func WithWait(wait func(context.Context, time.Duration) error) Option {
	return func(c *Client) { c.retry.wait = wait }
}

// WithAttempts sets how often a call is tried, 1 or more; 1 never repeats, and
// [WithoutEnd] is no bound, except that an upload is inspected at most 6 times when the
// service answers 500. A rate limit that is waited out, for two minutes at most, is no try. The default is 6, which spans about 6 seconds where the
// failures come at once. A download that makes progress starts to count again.
func WithAttempts(n int) Option { return func(c *Client) { c.retry.attempts = n } }

// WithoutEnd is the number of attempts of a call that only its context ends, or a failure
// that does not pass.
const WithoutEnd = math.MaxInt

// WithOnRetry calls on before each wait for another try, so that a person learns of a
// failure before the last try has failed as well. on is called by the goroutine that
// made the call; [Client.InspectProject], which makes several at once, calls it and its
// Progress by one goroutine at a time.
func WithOnRetry(on func(Retry)) Option { return func(c *Client) { c.retry.on = on } }

// New returns a client of the server at baseURL, the address under which /v1 and
// /node/v1 are served, with an agent key ("svc_agent_…") or an account key ("svc_…").
// Each method that reads jobs takes either; the comment of any other names its kind. It
// opens no connection: a wrong key shows in the first call. The error says what is wrong
// with baseURL.
func New(baseURL, key string, options ...Option) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(baseURL, "/"))
	if err != nil {
		return nil, fmt.Errorf("read the server's address: %w", redact.URLs(err))
	}
	shown := redact.Text(redact.Address(baseURL))
	switch {
	case (base.Scheme != "http" && base.Scheme != "https") || base.Host == "":
		return nil, fmt.Errorf("the server's address %q must start with http:// or https:// and a host", shown)
	case base.User != nil:
		return nil, fmt.Errorf("the server's address %q contains a user name or password, which svc does not send; use a key instead", shown)
	case base.RawQuery != "" || base.Fragment != "":
		return nil, fmt.Errorf("the server's address %q ends with a ? or # part; give the address without it", shown)
	}
	c := &Client{base: base, key: func() string { return key }, http: newHTTPClient(), agent: userAgent, retry: defaultRetry()}
	for _, option := range options {
		option(c)
	}
	return c, nil
}

// AccountKey reports whether the client's key is an account key by its form; otherwise
// it is taken for an agent key.
func (c *Client) AccountKey() bool {
	return strings.HasPrefix(c.key(), contract.AccountKeyPrefix) && !strings.HasPrefix(c.key(), contract.AgentKeyPrefix)
}

// TestMode reports whether the client's key is one of test mode by its form: nothing is
// rendered or paid.
func (c *Client) TestMode() bool {
	return strings.HasPrefix(c.key(), contract.TestAgentKeyPrefix) || strings.HasPrefix(c.key(), contract.TestAccountKeyPrefix)
}

// either is the path of a route that has one for account keys and one for agent keys.
func (c *Client) either(account, agent string) string {
	if c.AccountKey() {
		return account
	}
	return agent
}

// newHTTPClient bounds the silent phases of an exchange and not its length:
// uploads, downloads and event streams may take any time.
func newHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	transport.ResponseHeaderTimeout = 2 * time.Minute
	return &http.Client{Transport: transport, CheckRedirect: stay}
}

// mostRedirects bounds those of one request.
const mostRedirects = 10

// stay refuses to follow a call of the API to another host, where its key would not be sent:
// what redirects there is a sign-in page of the network between, and not the service. It also
// refuses a redirect that drops the body.
func stay(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case first.Header.Get("Authorization") != "" && (req.URL.Host != first.URL.Host || req.Method != first.Method):
		return redirectTo(req.URL, first.URL)
	case len(via) >= mostRedirects:
		circle := redirectTo(req.URL, first.URL)
		circle.Circle = true
		return circle
	}
	return nil
}

// call is one JSON exchange. body makes the request's body again for each
// attempt, because a try that broke has used up its own.
type call struct {
	method string
	path   string
	body   func() (body, error)
	once   bool   // the body cannot be made a second time
	heavy  bool   // the service works for long: after a few answers of 500 it is not asked again
	key    string // the Idempotency-Key of all tries; "" = none
}

// body is the body of one try; size is in bytes, -1 when unknown.
type body struct {
	io.ReadCloser
	contentType string
	size        int64
}

// jsonBody encodes value once and sends the same bytes in each try, so that a
// repetition is equal to the first.
func jsonBody(value any) (func() (body, error), error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return func() (body, error) {
		return body{io.NopCloser(bytes.NewReader(text)), "application/json", int64(len(text))}, nil
	}, nil
}

// get reads the JSON answer of a GET into answer.
func (c *Client) get(ctx context.Context, path string, answer any) error {
	return c.do(ctx, call{method: http.MethodGet, path: path}, answer)
}

// post sends value and reads the JSON answer.
func (c *Client) post(ctx context.Context, path string, value, answer any) error {
	body, err := jsonBody(value)
	if err != nil {
		return err
	}
	return c.do(ctx, call{method: http.MethodPost, path: path, body: body}, answer)
}

// Call asks any other route that speaks JSON: it sends value unless that is nil, and reads the
// answer into answer. It is repeated after failures that pass, but a POST, PATCH or DELETE is not.
func (c *Client) Call(ctx context.Context, method, path string, value, answer any) error {
	once := method != http.MethodGet && method != http.MethodHead && method != http.MethodPut
	return c.callAny(ctx, call{method: method, path: path, once: once}, value, answer)
}

// CallOnce is Call for a route that takes an Idempotency-Key: with it the service carries repeated
// requests out once, so every method is repeated after failures that pass.
func (c *Client) CallOnce(ctx context.Context, key, method, path string, value, answer any) error {
	return c.callAny(ctx, call{method: method, path: path, key: key}, value, answer)
}

func (c *Client) callAny(ctx context.Context, x call, value, answer any) error {
	if value != nil {
		body, err := jsonBody(value)
		if err != nil {
			return err
		}
		x.body = body
	}
	return c.do(ctx, x, answer)
}

// ask sends value, if it is not nil, and returns the JSON answer.
func ask[T any](ctx context.Context, c *Client, x call, value any) (*T, error) {
	if value != nil {
		body, err := jsonBody(value)
		if err != nil {
			return nil, err
		}
		x.body = body
	}
	answer := new(T)
	if err := c.do(ctx, x, answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// do runs the exchange with retries and decodes the answer. Its errors are
// *CallErrors; what they wrap is an *Error when the server refused.
func (c *Client) do(ctx context.Context, x call, answer any) error {
	failures := 0
	err := c.retry.run(ctx, !x.once, func() error {
		err := c.try(ctx, x, answer)
		if refusal, ok := errors.AsType[*Error](err); ok && x.heavy && refusal.Status == http.StatusInternalServerError {
			if failures++; failures == tries { // what the service failed on, it is likely to fail on again
				return &unreadable{err}
			}
		}
		return err
	})
	if err != nil {
		return &CallError{Server: c.base.String(), Call: x.method + " " + x.path, cause: err}
	}
	return nil
}

// try is one try. An answer of 2xx that is not JSON is final: the server has done
// its part.
func (c *Client) try(ctx context.Context, x call, answer any) error {
	req, err := c.request(ctx, x)
	if err != nil {
		return err
	}
	if req.Body != nil {
		// The transport may still read the body after the answer has arrived.
		defer req.Body.Close()
	}
	res, err := c.send(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	// The status of a refusal counts even when its body cannot be read, so it is
	// checked first.
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return errorFrom(res, text, time.Now())
	}
	if err != nil {
		return &UnreadableAnswerError{err}
	}
	if err := json.Unmarshal(text, answer); err != nil {
		if at := res.Request.URL; at.Path != req.URL.Path {
			err = redirectTo(at, req.URL)
		}
		return &unreadable{fmt.Errorf("%w: %w", ErrForeignAnswer, err)}
	}
	return nil
}

// send sends a request. An error contains no query and no user of an address: a signed
// link is the right to use it.
func (c *Client) send(req *http.Request) (*http.Response, error) {
	req.Header.Set("User-Agent", c.agent)
	res, err := c.http.Do(req)
	return res, redact.URLs(err)
}

// request builds one try: the address, the key and a new body.
func (c *Client) request(ctx context.Context, x call) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, x.method, c.base.String()+x.path, nil)
	if err != nil {
		return nil, &unreadable{redact.URLs(err)}
	}
	req.Header.Set("Accept", "application/json")
	key := c.key()
	if c.keys != nil {
		if key, err = c.keys(ctx); err != nil {
			if errors.Is(err, ErrNoKey) {
				err = &unreadable{err}
			}
			return nil, err
		}
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	// All tries carry the same key; only so does the server recognise a repetition.
	if x.key != "" {
		req.Header.Set("Idempotency-Key", x.key)
	}
	if x.body == nil {
		return req, nil
	}
	b, err := x.body()
	if err != nil {
		return nil, err
	}
	req.Body, req.ContentLength = b.ReadCloser, b.size
	req.Header.Set("Content-Type", b.contentType)
	if b.size < 0 || b.size > askFirst {
		req.Header.Set("Expect", "100-continue")
	}
	return req, nil
}
