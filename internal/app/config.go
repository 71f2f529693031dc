package app

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/identity/openid"
	"svc.example/internal/work/job"
	"svc.example/internal/work/notice"
	"svc.example/internal/work/notice/operators"
	"svc.example/internal/work/overview"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt/witness"
	"svc.example/internal/work/recheck"
	"svc.example/internal/work/share"
	"svc.example/internal/work/split"
	"svc.example/internal/work/worker"
)

// Config is everything that an operator, or a test, can set. The zero value of
// each field is usable, except Data.
type Config struct {
	// Listen is host:port; port 0 takes a free one, and "" means
	// 127.0.0.1:8080.
	Listen string
	// Data is the folder of blobs, keys, and SQLite's file. It is created where
	// it is missing.
	Data string
	// Blobs is the address of an S3 service's bucket (blob.ParseS3), for files in place of
	// Data; "" means Data.
	Blobs string
	// Database is the address of PostgreSQL (postgres://…); "" means SQLite in
	// Data.
	Database string
	// MigrateAnyway changes the database's schema although a process of an older program is
	// alive.
	MigrateAnyway bool
	// DatabaseConnections bounds the connections of this process to PostgreSQL; 0 means 21,
	// or more by pool_max_conns in the address. See db.Config.
	DatabaseConnections int
	// PublicURL is how callers reach the service; "" means the listening
	// address. Links in responses begin with it.
	PublicURL string

	// MetricsListen is where metrics and probes are served besides, host:port; "" means
	// nowhere. It should be an address that only the operator's Prometheus reaches.
	MetricsListen string

	// SelfCheck has the service call itself under PublicURL after its start, and its mail
	// server, and warn where that fails.
	SelfCheck bool

	// SigningKey is the file of the key that signs receipts, PKCS#8 in PEM; ""
	// means keys that are created and kept in Data.
	SigningKey string
	// SigningCommand is a program with its arguments that signs instead, and SigningPublic
	// the file of the public half, PEM; both or none.
	SigningCommand []string
	SigningPublic  string
	// LogOrigin names the receipt log in its checkpoints; "" means the host of
	// the public URL and /log. Once the log has a receipt, its name cannot
	// change.
	LogOrigin string
	// Witnesses are asked to co-sign the log's checkpoints; nil for none.
	Witnesses *witness.Policy

	// Envelope is the most work of a frame, pixels x samples, that the price of
	// 1 cent covers; 0 means contract.QualifiedPixelSamples.
	Envelope quote.Envelope
	// Book has the terms that quotes get and are judged by; nil means contract.Published.
	Book contract.Book
	// Unstarted bounds the bytes of a workspace's uploads, and of rows about them, that no
	// job pays for; 0 means contract.UnstartedStorage.
	Unstarted int64
	// Unpaid bounds what all workspaces store together that never had a credit or a payment;
	// 0 means no bound. svc serve takes a tenth of the disk.
	Unpaid int64
	// ProjectSize bounds the bytes of all files of a project; 0 means contract.ProjectSize.
	ProjectSize int64
	// FreePreviews bounds the free previews of an upload and of a workspace; nil means the
	// contract's, the zero Limits means none.
	FreePreviews *preview.Limits
	// SplitAbove is how long a frame must take on one worker to be rendered by several; nil
	// means split.UsualAbove, 0 means never.
	SplitAbove *time.Duration
	// Overviews bounds the frames of contact sheets and loops; 0 means the contract's.
	Overviews overview.Limits
	// JobMail is the shortest time between two mails to a person about jobs that ended; nil
	// means notice.UsualPause, 0 or less sends none. Without Mail none are sent.
	JobMail *time.Duration
	// ReusedFrames is how many frames that a workspace has taken over are kept at once; nil means
	// job.UsualReused, 0 takes none over.
	ReusedFrames *int64
	// ReusedBytes is how many bytes these have at most, with their outputs; 0 means
	// job.UsualReusedBytes.
	ReusedBytes int64
	// VerifyReuse is the percentage of reused frames that are rendered again and compared; nil
	// means recheck.UsualPercent.
	VerifyReuse *int
	// Shares is how many share links of a workspace work at once; nil means
	// share.UsualMost, 0 switches sharing off.
	Shares *int
	// Comments is how many comments a shared job has at most; nil means share.UsualComments, 0
	// switches comments off.
	Comments *int
	// FrameTime is how long a worker may render a frame; 0 means contract.FrameTime.
	FrameTime time.Duration
	// PlayTime is how long a worker may compute the frames before a frame; 0 means
	// contract.PlayTime.
	PlayTime time.Duration
	// Outputs bounds the files of File Output nodes of a frame; 0 files mean
	// contract.FrameOutputs, 0 bytes contract.FrameOutputBytes.
	Outputs farmapi.OutputLimits
	// InspectMemory bounds what inspections of this process keep together, in bytes,
	// beyond 1 MiB each; 0 means 512 MiB.
	InspectMemory int64
	// ArtifactLife is how long a ZIP is kept; 0 means
	// contract.ArtifactRetention.
	ArtifactLife time.Duration
	// WebhookLife is how long webhook events and the log of their deliveries
	// are kept; 0 means contract.WebhookRetention.
	WebhookLife time.Duration
	// DoubleRender is the percentage of frames that workers of two node keys
	// render, to be compared; 0 compares none.
	DoubleRender int
	// Terms is the operator's text of what a start accepts, in Markdown; nil shows the
	// built-in one.
	Terms []byte
	// Downloads is the folder of a release that /download offers; "" offers none.
	Downloads string
	// References is the percentage of benchmark results that a worker of another node key
	// must confirm, in addition to those that would be among the best.
	References int
	// WorkerLife is how long a worker that is not seen any more is kept, and a
	// benchmark receipt that was rejected; 0 means 30 days.
	WorkerLife time.Duration
	// LogLife is how long Blender's output and the failed attempts of a job are
	// kept after its end; 0 means 30 days.
	LogLife time.Duration
	// LeaseLife is how long a frame stays with a worker that sends no
	// heartbeat, and work of a queue with a server that does not; 0 means 20
	// seconds.
	LeaseLife time.Duration

	// UploadStall is how long an upload may go without a new byte; 0 means one
	// minute. An upload also ends when it is slower than 1 KiB/s over a minute.
	UploadStall time.Duration
	// WriteStall is how long a caller may read nothing of a response; 0 means
	// one minute.
	WriteStall time.Duration
	// StopTimeout is how long running requests may take to end once the service
	// stops; 0 means 30 seconds.
	StopTimeout time.Duration
	// DrainDelay is how long the port stays open once the service stops, with 503 on /readyz,
	// before it takes no further connection.
	DrainDelay time.Duration
	// Rate limits each client of the API; the zero Policy lets every request
	// pass.
	Rate ratelimit.Policy
	// WorkPerHour is how long the requests of a workspace or an address may work a process
	// within an hour; 0 is no limit.
	WorkPerHour time.Duration
	// CPUPerMinute is the processor time that they may use of a process within a minute; 0 is
	// no limit.
	CPUPerMinute time.Duration
	// FarmRate limits each key of the workers' API.
	FarmRate ratelimit.Policy
	// TrustedHops is how many proxies in front of the service are trusted to
	// write X-Forwarded-For; 0 trusts none. A figure that is too high lets
	// callers forge their address.
	TrustedHops int

	// OpenRequests is how many requests of one workspace may be open at once in this
	// process; 0 means 200.
	OpenRequests int
	// Watchers is how many event streams of one job, and of one workspace's events,
	// may be open at once in this process; 0 means 20.
	Watchers int
	// KeepAlive is how long a connection without a request stays open; 0 means
	// DefaultKeepAlive.
	KeepAlive time.Duration
	// Connections is how many callers may be connected at once; 0 means 10,000. Further
	// ones wait until a place is free.
	Connections int

	// FileURLs lists addresses beyond public ones that files may be fetched
	// from: for tests.
	FileURLs outbound.Config
	// Webhooks does the same for webhooks. An operator can open it for test
	// receivers, at their own risk; the service then warns at its start.
	Webhooks outbound.Config
	// Programs does the same for the descriptions of programs that ask to be let in: for
	// tests.
	Programs outbound.Config
	// OperatorAPI serves the operators' API below /admin/v1.
	OperatorAPI bool
	// Registration lets programs that ask for access register automatically (RFC 7591).
	Registration bool
	// Refuse closes the service for new jobs: start answers 503 and spends
	// nothing. Quotes stay valid, and running jobs are finished.
	Refuse bool
	// AllowSynthetic admits workers that render nothing (package synthetic).
	// Jobs that they touch say so, in their status and in the receipt.
	AllowSynthetic bool

	// TestMode bounds test mode.
	TestMode TestMode

	// Embedded configures the worker inside the server; nil runs none.
	Embedded *EmbeddedWorker

	// Alerts is which trouble operators are told of, and where; the zero value tells nobody.
	Alerts operators.Config
	// Mail sends sign-in links; without it the log names the address that asked
	// for one.
	Mail *identity.Mail
	// OpenID is the issuer that people can sign in by; nil means none.
	OpenID *openid.Config
	// NoDomains are domains whose people join no workspace by signing in, besides those of
	// public mail services; "*" means all.
	NoDomains []string

	// Stripe collects payments into wallets; nil means that operators add credit.
	Stripe *Stripe

	// SealKeys encrypt the secrets in the database, in the form that seal.Parse
	// reads; "" means keys that are created and kept in Data.
	SealKeys string
	// Skew moves the clock of the database, and AfterCommit is called after
	// every committed write. Both are for tests.
	Skew        func() time.Duration
	AfterCommit func()
	// Routes is called with all routes before the service listens; for tests.
	Routes func(*http.ServeMux)

	Log *slog.Logger
	// Announce is called with the local address once the service listens; nil
	// is allowed.
	Announce func(address string)
	// AnnounceMetrics does the same for the address of MetricsListen, before Announce.
	AnnounceMetrics func(address string)
}

