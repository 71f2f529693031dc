package metrics

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/osfile"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
	"svc.example/internal/work/process"
	"svc.example/internal/work/reuse"
)

const (
	// readLimit is how long a read of the store may take, and a scrape wait for it.
	readLimit = 2 * time.Second
	// readLife is how long the figures of a read are reused.
	readLife = time.Second
)

// Figures that are read from the store.
var (
	storeUp         = figure("svc_store_up", "1 when the database could be read and written for the last scrape, else 0; then the figures of the store are missing.")
	blobsUp         = figure("svc_blobs_up", "1 when a file could be stored for the last scrape, else 0.")
	framesReady     = figure("svc_frames_ready", "Frames that wait for a worker.")
	framesLeased    = figure("svc_frames_leased", "Frames that workers hold.")
	framesOldest    = figure("svc_frames_oldest_seconds", "How long the oldest frame waits that no worker holds; 0 when none does.")
	workersOnline   = figure("svc_workers", "Workers that are online, by what they do.", "state")
	jobsLive        = figure("svc_jobs", "Jobs that have not ended, by their state.", "state")
	jobsStranded    = figure("svc_jobs_stranded", "Jobs whose frames wait and that no online worker can take, because of its Blender's version, denoising or missing parts.")
	ledgerCents     = figure("svc_ledger_cents", "Money of all workspaces: available to them, reserved for jobs, or owed by them.", "account")
	reservedOldest  = figure("svc_reserved_oldest_seconds", "For how long the job that was started first holds reserved money; 0 when none does.")
	webhooksPending = figure("svc_webhook_pending", "Deliveries of webhooks that are not delivered yet, those that are tried again later among them.")
	webhooksLate    = figure("svc_webhook_late_seconds", "For how long the delivery is due that is due longest; 0 when none is.")
	deadLetters     = figure("svc_dead_letters", "Work of the service's own that failed too often and waits for an operator.")
	auditBreaches   = figure("svc_audit_breaches", "Breaches that the last audit found.")
	auditEnd        = figure("svc_audit_end_timestamp_seconds", "When the last audit ended, as seconds since 1970; 0 when there was none.")
	keyEnd          = figure("svc_signing_key_end_timestamp_seconds", "When this process can no longer sign receipts, as seconds since 1970; +Inf when its key has no end, 0 when it has none.")
	reuseOff        = figure("svc_reuse_off", "Classes of workers whose frames are not reused, because one showed something else when it was rendered again.")
	processesAlive  = figure("svc_processes", "Processes that serve this store, by the version of their program and the newest schema that it knows.", "version", "schema")
	diskFree        = figure("svc_disk_free_bytes", "Bytes that are free for this process in the data folder.")
)

// storeFigures lists them, for Describe.
var storeFigures = []*prometheus.Desc{
	storeUp, blobsUp, framesReady, framesLeased, framesOldest, workersOnline, jobsLive, jobsStranded, ledgerCents, reservedOldest,
	webhooksPending, webhooksLate, deadLetters, auditBreaches, auditEnd, keyEnd, reuseOff, processesAlive, diskFree,
}

