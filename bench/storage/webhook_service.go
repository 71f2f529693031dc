package storage

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/seal"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// hookService is the webhooks of a store, with receivers that listen in this process.
// Its first workspace has two endpoints that are enabled only to slow others down: a
// dead one, and a tarpit that never answers.
type hookService struct {
	hooks      *webhook.Hooks
	plain      *sql.DB // the same database
	client     *http.Client
	workspaces []string
	slow       []string // endpoints of the first workspace
	addresses  []string // of who answers, as many of each workspace in turn
	servers    []*httptest.Server
	tarpit     chan struct{} // closed at the end
	hits       chan hookHit
	again      map[hookReceiver]int // that received more than once in a pass, and how often
}

// hookJob is a job that has ended.
type hookJob struct {
	jobID     string
	ended     time.Time // when that was committed
	receivers int       // that answer
}

// hookHit is a call as its receiver saw it.
type hookHit struct {
	hookReceiver
	at time.Time
}

// hookReceiver is a receiver of a job's end.
type hookReceiver struct{ jobID, host string }

// hookFiller brings an event to the size of a real job's, in bytes.
const hookFiller = 1500

// hookLease is the life of the lease that a process has on an endpoint's delivery queue.
const hookLease = 20 * time.Second

// hookWait bounds every wait, so that a lost delivery ends the measurement with an error.
const hookWait = 5 * time.Minute

func openHooks(ctx context.Context, store *db.DB, plain *sql.DB) (*hookService, error) {
	h := &hookService{plain: plain, tarpit: make(chan struct{}), hits: make(chan hookHit, 2*hookBacklog)}
	roots := x509.NewCertPool()
	for range hookEndpoints - 2 {
		h.addresses = append(h.addresses, h.listen(roots, h.answer))
	}
	h.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: hookAtOnce}}
	sealed, err := seal.Generate(rand.Reader)
	if err != nil {
		return nil, err
	}
	keys, err := seal.Parse(sealed)
	if err != nil {
		return nil, err
	}
	h.hooks = webhook.New(webhook.Config{
		DB: store, LockWorkspace: identity.LockWorkspace, Keys: keys, Random: rand.Reader, Jitter: mathrand.Float64, Life: contract.WebhookRetention, LeaseLife: hookLease, Log: slog.New(slog.DiscardHandler),
		Guard: outbound.New(outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: roots}),
	})
	if err := h.makeEndpoints(ctx, store, roots); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// makeEndpoints makes the workspaces and their endpoints.
func (h *hookService) makeEndpoints(ctx context.Context, store *db.DB, roots *x509.CertPool) error {
	dead := httptest.NewTLSServer(http.NotFoundHandler())
	dead.Close()
	urls := append([]string{dead.URL, h.listen(roots, h.hang)}, h.addresses...)
	for n, url := range urls {
		if n%contract.MaxWebhookEndpoints == 0 {
			err := store.Write(ctx, func(tx *db.Tx) error {
				p, err := identity.CreateWorkspace(ctx, tx, fmt.Sprintf("owner-%d@example.com", n))
				h.workspaces = append(h.workspaces, p.WorkspaceID)
				return err
			})
			if err != nil {
				return err
			}
		}
		e, _, err := h.hooks.Create(ctx, h.workspaces[len(h.workspaces)-1], webhook.NewEndpoint{URL: url})
		if err != nil {
			return err
		}
		if n < 2 {
			h.slow = append(h.slow, e.EndpointID)
		}
	}
	return h.enableSlow(ctx, false)
}

// listen starts a receiver whose certificate the service trusts, and returns its URL.
func (h *hookService) listen(roots *x509.CertPool, handler http.HandlerFunc) (url string) {
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // calls are cut off when a measurement ends
	s.StartTLS()
	h.servers = append(h.servers, s)
	roots.AddCert(s.Certificate())
	return s.URL
}

