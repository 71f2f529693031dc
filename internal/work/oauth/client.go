package oauth

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/ground/seal"
)

// The client ids that are not addresses. Any program can claim them; they lead to
// this computer or to a device only, and the consent page says so.
const (
	// CommandLine is svc login.
	CommandLine = "svc"
	// BlenderAddOn is the add-on in addons/blender, which signs in by a device's code alone.
	BlenderAddOn = "svc-blender"
)

// own returns a program that has no description.
func own(id string) (c Client, is bool) {
	switch id {
	case CommandLine:
		return Client{ID: id, Name: "svc command line", Redirects: []string{"http://127.0.0.1/", "http://[::1]/"}}, true
	case BlenderAddOn:
		return Client{ID: id, Name: "svc add-on for Blender"}, true
	}
	return c, false
}

// Client is a program that asks.
type Client struct {
	ID string
	// Host is where its description was read, in ASCII; "" for a program that anyone can
	// claim to be.
	Host string
	// Name is what the program calls itself, in printable ASCII. Nothing verifies it.
	Name string
	// Redirects are the addresses to which its answers may go.
	Redirects []string
	// Registered says that the program registered automatically: its description is only its
	// own claim.
	Registered bool

	keys     oidc.KeySet // that its statements are signed with; nil for none
	mustSign bool        // its description does not offer to ask without
}

// KeyName is what the key of the program is called in lists: the verified part comes first.
func (c Client) KeyName() string {
	name := c.Name
	if c.Host != "" {
		name = c.Host + " (" + c.Name + ")"
	} else if c.Registered {
		name += " (self-registered)"
	}
	if len(name) > 80 {
		name = name[:79] + "~"
	}
	return name
}

// MaxDescription is the most bytes of a description.
const MaxDescription = 5 << 10

const (
	fetchTimeout = 5 * time.Second
	cachedFor    = 5 * time.Minute
	maxCached    = 500
	maxRedirects = 20
	maxName      = 60
)

// Clients reads and keeps the descriptions of programs (client id metadata documents). It is
// safe for concurrent use.
type Clients struct {
	client   *http.Client
	registry *seal.Keys // nil if programs cannot register automatically

	mu   sync.Mutex
	kept map[string]keptClient // at most maxCached
}

type keptClient struct {
	client Client
	until  time.Time
}

// NewClients makes the reader of descriptions, which calls addresses that guard permits. With
// the keys of registry, programs may register automatically too (register.go).
func NewClients(guard *outbound.Guard, registry *seal.Keys) *Clients {
	return &Clients{registry: registry, client: guard.Client(outbound.Limits{Timeout: fetchTimeout, Body: MaxDescription}), kept: map[string]keptClient{}}
}

// Known checks the form of a client id and reads nothing. Error: invalid_client.
func (c *Clients) Known(id string) error {
	if _, is := c.undescribed(id); is {
		return nil
	}
	u, err := url.Parse(id)
	if err != nil || len(id) > 500 || u.Scheme != "https" || u.Host == "" || u.Fragment != "" || u.User != nil || strings.Trim(u.Path, "/") == "" || u.RawQuery != "" || path(u) != u.Path {
		return wrong(InvalidClient, "client_id must be the https address of the program's description (client id metadata document), or "+CommandLine+" or "+BlenderAddOn)
	}
	return nil
}

// undescribed returns a program that has no description at an address.
func (c *Clients) undescribed(id string) (client Client, is bool) {
	if client, is = own(id); is {
		return client, true
	}
	return c.registeredBy(id)
}

// path is the path of an address without dot segments.
func path(u *url.URL) string { return u.JoinPath().Path }

// Get returns the program with a client id. It reads the description at that address, or
// takes one that is up to five minutes old. Errors, for the person:
// invalid_request, rate_limited.
func (c *Clients) Get(ctx context.Context, id string) (Client, error) {
	if err := c.Known(id); err != nil {
		return Client{}, fault.New(fault.InvalidRequest, "The program that sent you here did not identify itself: %s.", err.(*Error).Description)
	}
	if client, is := c.undescribed(id); is {
		return client, nil
	}
	c.mu.Lock()
	kept, ok := c.kept[id]
	c.mu.Unlock()
	if ok && time.Now().Before(kept.until) {
		return kept.client, nil
	}
	if err := ratelimit.Share(ctx, ratelimit.Descriptions); err != nil {
		return Client{}, err
	}
	client, reason := c.read(ctx, id)
	if reason != "" {
		return Client{}, fault.New(fault.InvalidRequest, "The program's description at %s cannot be used: %s.", plaintext.Line(id), reason)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) >= maxCached {
		clear(c.kept) // rare; what is needed is read again
	}
	c.kept[id] = keptClient{client, time.Now().Add(cachedFor)}
	return client, nil
}