// figure describes a gauge.
func figure(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// store is the collector of the figures that are read. Its reads follow one another: while
// one is in progress, every scrape waits for it.
type store struct {
	read  func(context.Context) ([]prometheus.Metric, error)
	probe func() (database, files error)
	log   *slog.Logger
	// running ends with close; reads are those in progress.
	running context.Context
	end     context.CancelFunc
	reads   sync.WaitGroup

	mu     sync.Mutex
	at     time.Time           // when found was read, or failed to be
	found  []prometheus.Metric // nil: the last read failed
	ending chan struct{}       // closed when the read in progress has ended; nil for none
	failed bool                // so that an outage is logged once
}

func newStore(read func(context.Context) ([]prometheus.Metric, error), probe func() (database, files error), log *slog.Logger) *store {
	s := &store{read: read, probe: probe, log: log}
	s.running, s.end = context.WithCancel(context.Background())
	return s
}

// close ends a read in progress, and waits for it.
func (s *store) close() {
	s.end()
	s.reads.Wait()
}

// Describe implements prometheus.Collector.
func (s *store) Describe(to chan<- *prometheus.Desc) {
	for _, f := range storeFigures {
		to <- f
	}
}

// Collect implements prometheus.Collector. It takes readLimit and the time of a probe at
// most.
func (s *store) Collect(to chan<- prometheus.Metric) {
	database, files := s.probe()
	found := s.current()
	if database != nil {
		found = nil
	}
	to <- gauge(storeUp, truth(found != nil))
	to <- gauge(blobsUp, truth(files == nil))
	for _, m := range found {
		to <- m
	}
}

// current returns figures that are at most readLife old; nil when they could not be read.
func (s *store) current() []prometheus.Metric {
	s.mu.Lock()
	if !s.at.IsZero() && time.Since(s.at) < readLife || s.running.Err() != nil {
		defer s.mu.Unlock()
		return s.found
	}
	if s.ending == nil {
		s.ending = make(chan struct{})
		s.reads.Go(s.refresh)
	}
	ending := s.ending
	s.mu.Unlock()
	limit := time.NewTimer(readLimit)
	defer limit.Stop()
	select {
	case <-ending:
	case <-limit.C: // the read does not even end on request
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.found
}

// refresh reads the figures once.
func (s *store) refresh() {
	ctx, cancel := context.WithTimeout(s.running, readLimit)
	defer cancel()
	found, err := s.read(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		found = nil
	}
	if failed := err != nil && s.running.Err() == nil; failed != s.failed {
		s.failed = failed
		if failed {
			s.log.Warn("metrics cannot be read from the store", "err", err)
		}
	}
	s.at, s.found = time.Now(), found
	close(s.ending)
	s.ending = nil
}

// read reads all figures in one transaction.
func read(ctx context.Context, c Config) (found []prometheus.Metric, err error) {
	free, err := osfile.Free(c.Folder)
	if err != nil {
		return nil, err
	}
	err = c.DB.Read(ctx, func(tx *db.Tx) error {
		found = []prometheus.Metric{gauge(diskFree, float64(free))}
		for _, part := range []func(context.Context, *db.Tx) ([]prometheus.Metric, error){readFrames, readWorkers, readProcesses, readJobs, readMoney, readWebhooks, readAudit, readReuse, c.readKey} {
			these, err := part(ctx, tx)
			if err != nil {
				return err
			}
			found = append(found, these...)
		}
		return nil
	})
	return found, err
}

func readFrames(ctx context.Context, tx *db.Tx) ([]prometheus.Metric, error) {
	row, err := tx.MetricsFrames(ctx)
	if err != nil {
		return nil, fmt.Errorf("count frames: %w", err)
	}
	return []prometheus.Metric{
		gauge(framesReady, float64(row.Ready)), gauge(framesLeased, float64(row.Leased)), gauge(framesOldest, age(tx, row.Oldest)),
	}, nil
}

func readReuse(ctx context.Context, tx *db.Tx) ([]prometheus.Metric, error) {
	off, err := reuse.Off(ctx, tx)
	return []prometheus.Metric{gauge(reuseOff, float64(len(off)))}, err
}

func readWorkers(ctx context.Context, tx *db.Tx) (found []prometheus.Metric, err error) {
	counts, err := dispatch.CountOnline(ctx, tx)
	for state, n := range counts {
		found = append(found, gauge(workersOnline, float64(n), string(state)))
	}
	return found, err
}

// liveStates are those of the query MetricsJobs.
var liveStates = []job.Status{job.AwaitingSubmit, job.Queued, job.Rendering, job.Packaging}

func readJobs(ctx context.Context, tx *db.Tx) (found []prometheus.Metric, err error) {
	rows, err := tx.MetricsJobs(ctx)
	if err != nil {
		return nil, fmt.Errorf("count jobs: %w", err)
	}
	counts, oldest := map[job.Status]int64{}, int64(0)
	for _, r := range rows {
		counts[job.Status(r.Status)] = r.Jobs
		if oldest == 0 || r.Oldest < oldest {
			oldest = r.Oldest
		}
	}
	for _, state := range liveStates {
		found = append(found, gauge(jobsLive, float64(counts[state]), string(state)))
	}
	stranded, _, err := dispatch.CountStranded(ctx, tx)
	return append(found, gauge(reservedOldest, age(tx, oldest)), gauge(jobsStranded, float64(stranded))), err
}

func readProcesses(ctx context.Context, tx *db.Tx) (found []prometheus.Metric, err error) {
	all, err := process.List(ctx, tx)
	type kind struct{ version, schema string }
	counts := map[kind]int{}
	for _, p := range all {
		if p.Alive {
			counts[kind{p.Version, strconv.FormatInt(p.Schema, 10)}]++
		}
	}
	for k, n := range counts {
		found = append(found, gauge(processesAlive, float64(n), k.version, k.schema))
	}
	return found, err
}

func readMoney(ctx context.Context, tx *db.Tx) ([]prometheus.Metric, error) {
	row, err := tx.MetricsWallets(ctx)
	if err != nil {
		return nil, fmt.Errorf("add up wallets: %w", err)
	}
	return []prometheus.Metric{gauge(ledgerCents, float64(row.Available), "available"), gauge(ledgerCents, float64(row.Reserved), "reserved"), gauge(ledgerCents, float64(row.Owed), "owed")}, nil
}

func readWebhooks(ctx context.Context, tx *db.Tx) ([]prometheus.Metric, error) {
	row, err := tx.MetricsWebhooks(ctx)
	if err != nil {
		return nil, fmt.Errorf("count webhooks: %w", err)
	}
	dead, err := tx.DeadLetterCount(ctx)
	if err != nil {
		return nil, fmt.Errorf("count dead letters: %w", err)
	}
	return []prometheus.Metric{
		gauge(webhooksPending, float64(row.Pending)), gauge(webhooksLate, age(tx, row.Due)), gauge(deadLetters, float64(dead)),
	}, nil
}

func readAudit(ctx context.Context, tx *db.Tx) ([]prometheus.Metric, error) {
	last, err := tx.AuditRunLast(ctx) // the zero row where there is none
	if err != nil && !db.IsNotFound(err) {
		return nil, fmt.Errorf("read the last audit: %w", err)
	}
	return []prometheus.Metric{gauge(auditBreaches, float64(last.Breaches)), gauge(auditEnd, float64(last.EndedAt)/1e6)}, nil
}

func (c Config) readKey(ctx context.Context, tx *db.Tx) ([]prometheus.Metric, error) {
	end, found, err := c.Keys.Until(ctx, tx)
	if err != nil {
		return nil, err
	}
	if !found {
		end = time.Unix(0, 0)
	}
	return []prometheus.Metric{gauge(keyEnd, timestamp(end))}, nil
}

// gauge is one value of a figure.
func gauge(of *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(of, prometheus.GaugeValue, value, labels...)
}

// truth is 1 or 0.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// age is how long ago a time was, in seconds; 0 for no time and for one to come. since is in
// microseconds.
func age(tx *db.Tx, since int64) float64 {
	if since == 0 {
		return 0
	}
	return max(float64(tx.Now-since)/1e6, 0)
}

// timestamp is a time in seconds since 1970, +Inf for the zero time, which never comes.
func timestamp(t time.Time) float64 {
	if t.IsZero() {
		return math.Inf(1)
	}
	return float64(t.UnixMicro()) / 1e6
}