// answer is a receiver that works: it answers 204 at once. The time is taken first.
func (h *hookService) answer(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	var event struct {
		Data struct {
			JobID string `json:"job_id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
	h.hits <- hookHit{hookReceiver{event.Data.JobID, r.Host}, at}
}

// hang is a receiver that takes a call and never answers.
func (h *hookService) hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only then is the caller's end noticed
	select {
	case <-r.Context().Done():
	case <-h.tarpit:
	}
}

// close ends the receivers. Calls in the tarpit must be let go first.
func (h *hookService) close() {
	close(h.tarpit)
	h.client.CloseIdleConnections()
	for _, s := range h.servers {
		s.CloseClientConnections()
		s.Close()
	}
}

// enableSlow enables or disables the dead endpoint and the tarpit.
func (h *hookService) enableSlow(ctx context.Context, yes bool) error {
	for _, endpointID := range h.slow {
		if _, err := h.hooks.Change(ctx, h.workspaces[0], endpointID, webhook.Change{Enabled: &yes}); err != nil {
			return err
		}
	}
	return nil
}

// drive makes deliveries, as the service does, until stop.
func (h *hookService) drive(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	runner := lease.Runner{
		DB: h.hooks.DB, Queue: lease.Queue{Name: webhook.Queue, Life: h.hooks.LeaseLife, LongestPause: time.Second},
		Holder: id.New("SRV-"), Parallel: webhook.Drivers, Work: h.hooks.Drive, Log: h.hooks.Log,
	}
	go func() { defer close(ended); runner.Run(ctx) }()
	return func() { cancel(); <-ended }
}

// place returns the workspace that has job number n, and those of its endpoints that
// answer.
func (h *hookService) place(n int) (workspaceID string, addresses []string) {
	const each = contract.MaxWebhookEndpoints
	one := n % len(h.workspaces)
	return h.workspaces[one], h.addresses[max(0, one*each-2) : one*each+each-2]
}

func hookData(jobID string) any {
	return struct {
		JobID  string `json:"job_id"`
		Filler string `json:"filler"`
	}{jobID, strings.Repeat("x", hookFiller)}
}

// end ends job number n.
func (h *hookService) end(ctx context.Context, n int) (hookJob, error) {
	workspaceID, addresses := h.place(n)
	job := hookJob{jobID: id.New(id.Job), receivers: len(addresses)}
	err := h.hooks.DB.Write(ctx, func(tx *db.Tx) error {
		return webhook.Publish(ctx, tx, webhook.Event{WorkspaceID: workspaceID, JobID: job.jobID, Type: contract.EventCompleted, Data: hookData(job.jobID)})
	})
	job.ended = time.Now()
	return job, err
}

// body is what end has sent.
func (h *hookService) body(jobID string) []byte {
	text, _ := json.Marshal(struct { // of strings, which always works
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      any       `json:"data"`
	}{contract.EventCompleted, time.Now().UTC(), hookData(jobID)})
	return text
}

// post makes the calls of job number n by the plain client.
func (h *hookService) post(ctx context.Context, n int) (hookJob, error) {
	_, addresses := h.place(n)
	job := hookJob{jobID: id.New(id.Job), ended: time.Now(), receivers: len(addresses)}
	body := h.body(job.jobID)
	failures := make([]error, len(addresses))
	var calls sync.WaitGroup
	for i, address := range addresses {
		calls.Go(func() { failures[i] = h.call(ctx, address, body) })
	}
	calls.Wait()
	return job, errors.Join(failures...)
}

func (h *hookService) call(ctx context.Context, address string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := h.client.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return errors.Join(err, answer.Body.Close())
}

// await waits until every endpoint that answers has received the end of every job, and
// returns the first call of each. Repeated calls are counted in again.
func (h *hookService) await(ctx context.Context, jobs []hookJob) (received []hookHit, err error) {
	ctx, cancel := context.WithTimeout(ctx, hookWait)
	defer cancel()
	missing, known := map[string]int{}, map[hookReceiver]bool{}
	for _, job := range jobs {
		missing[job.jobID] = job.receivers
	}
	h.again = map[hookReceiver]int{}
	for len(missing) > 0 {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%d of %d jobs were not received by all: %w", len(missing), len(jobs), ctx.Err())
		case hit := <-h.hits:
			if known[hit.hookReceiver] || missing[hit.jobID] == 0 { // or it is of an earlier pass
				h.again[hit.hookReceiver]++
				continue
			}
			known[hit.hookReceiver] = true
			if missing[hit.jobID]--; missing[hit.jobID] == 0 {
				delete(missing, hit.jobID)
			}
			received = append(received, hit)
		}
	}
	return received, nil
}

// settle waits until it is recorded that all answering receivers have accepted what
// they received: otherwise the next run would send it again. A receiver called twice
// must have missed the first answer: a machine without time to spare lets calls run
// out of theirs. Anything else is a fault.
func (h *hookService) settle(ctx context.Context) error {
	end := time.Now().Add(hookWait)
	for waiting := 1; waiting > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return errors.New("deliveries that were taken still wait")
		}
		err := h.plain.QueryRowContext(ctx, "SELECT count(*) FROM webhook_delivery WHERE status = 'pending' AND endpoint_id NOT IN ($1, $2)",
			h.slow[0], h.slow[1]).Scan(&waiting)
		if err != nil {
			return err
		}
	}
	for hit := h.late(); hit != nil; hit = h.late() {
		h.again[hit.hookReceiver]++
	}
	for receiver, times := range h.again {
		var failed int
		err := h.plain.QueryRowContext(ctx, `SELECT count(*) FROM webhook_attempt a JOIN webhook_delivery d ON d.delivery_id = a.delivery_id
			JOIN webhook_endpoint n ON n.endpoint_id = d.endpoint_id WHERE d.job_id = $1 AND n.url = $2 AND a.status = 0`, receiver.jobID, "https://"+receiver.host).Scan(&failed)
		if err != nil {
			return err
		}
		if failed < times {
			return fmt.Errorf("%s received job %s %d times, after %d calls without an answer", receiver.host, receiver.jobID, times+1, failed)
		}
	}
	return nil
}

// late is a call that is no longer waited for; nil if there is none.
func (h *hookService) late() *hookHit {
	select {
	case hit := <-h.hits:
		return &hit
	default:
		return nil
	}
}

// clear forgets what the plain client has sent.
func (h *hookService) clear() {
	for h.late() != nil {
	}
}
