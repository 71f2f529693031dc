package app

import (
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/identity/openid"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/worker"
)

// Config is everything an operator, or a test, may set.
type Config struct {
	Listen   string // host:port; port 0 takes a free one
	Data     string // folder of blobs, keys, and SQLite's file
	Database string // postgres://…; "" means SQLite in Data
	// PublicURL is how callers reach the service; "" means the address that is
	// listened on.
	PublicURL string

	// SigningKey is a file with the key that signs receipts, PKCS#8 PEM; "" means
	// keys made and kept in Data.
	SigningKey string
	// LogOrigin names the log of receipts in its checkpoints; "" means the public
	// URL's host and /log. A log that holds a receipt keeps its name.
	LogOrigin string

	// Envelope bounds a frame's work; 0 means the contract's default.
	Envelope quote.Envelope
	// ArtifactLife is how long a ZIP is kept; 0 means the contract's default.
	ArtifactLife time.Duration
	// WebhookLife is how long webhook events and the log of their deliveries are
	// kept; 0 means the contract's default.
	WebhookLife time.Duration
	// LeaseLife is how long a frame stays with a silent worker, and packing with
	// a silent server; 0 means 20 s.
	LeaseLife time.Duration

	// UploadStall is how long an upload may stand still; 0 means a minute.
	UploadStall time.Duration
	// WriteStall is how long a caller may take nothing of an answer; 0 means a
	// minute.
	WriteStall time.Duration
	// StopTimeout is how long running requests may take to end once the service
	// stops; 0 means 30 s.
	StopTimeout time.Duration
	// Rate is how many requests a client of the API may make; the zero Policy
	// lets all pass.
	Rate ratelimit.Policy
	// FarmRate is the same for each worker's key at the workers' door.
	FarmRate ratelimit.Policy
	// TrustedHops is how many proxies in front of the service are believed what
	// they say in X-Forwarded-For; 0 believes none.
	TrustedHops int

	// FileURLs says which addresses files may be fetched from, beyond public ones:
	// for tests.
	FileURLs outbound.Config
	// Webhooks is the same for webhooks: an operator may open it for receivers of
	// tests, at their own risk.
	Webhooks outbound.Config
	// Refuse says that no new jobs are taken: what is priced stays priced, what is
	// running is finished, and start answers 503 and spends nothing.
	Refuse bool
	// AllowSynthetic lets workers in that render nothing (package synthetic); the
	// jobs that they touch say so.
	AllowSynthetic bool

	// Embedded, when not nil, is the worker that runs inside the server.
	Embedded *EmbeddedWorker

	// Mail sends sign-in links; nil means that the log shows them to the operator.
	Mail *identity.Mail
	// OpenID is the issuer that people can sign in by; nil = none.
	OpenID *openid.Config

	// SealKeys seal the secrets in the database, as seal.Parse reads them; "" means
	// keys made and kept in Data.
	SealKeys string
	// Skew moves the clock, AfterCommit is called after every committed write:
	// both for tests.
	Skew        func() time.Duration
	AfterCommit func()

	Log *slog.Logger
	// Announce gets the address once the service listens.
	Announce func(address string)
}

// EmbeddedWorker configures the worker inside the server.
type EmbeddedWorker struct {
	Renderer            worker.Renderer
	Device              blender.Device
	Denoise             blender.Denoise
	AllowBlenderVersion bool
}

const defaultLeaseLife = 20 * time.Second

// defaultStopTimeout is how long running requests may take to end once the service
// stops, unless the operator says otherwise.
const defaultStopTimeout = 30 * time.Second

func (c Config) withDefaults() (Config, error) {
	if c.Data == "" {
		return c, fmt.Errorf("no data folder is given")
	}
	if c.Listen == "" {
		c.Listen = "127.0.0.1:8080"
	}
	if c.Envelope == 0 {
		c.Envelope = contract.QualifiedPixelSamples
	}
	if c.ArtifactLife == 0 {
		c.ArtifactLife = contract.ArtifactRetention
	}
	if c.WebhookLife == 0 {
		c.WebhookLife = contract.WebhookRetention
	}
	if c.LeaseLife == 0 {
		c.LeaseLife = defaultLeaseLife
	}
	if c.StopTimeout == 0 {
		c.StopTimeout = defaultStopTimeout
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" {
			return c, fmt.Errorf("the public URL %q is not of the form https://host", c.PublicURL)
		}
		c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	}
	return c, nil
}

// DatabaseURL is what db.Config wants: PostgreSQL's address, or SQLite's file.
func (c Config) DatabaseURL() string {
	if c.Database != "" {
		return c.Database
	}
	return filepath.Join(c.Data, "svc.db")
}

// reachable is an address on this machine under which a listener answers.
func reachable(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String()
	}
	loopback := net.IPv4(127, 0, 0, 1)
	if tcp.IP.To4() == nil {
		loopback = net.IPv6loopback
	}
	return (&net.TCPAddr{IP: loopback, Port: tcp.Port}).String()
}