// Limit sets the limits of the API and with them those of the workers' API, which are not
// configurable: without a limit on the one there is none on the other.
func (c *Config) Limit(rate ratelimit.Policy) {
	c.Rate = rate
	c.FarmRate = ratelimit.Policy{PerMinute: contract.FarmPerMinute, Burst: contract.FarmBurst}
}

// EmbeddedWorker configures the worker inside the server. It goes through the
// workers' HTTP API like any other worker.
type EmbeddedWorker struct {
	Renderer            worker.Renderer
	Device              blender.Device
	Denoise             blender.Denoise
	AllowBlenderVersion bool
	// Machine has how the worker uses its machine: CacheBytes, Blenders, Cores, KeepScene and
	// WholePicture. Shares, where there are any, take the place of Renderer: one worker each.
	Machine worker.Config
	Shares  []worker.Share
}

// defaultLeaseLife is ten heartbeats of two seconds: long enough for a short
// network failure, short enough that a frame of a dead worker is soon rendered
// elsewhere.
const defaultLeaseLife = 20 * time.Second

// defaultKeep is how long workers that left and logs are kept: as long as artifacts.
const defaultKeep = 30 * 24 * time.Hour

// defaultStopTimeout is how long running requests may take to end once the
// service stops, unless the operator sets another time.
const defaultStopTimeout = 30 * time.Second

