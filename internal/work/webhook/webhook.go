// Package webhook calls a customer's server when a job has ended: signed, over HTTPS,
// with retries until the server accepts. Chats, such as Slack, get a message instead (package chat).
//
// A job's end writes an event, and a delivery for each endpoint, in the transaction that
// ends the job (Publish). The deliveries to one endpoint form a delivery queue. A
// delivery queue is one item of a lease queue, so one process drives it at a time
// (Drive).
//
// What always holds: an ended job has exactly one event, whose body and webhook-id never
// change. A delivery is stored before it is called, and a waiting delivery has its
// delivery queue in the queue. An endpoint has at most perQueue open calls, and a
// workspace at most perWorkspace delivery queues in a process, so that a slow receiver
// delays only itself. outbound.Guard checks every address when it is given and again at
// each call. Secrets are sealed in the store; a generated one is shown once. Forget
// deletes what is older than Config.Life. The events of a workspace have an order, in
// which Follow sends them to callers who hold a connection open.
//
// Delivery is at least once: a process that dies between a call and its record makes
// the next process call again, with the same webhook-id.
//
// Package job knows what a job is, and the doors decide who may ask. Start reading at
// Hooks, then Publish, then Drive.
package webhook

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/seal"
	"svc.example/internal/work/webhook/chat"
)

// Queue is the lease queue of delivery queues. The subject is the delivery queue.
const Queue = "webhook"

// ConsolePage is the page where people see and change their endpoints.
const ConsolePage = "/console/webhooks"

// Bounds of open calls.
const (
	// Drivers is how many delivery queues a process drives at once. A slow receiver
	// occupies its delivery queue for up to contract.WebhookTimeout a call, so the number
	// is far above what the processor needs: it bounds goroutines and connections, not
	// work.
	Drivers = 256
	// perQueue is how many calls one delivery queue has open. One process at a time
	// drives a delivery queue, so an endpoint sees at most this many simultaneous
	// requests from the whole service.
	perQueue = 8
	// perWorkspace is how many delivery queues of one workspace a process drives: a
	// quarter of Drivers, so that one workspace never occupies the whole process.
	perWorkspace = 64
)

// Config is what Hooks need. Every field is required unless it says otherwise. With a
// zero Life, Forget would delete an event as soon as all its deliveries have ended.
type Config struct {
	// DB holds endpoints, events, deliveries and the delivery queues' leases. The caller
	// closes it, after the last Drive has returned.
	DB    *db.DB
	Keys  *seal.Keys      // seal the endpoints' secrets
	Guard *outbound.Guard // decides which addresses may be called
	// LockWorkspace locks a workspace, so that what is counted of it stays counted. Error:
	// workspace_not_found.
	LockWorkspace func(ctx context.Context, tx *db.Tx, workspaceID string) error
	// Random makes secrets. Jitter, in [0, 1), spreads retries.
	Random io.Reader
	Jitter func() float64
	// Life is how long an event and the log of its deliveries are kept after the last
	// of them has ended; contract.WebhookRetention unless the operator sets another
	// time.
	Life time.Duration
	// LeaseLife is how long a delivery queue stays with a process that sends no
	// heartbeat. After that another process drives the delivery queue and repeats the
	// calls whose outcome was not stored.
	LeaseLife time.Duration
	// Followers is how many may follow the events of one workspace at once in this
	// process; 0 is any number.
	Followers int
	// SignedAt is the time that a call is signed with, of the attempt's time by the
	// database; nil is that time itself. Receivers compare it with their own clocks, so
	// where the database's clock is moved, it must be another.
	SignedAt func(attempt time.Time) time.Time
	// JobPage is where people see a job, for messages to chats; nil leaves it out.
	JobPage func(jobID string) string
	// Chat tells which addresses are those of chats; nil is chat.At.
	Chat func(address *url.URL) chat.Service
	// TestMode marks events that this package makes itself as those of test mode.
	TestMode bool
	// Attempted is called after each attempt that is stored; nil is allowed.
	Attempted func(Verdict)
	Log       *slog.Logger
}

// Hooks are the webhooks of a service. Make one with New, once a process: the bound of
// delivery queues by workspace counts within one Hooks. Safe for concurrent use.
type Hooks struct {
	Config
	client *http.Client

	mu sync.Mutex
	// driving counts the delivery queues that this process drives, by workspace. A
	// workspace without a delivery queue has no entry, so that the map stays as small as
	// the work at hand. mu guards it.
	driving map[string]int // delivery queues by workspace
	// following counts the followers of a workspace's events, likewise.
	following map[string]int
}

// New makes the webhooks of a service. Nothing runs before Drive is called. The HTTP
// client that it builds is the guard's: it follows no redirect and connects to public
// addresses only (spec 6 rule 2).
func New(c Config) *Hooks {
	if c.Chat == nil {
		c.Chat = chat.At
	}
	return &Hooks{
		Config:  c,
		client:  c.Guard.Client(outbound.Limits{Timeout: contract.WebhookTimeout, Body: maxAnswerRead}),
		driving: map[string]int{}, following: map[string]int{},
	}
}

// chatOf returns the chat of an endpoint's address.
func (h *Hooks) chatOf(address string) chat.Service {
	parsed, err := url.Parse(address)
	if err != nil {
		return chat.None
	}
	return h.Chat(parsed)
}