// read reads a description. reason explains to the person why there is none.
func (c *Clients) read(ctx context.Context, id string) (client Client, reason string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return client, "its address is malformed"
	}
	r.Header.Set("Accept", "application/json")
	answer, err := c.client.Do(r)
	if err != nil {
		return client, "it does not answer, or its address is not public"
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch {
	case answer.StatusCode != http.StatusOK:
		return client, "it answers with status " + answer.Status[:3]
	case err != nil:
		return client, "it is larger than 5 kB or breaks off"
	case kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		return client, "it is not JSON"
	}
	var document struct {
		ClientID  string   `json:"client_id"`
		Name      string   `json:"client_name"`
		Redirects []string `json:"redirect_uris"`
		// One method or several, under the names in use.
		Auth      words           `json:"token_endpoint_auth_method"`
		Methods   words           `json:"token_endpoint_auth_methods"`
		Supported words           `json:"token_endpoint_auth_methods_supported"`
		Keys      json.RawMessage `json:"jwks"`
		KeysAt    string          `json:"jwks_uri"`
		Secret    string          `json:"client_secret"`
	}
	if json.Unmarshal(text, &document) != nil {
		return client, "it is not JSON"
	}
	methods := slices.Concat(document.Auth, document.Methods, document.Supported)
	public, keys := len(methods) == 0 || slices.Contains(methods, publicMethod), oidc.KeySet(nil)
	if slices.Contains(methods, signedMethod) {
		keys = c.keysOf(document.KeysAt, document.Keys)
	}
	switch {
	case document.ClientID != id:
		return client, "its client_id is another one"
	case document.Secret != "" || (!public && keys == nil):
		return client, "it asks for a secret, which this service has for no program"
	}
	if reason = wrongRedirects(document.Redirects); reason != "" {
		return client, reason
	}
	return Client{ID: id, Host: r.URL.Host, Name: plainName(document.Name), Redirects: document.Redirects, keys: keys, mustSign: !public}, ""
}

// words is one text or a list of them.
type words []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*w = words{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(w))
}

// wrongRedirects says what is wrong with the addresses that a program names; "" for nothing.
func wrongRedirects(redirects []string) string {
	if len(redirects) == 0 || len(redirects) > maxRedirects {
		return "it names no redirect_uris, or more than 20"
	}
	for _, redirect := range redirects {
		if !usable(redirect) {
			return "one of its redirect_uris is neither https, nor http on this computer, nor of a program's own scheme"
		}
	}
	return ""
}

// plainName is a name in printable ASCII: letters that only look like others become
// question marks, so that a name cannot look like another one.
func plainName(name string) string {
	var b strings.Builder
	for _, r := range strings.TrimSpace(name) {
		if b.Len() >= maxName {
			break
		}
		if r < ' ' || r > '~' || r == utf8.RuneError {
			r = '?'
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "no name"
	}
	return b.String()
}

// usable reports whether answers may be sent to an address at all: https, http on the
// person's own computer (RFC 8252 7.3), or a scheme of a program's own (7.1).
func usable(redirect string) bool {
	u, err := url.Parse(redirect)
	if err != nil || u.User != nil || u.Fragment != "" || strings.Contains(redirect, "#") || len(redirect) > maxParameter || strings.ContainsFunc(redirect, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return false
	}
	switch u.Scheme {
	case "https":
		return u.Host != ""
	case "http":
		return loopback(u)
	}
	return private(u)
}

// publicSchemes have a meaning of their own in browsers and systems: no program owns them.
var publicSchemes = []string{
	"", "about", "blob", "chrome", "content", "data", "facetime", "file", "filesystem", "ftp", "intent", "jar", "javascript", "mailto", "ms-settings",
	"resource", "search-ms", "sftp", "shell", "sms", "smb", "ssh", "tel", "vbscript", "view-source", "ws", "wss",
}

// private reports whether an address has the scheme of a program's own. What follows is a
// host or a path, so that nothing can be run from it.
func private(u *url.URL) bool {
	return !slices.Contains(publicSchemes, u.Scheme) && u.Opaque == "" && (u.Host != "" || strings.HasPrefix(u.Path, "/"))
}

// Private reports whether the answer goes to a program by a scheme of its own.
func (r Request) Private() bool {
	u, err := url.Parse(r.RedirectURI)
	return err == nil && private(u) && u.Scheme != "https" && u.Scheme != "http"
}

// loopback reports whether an address is on the person's own computer.
func loopback(u *url.URL) bool {
	switch u.Hostname() {
	case "127.0.0.1", "::1", "localhost":
		return true
	}
	return false
}

// owns reports whether an address is on the person's own computer, or on the host of the
// client's own description.
func (c Client) owns(redirect string) bool {
	to, err := url.Parse(redirect)
	if err != nil {
		return false
	}
	id, err := url.Parse(c.ID)
	return loopback(to) || err == nil && id.Host != "" && id.Host == to.Host
}

// matches reports whether an answer may go to redirect: it is one of those of the client,
// letter by letter. On the person's own computer any port will do (RFC 8252 7.3).
func (c Client) matches(redirect string) bool {
	if !usable(redirect) {
		return false
	}
	for _, known := range c.Redirects {
		if redirect == known {
			return true
		}
		a, errA := url.Parse(known)
		b, errB := url.Parse(redirect)
		if errA != nil || errB != nil || a.Scheme != "http" || b.Scheme != "http" || !loopback(a) || a.Hostname() != b.Hostname() {
			continue
		}
		if strings.Replace(known, a.Host, "", 1) == strings.Replace(redirect, b.Host, "", 1) {
			return true
		}
	}
	return false
}
