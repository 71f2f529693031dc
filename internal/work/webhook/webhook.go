// Package webhook tells callers' servers that a job has ended: signed, over
// HTTPS, until they have taken it.
//
// A job's end writes an event, and a delivery for each endpoint that is to hear
// of it, in the transaction of the end itself (Tell). Deliveries of one endpoint
// stand behind each other in a lane; a lane is one piece of work of the lease
// engine, driven by one process at a time (Drive).
//
// What always holds: a job that has ended has exactly one event, whose body and
// webhook-id never change, whatever is tried again; a delivery is a row before
// it is a call, and one that waits has its lane in the queue; an endpoint has at
// most perLane calls open, a workspace perWorkspace a process, so that who is
// slow or dead delays nobody else; every address is looked at by outbound.Guard
// when it is given and again at each call; secrets are sealed in the store and
// shown once, when the service made them; what is older than Config.Life is
// forgotten as a whole, by Forget.
//
// A delivery is made at least once: a process that dies behind a call and before
// its row is followed by one that calls again, with the same webhook-id.
//
// What a job is, is left to render; who may ask, to the doors. Start reading at
// Hooks, then Tell, then Drive.
package webhook

import (
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/seal"
)

// Queue is the lease queue of lanes. The subject is the lane.
const Queue = "webhook"

// ConsolePage is where people see and change their endpoints.
const ConsolePage = "/console/webhooks"

// Bounds of open calls.
const (
	// Lanes is how many lanes a process drives at once.
	Lanes = 256
	// perLane is how many calls one lane has open.
	perLane = 8
	// perWorkspace is how many lanes of one workspace a process drives.
	perWorkspace = 64
)

// Config is what Hooks need.
type Config struct {
	DB    *db.DB
	Keys  *seal.Keys      // seal the endpoints' secrets
	Guard *outbound.Guard // says which addresses may be called
	// Random makes secrets; Jitter, from 0 up to 1, spreads tries.
	Random io.Reader
	Jitter func() float64
	// Life is how long an event and the log of its deliveries are kept.
	Life time.Duration
	// LeaseLife is how long a lane stays with a process that is not heard.
	LeaseLife time.Duration
	Log       *slog.Logger
}

// Hooks are the webhooks of a house. Make one by New, once a process.
type Hooks struct {
	Config
	client *http.Client

	mu      sync.Mutex
	driving map[string]int // lanes by workspace
}

// New makes the webhooks of a house.
func New(c Config) *Hooks {
	return &Hooks{
		Config:  c,
		client:  c.Guard.Client(outbound.Limits{Timeout: contract.WebhookTimeout, Body: drained}),
		driving: map[string]int{},
	}
}