// Bounds of what callers may hold open, unless the operator sets others. An artist's
// pipeline has a few event streams and downloads; a connection costs some 20 KiB.
const (
	DefaultOpenRequests = 200
	DefaultWatchers     = 20
	DefaultConnections  = 10_000
	// DefaultKeepAlive is longer than the idle time of common load balancers, 600 s at
	// most: otherwise they send a request while this side closes, and answer 502.
	DefaultKeepAlive = 620 * time.Second
)

// withDefaults fills in the defaults and checks what can be checked without
// starting anything.
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
	c.Overviews = overview.Limits{ContactSheet: cmp.Or(c.Overviews.ContactSheet, contract.ContactSheetFrames), Loop: cmp.Or(c.Overviews.Loop, contract.LoopFrames)}
	if c.FreePreviews == nil {
		c.FreePreviews = &preview.Limits{Upload: contract.PreviewsOfUpload, Day: contract.PreviewsOfDay}
	}
	if c.JobMail == nil {
		c.JobMail = new(notice.UsualPause)
	}
	c.VerifyReuse = cmp.Or(c.VerifyReuse, new(recheck.UsualPercent))
	c.ReusedFrames = cmp.Or(c.ReusedFrames, new(int64(job.UsualReused)))
	c.ReusedBytes = cmp.Or(c.ReusedBytes, job.UsualReusedBytes)
	if c.SplitAbove == nil {
		c.SplitAbove = new(split.UsualAbove)
	}
	if c.Shares == nil {
		c.Shares = new(share.UsualMost)
	}
	c.Comments = cmp.Or(c.Comments, new(share.UsualComments))
	if c.FrameTime == 0 {
		c.FrameTime = contract.FrameTime
	}
	if c.PlayTime == 0 {
		c.PlayTime = contract.PlayTime
	}
	c.Outputs = farmapi.OutputLimits{Files: cmp.Or(c.Outputs.Files, contract.FrameOutputs), Bytes: cmp.Or(c.Outputs.Bytes, contract.FrameOutputBytes), Views: true}
	if c.ArtifactLife == 0 {
		c.ArtifactLife = contract.ArtifactRetention
	}
	if c.WebhookLife == 0 {
		c.WebhookLife = contract.WebhookRetention
	}
	if c.WorkerLife == 0 {
		c.WorkerLife = defaultKeep
	}
	if c.LogLife == 0 {
		c.LogLife = defaultKeep
	}
	if c.LeaseLife == 0 {
		c.LeaseLife = defaultLeaseLife
	}
	if c.StopTimeout == 0 {
		c.StopTimeout = defaultStopTimeout
	}
	if c.OpenRequests == 0 {
		c.OpenRequests = DefaultOpenRequests
	}
	if c.Watchers == 0 {
		c.Watchers = DefaultWatchers
	}
	if c.KeepAlive == 0 {
		c.KeepAlive = DefaultKeepAlive
	}
	if c.Connections == 0 {
		c.Connections = DefaultConnections
	}
	c.TestMode = c.TestMode.withDefaults()
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

// ownsHost refuses a public URL that is more than a host: routes begin at its root. The URLs
// of test worlds have a path, which the service itself understands.
func (c Config) ownsHost() error {
	u, err := url.Parse(c.PublicURL)
	if err != nil || u.Path != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("the public URL %q has more than a host and a port: give svc a host name of its own, such as https://render.example.com", c.PublicURL)
	}
	return nil
}

// DatabaseURL returns what db.Config expects: PostgreSQL's address, or the path
// of SQLite's file.
func (c Config) DatabaseURL() string {
	if c.Database != "" {
		return c.Database
	}
	return filepath.Join(c.Data, "svc.db")
}

// reachable returns an address on this machine at which a listener can be
// reached: a listener on all interfaces is reached by loopback.
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
