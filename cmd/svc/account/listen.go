package account

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/ground/redact"
)

// Listen is svc listen.
type Listen struct {
	profile.Flags
	ForwardTo string `required:"" env:"-" placeholder:"URL" help:"URL of the receiver: http or https, on this machine or its private network."`
	After     string `env:"-" placeholder:"msg_…" help:"Start after this event; 0 starts with the oldest stored event. Default: the next event."`
	JSON      bool   `name:"json" env:"SVC_JSON" help:"Print one JSON object per delivery, one per line."`
}

// Help is printed below the flags.
func (Listen) Help() string {
	return "Forwards the workspace's webhooks to a receiver on this machine, with the original headers and signature. " +
		"No tunnel is needed: this command reads the events from a stream. Each event is sent once, whatever the receiver answers. " +
		"The signing secret is printed first; set SVC_WEBHOOK_SECRET to use your own. Ctrl-C stops it."
}

// delivery is one event that was forwarded.
type delivery struct {
	Time       time.Time `json:"time"`
	EventID    string    `json:"event_id"`
	Type       string    `json:"type"`
	Status     int       `json:"status"` // of the receiver's answer; 0 when none came
	DurationMS int64     `json:"duration_ms"`
	Error      string    `json:"error,omitempty"`
}

// Run forwards events until Ctrl-C, which is no failure.
func (c *Listen) Run(app *kong.Context) (err error) {
	target, err := localTarget(c.ForwardTo)
	if err != nil {
		return terminal.WrongUsage(err)
	}
	secret, signer, err := signingSecret()
	if err != nil {
		return terminal.WrongUsage(err)
	}
	api, err := c.Any()
	if err != nil {
		return err
	}
	defer func() { err = terminal.Told(err) }() // each line of --json is a delivery
	ctx, stop := untilSignal(&err)
	defer stop()
	terminal.Printf(app.Stderr, "forwarding to %s; Ctrl-C ends it. The receiver's secret:", redact.Address(c.ForwardTo))
	terminal.Printf(app.Stderr, "  %s", secret)
	forward := forwarder{target: target.String(), signer: signer, client: localClient(), now: time.Now}
	for event, err := range api.WebhookEvents(ctx, c.After) {
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if err := c.printDelivery(app.Stdout, forward.send(ctx, event)); err != nil {
			return err
		}
	}
	return nil
}

// printDelivery writes one line.
func (c *Listen) printDelivery(w io.Writer, d delivery) error {
	if c.JSON {
		text, err := json.Marshal(d)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, plaintext.Line(string(text)))
		return err
	}
	result := strconv.Itoa(d.Status)
	if d.Error != "" {
		result = d.Error
	}
	terminal.Printf(w, "%s %s %s: %s in %d ms", terminal.Time(d.Time), d.Type, d.EventID, result, d.DurationMS)
	return nil
}

// forwarder sends events to the receiver.
type forwarder struct {
	target string
	signer *standardwebhooks.Webhook
	client *http.Client
	now    func() time.Time
}

// send makes one try, as the service would: the same body, headers, signature and time
// for the answer. What the receiver answers is a result and no error.
func (f forwarder) send(ctx context.Context, event client.RawWebhook) delivery {
	began := f.now()
	d := delivery{Time: began, EventID: event.ID, Type: event.Type}
	status, err := f.post(ctx, event, began)
	d.Status, d.DurationMS = status, f.now().Sub(began).Milliseconds()
	if err != nil {
		d.Error = err.Error()
		if call, ok := errors.AsType[*url.Error](err); ok { // the line above the events has the address
			d.Error = call.Err.Error()
		}
	}
	return d
}

func (f forwarder) post(ctx context.Context, event client.RawWebhook, at time.Time) (status int, err error) {
	signature, err := f.signer.Sign(event.ID, at, event.Body)
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.target, bytes.NewReader(event.Body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "svc-webhooks/1")
	r.Header.Set(standardwebhooks.HeaderWebhookID, event.ID)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	res, err := f.client.Do(r)
	if err != nil {
		return 0, redact.URLs(err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 16<<10)) // the status alone is the result
	return res.StatusCode, res.Body.Close()
}

// localTarget refuses an address outside this machine and its private network: the
// events of a workspace are private.
func localTarget(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return nil, fmt.Errorf("--forward-to %q is not an address such as http://127.0.0.1:3000/webhooks", redact.Address(address))
	}
	hosts, err := net.DefaultResolver.LookupNetIP(context.Background(), "ip", u.Hostname())
	if err != nil {
		return nil, fmt.Errorf("--forward-to: the host %s is not known: %w", u.Hostname(), err)
	}
	for _, host := range hosts {
		if !isLocal(host) {
			return nil, notLocal(host)
		}
	}
	return u, nil
}

func isLocal(host netip.Addr) bool {
	host = host.Unmap()
	return host.IsLoopback() || host.IsPrivate() || host.IsLinkLocalUnicast()
}

func notLocal(host netip.Addr) error {
	return fmt.Errorf("%s is not an address of this machine or its private network; for a public receiver make a webhook endpoint instead: POST /v1/webhook-endpoints", host.Unmap())
}

// localClient connects to local addresses only, whatever a name resolves to by
// then, and follows no redirect.
func localClient() *http.Client {
	dialer := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !isLocal(to.Addr()) {
			return notLocal(to.Addr())
		}
		return nil
	}}
	return &http.Client{
		Timeout: contract.WebhookTimeout, Transport: &http.Transport{DialContext: dialer.DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// signingSecret returns the secret of SVC_WEBHOOK_SECRET, or a new one, in the forms
// that the service takes.
func signingSecret() (secret string, signer *standardwebhooks.Webhook, err error) {
	secret = os.Getenv("SVC_WEBHOOK_SECRET")
	if secret == "" {
		random := make([]byte, 32)
		_, _ = rand.Read(random) // never fails
		secret = contract.WebhookSecretPrefix + base64.StdEncoding.EncodeToString(random)
	}
	if !strings.HasPrefix(secret, contract.WebhookSecretPrefix) {
		signer, err = standardwebhooks.NewWebhookRaw([]byte(secret))
		return secret, signer, err
	}
	if signer, err = standardwebhooks.NewWebhook(secret); err != nil {
		return "", nil, fmt.Errorf("SVC_WEBHOOK_SECRET begins with %s, but what follows is not base64", contract.WebhookSecretPrefix)
	}
	return secret, signer, nil
}
